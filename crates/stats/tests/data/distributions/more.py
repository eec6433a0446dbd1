# Makes more.csv: tail areas by 40-digit quadrature (mpmath), independent of the crate's methods.
# Columns as in dist.csv. Run: python3 more.py > more.csv
from mpmath import mp, mpf, quad, quadts, exp, sqrt, pi, gamma, erfc, betainc, gammainc, inf, loggamma, log

mp.dps = 30

def norm_sf(x):
    return erfc(x / sqrt(mpf(2))) / 2

def phi(x):
    return exp(-x * x / 2) / sqrt(2 * pi)

def scale_density(v, s):
    h = mpf(v) / 2
    return exp(log(mpf(2)) + h * log(h) - loggamma(h) + (v - 1) * log(s) - h * s * s)

def over_scale(v, g):
    sd = 1 / sqrt(2 * mpf(v))
    cuts = [mpf(0)] + [c for c in (1 - 12 * sd, 1 - 6 * sd, 1 - 3 * sd) if c > 0] + [
        mpf(1), 1 + 3 * sd, 1 + 6 * sd, 1 + 12 * sd, 1 + 24 * sd]
    return quad(lambda s: scale_density(v, s) * g(s) if s > 0 else mpf(0), cuts)

def nct_sf(v, d, t):
    return over_scale(v, lambda s: norm_sf(t * s - d))

def range_sf(k, q):
    def f(z):
        a = 1 - norm_sf(z)
        b = norm_sf(q - z)
        return k * phi(z) * (a ** (k - 1) - (a - b) ** (k - 1))
    return quad(f, [-12, -6, -3, 0, 3, 6, 12, 20])

def dunnett_sf(loadings, c):
    def f(z):
        product = mpf(1)
        for l in loadings:
            r = sqrt(1 - l * l)
            product *= 1 - norm_sf((c + l * z) / r) - norm_sf((c - l * z) / r)
        return phi(z) * (1 - product)
    return 2 * quad(f, [0, 2, 4, 8, 14])

def row(fn, params, x, value):
    print('%s,"%s",%s,%s' % (fn, params, x, mp.nstr(value, 20)))

print("fn,params,x,value")
for v, d, t in [(1, "0.5", 2), (5, "1.5", "2.5"), (7, 3, "2.3646242515927853"), (30, "-1", 1),
                (43, "3.3", "2.0166921941428133"), (200, 10, 2), (1000, 2, "1.9623"), (9, 0, "2.26")]:
    row("nct_sf", "%s;%s" % (v, d), t, nct_sf(v, mpf(d), mpf(t)))
mp.dps = 18
for k, v, q in [(3, 10, "3.877676"), (6, 42, "4.22"), (2, 5, "3"), (6, 42, 12), (10, 4, 2), (20, 100, 5)]:
    row("range_sf", "%s;%s" % (k, v), q, over_scale(v, lambda s: range_sf(k, mpf(q) * s)))
half = sqrt(mpf(1) / 2)
for name, ls, v, c in [("equal5", [half] * 5, 42, "2.6"), ("equal5", [half] * 5, 42, 8), ("equal2", [half] * 2, 4, "3"),
                       ("8;4;6;10", [sqrt(mpf(n) / (n + 8)) for n in (4, 6, 10)], 24, "2.5")]:
    row("dunnett_sf", "%s;%s" % (name, v), c, over_scale(v, lambda s: dunnett_sf(ls, mpf(c) * s)))
mp.dps = 30
for a, b, f in [("0.5", 100000000, "1.5"), (8, 100000000, "1.2"), (3, 7, "0.001"), (1000, 1000, "1.1"), (7, "3.5", 2)]:
    a, b, f = mpf(a), mpf(b), mpf(f)
    x = b / (b + a * f)
    row("f_sf", "%s;%s" % (mp.nstr(a, 17), mp.nstr(b, 17)), mp.nstr(f, 10), betainc(b / 2, a / 2, 0, x, regularized=True))
for v, x in [(100000000, 100030000), (1000, 900), ("0.5", "0.001"), (3, 400)]:
    v, x = mpf(v), mpf(x)
    row("chi2_sf", mp.nstr(v, 17), mp.nstr(x, 17), gammainc(v / 2, x / 2, inf, regularized=True))
