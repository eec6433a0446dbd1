# Makes py.csv with SciPy: ratio intervals by inverting their tests with a root finder, effect sizes,
# order statistics. Run in this folder: python3 reference.py > py.csv
import numpy as np
from scipy import optimize, special, stats


def row(name, *values):
    for i, value in enumerate(values):
        print("%s.%d,%.17g" % (name, i + 1, value))


a = np.array([10.0, 11.0, 9.0, 10.5, 9.5, 12.0])
b = np.array([20.0, 21.5, 18.5, 21.0, 19.0])
c = np.array([20.0, 21.5, 18.5, 21.0, 19.0, 22.0])

# Fieller, independent: the ratios r at which |mean(b) - r mean(a)| = t se, df at the estimate.
va, vb = a.var(ddof=1) / len(a), b.var(ddof=1) / len(b)
ratio = b.mean() / a.mean()
s = ratio ** 2 * va
df = (vb + s) ** 2 / (vb ** 2 / (len(b) - 1) + s ** 2 / (len(a) - 1))
t = stats.t.isf(0.025, df)
f = lambda r: (b.mean() - r * a.mean()) ** 2 - t * t * (vb + r * r * va)
row("fieller", ratio, optimize.brentq(f, 1, ratio, xtol=1e-15), optimize.brentq(f, ratio, 4, xtol=1e-15), df)
# Fieller, paired: the ratios at which the paired t test of c - r a just rejects.
t = stats.t.isf(0.025, len(a) - 1)
g = lambda r: abs(stats.ttest_1samp(c - r * a, 0).statistic) - t
ratio = c.mean() / a.mean()
row("fieller_paired", ratio, optimize.brentq(g, 1, ratio, xtol=1e-15), optimize.brentq(g, ratio, 4, xtol=1e-15))
# Logarithms.
w = stats.ttest_ind(np.log(b), np.log(a), equal_var=False)
i = w.confidence_interval()
row("log_ratio", np.exp(np.log(b).mean() - np.log(a).mean()), np.exp(i.low), np.exp(i.high), w.df)
# The exact factor of Hedges for 14 degrees of freedom.
row("hedges", np.exp(special.gammaln(7) - special.gammaln(6.5)) / np.sqrt(7))
# Order statistics of the 90 % quantile of 100 values: ranks and coverage.
ranks = [r for r in range(1, 101)]
low = max(r for r in ranks if stats.binom.cdf(r - 1, 100, 0.9) <= 0.025)
high = min(r for r in ranks if stats.binom.sf(r - 1, 100, 0.9) <= 0.025)
row("quantile_interval", low, high, stats.binom.cdf(high - 1, 100, 0.9) - stats.binom.cdf(low - 1, 100, 0.9))
# Mann-Kendall by hand from the signs of all pairs, with ties; Sen's slope.
x = np.array([3.0, 1.0, 4.0, 4.0, 5.0, 2.0, 6.0, 6.0, 7.0, 5.0])
n = len(x)
pairs = [(x[j] - x[i], j - i) for i in range(n) for j in range(i + 1, n)]
S = sum(np.sign(d) for d, _ in pairs)
ties = np.unique(x, return_counts=True)[1]
var = (n * (n - 1) * (2 * n + 5) - sum(t * (t - 1) * (2 * t + 5) for t in ties)) / 18
row("trend", S, 2 * stats.norm.sf((abs(S) - 1) / np.sqrt(var)), np.median([d / k for d, k in pairs]))
# A bias-corrected and accelerated interval, by a million resamples; good to three digits.
v = np.array([3.0, 5.0, 9.0, 17.0, 33.0, 65.0, 4.0, 8.0])
r = stats.bootstrap((v,), np.mean, n_resamples=1000000, batch=1000, rng=np.random.default_rng(1), method="BCa")
row("bca", r.confidence_interval.low, r.confidence_interval.high)
