//! Newton's method inside a bracket, for quantiles on the positive half-line.

/// What a quantile search needs at one place: a probability and its density.
pub(super) struct Point {
    pub(super) probability: f64,
    pub(super) density: f64,
}

/// A distribution over the positive numbers, as its functions.
pub(super) struct Curves<D> {
    pub(super) of: D,
    pub(super) cdf: fn(D, f64) -> f64,
    pub(super) survival: fn(D, f64) -> f64,
    pub(super) density: fn(D, f64) -> f64,
}

impl<D: Copy> Curves<D> {
    /// The value below which (`rising`) or above which a share of `p` lies, searched from `start`.
    pub(super) fn quantile(&self, p: f64, start: f64, rising: bool) -> f64 {
        // The side on which the probability is small has the digits.
        let (p, rising) = if p > 0.5 {
            (1.0 - p, !rising)
        } else {
            (p, rising)
        };
        let probability = if rising { self.cdf } else { self.survival };
        positive_quantile(p, start, rising, |x| Point {
            probability: probability(self.of, x),
            density: (self.density)(self.of, x),
        })
    }
}

/// The x > 0 at which a monotone probability reaches `target`.
///
/// `rising` says whether the probability grows with x (a distribution function) or falls (a
/// survival function). The search runs on `ln probability` against `ln x`, in which power-law
/// tails are straight lines. Places beyond the smallest or the largest double are given as that double.
pub(super) fn positive_quantile(
    target: f64,
    start: f64,
    rising: bool,
    at: impl Fn(f64) -> Point,
) -> f64 {
    for end in [f64::MIN_POSITIVE, f64::MAX] {
        let beyond = at(end).probability < target;
        if beyond == (rising == (end == f64::MAX)) {
            return end;
        }
    }
    let log_target = libm::log(target);
    let (mut low, mut high) = (libm::log(f64::MIN_POSITIVE), libm::log(f64::MAX));
    let mut place = libm::log(start).clamp(low, high);
    for _ in 0..400 {
        let x = libm::exp(place);
        let point = at(x);
        let error = libm::log(point.probability) - log_target;
        if error == 0.0 {
            return x;
        }
        if (error > 0.0) == rising {
            high = place;
        } else {
            low = place;
        }
        let slope = x * point.density / point.probability * if rising { 1.0 } else { -1.0 };
        let newton = place - error / slope;
        // A step that leaves the bracket, or that a vanishing density made meaningless, is
        // replaced by a short one; far steps are shortened, since the far tail is curved.
        let middle = low + (high - low) / 2.0;
        let next = if newton.is_finite() && newton > low && newton < high {
            newton.clamp(place - 4.0, place + 4.0)
        } else if place == high {
            (place - 2.0).max(middle)
        } else {
            (place + 2.0).min(middle)
        };
        if (next - place).abs() <= 1e-16 * (1.0 + place.abs()) {
            // One last correction that is not quantised by the logarithm.
            let corrected = x * (1.0 + (next - place));
            return if corrected.is_finite() {
                corrected
            } else {
                f64::MAX
            };
        }
        place = next;
    }
    libm::exp(place)
}

/// The x at which a function that rises through zero does so, sought outwards from `start` in
/// growing steps and then by the method of Ridders (1979) to the last digits.
pub(super) fn increasing_quantile(start: f64, step: f64, f: impl Fn(f64) -> f64) -> f64 {
    let at_start = f(start);
    if at_start == 0.0 {
        return start;
    }
    let direction = if at_start < 0.0 { 1.0 } else { -1.0 };
    let (mut near, mut at_near) = (start, at_start);
    let mut reach = step;
    let (mut far, mut at_far);
    loop {
        far = start + direction * reach;
        at_far = f(far);
        if at_far == 0.0 {
            return far;
        }
        if (at_far < 0.0) != (at_start < 0.0) {
            break;
        }
        if reach > 1e300 {
            return far;
        }
        (near, at_near) = (far, at_far);
        reach *= 2.0;
    }
    for _ in 0..200 {
        let middle = near + (far - near) / 2.0;
        let at_middle = f(middle);
        let root = libm::sqrt(at_middle * at_middle - at_near * at_far);
        if at_middle == 0.0 || root == 0.0 {
            return middle;
        }
        let sign = if at_near > at_far { 1.0 } else { -1.0 };
        let next = middle + (middle - near) * sign * at_middle / root;
        let at_next = f(next);
        if at_next == 0.0 {
            return next;
        }
        if (at_middle < 0.0) != (at_next < 0.0) {
            (near, at_near, far, at_far) = (middle, at_middle, next, at_next);
        } else if (at_near < 0.0) != (at_next < 0.0) {
            (far, at_far) = (next, at_next);
        } else {
            (near, at_near) = (next, at_next);
        }
        if (far - near).abs() <= 4.0 * f64::EPSILON * near.abs().max(far.abs()) {
            return next;
        }
    }
    near + (far - near) / 2.0
}
