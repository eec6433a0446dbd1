//! A closed interval of numbers.

/// All numbers from `low` to `high`, both included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// The interval that reaches `half_width` to both sides of `centre`.
    pub fn around(centre: f64, half_width: f64) -> Self {
        Self {
            low: centre - half_width,
            high: centre + half_width,
        }
    }

    /// Whether `value` lies in the interval, its ends included.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Whether the whole interval lies strictly between `-margin` and `margin`.
    pub fn lies_within(&self, margin: f64) -> bool {
        -margin < self.low && self.high < margin
    }

    /// The distance of the ends.
    pub fn width(&self) -> f64 {
        self.high - self.low
    }

    /// Half the distance of the ends.
    pub fn half_width(&self) -> f64 {
        self.width() / 2.0
    }

    /// The interval scaled by `factor`, its ends kept in order.
    pub fn scaled(&self, factor: f64) -> Self {
        let (a, b) = (self.low * factor, self.high * factor);
        Self {
            low: a.min(b),
            high: a.max(b),
        }
    }
}
