//! The step of a clock, from its readings.

/// Steps that are looked at: enough for one that nothing came into, few enough for 4 ms each.
const STEPS: u32 = 25;

/// The smallest difference between two readings that differ; `None` when the clock was not seen to
/// move while `time_left` says that there is time.
pub(super) fn smallest_step(
    mut now: impl FnMut() -> u64,
    mut time_left: impl FnMut() -> bool,
) -> Option<u64> {
    let (mut last, mut smallest, mut steps) = (now(), None, 0);
    while steps < STEPS && time_left() {
        let next = now();
        if next > last {
            let step = next - last;
            smallest = Some(smallest.map_or(step, |smallest: u64| smallest.min(step)));
        }
        if next != last {
            steps += 1;
            last = next;
        }
    }
    smallest
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Time passes by so much with each reading, and is shown in whole steps.
    fn step_of(passes: u64, shown: u64, readings: u64) -> Option<u64> {
        let (mut time, mut left) = (1_000, readings);
        smallest_step(
            || {
                time += passes;
                time / shown * shown
            },
            || {
                left = left.saturating_sub(1);
                left > 0
            },
        )
    }

    #[test]
    fn a_coarse_clock_has_its_tick_and_a_fine_one_its_reading() {
        assert_eq!(step_of(30, 4_000_000, 10_000_000), Some(4_000_000));
        assert_eq!(step_of(30, 1, 1_000), Some(30));
        assert_eq!(step_of(0, 1, 1_000), None);
        assert_eq!(step_of(30, 1 << 40, 1_000), None);
    }

    #[test]
    fn a_step_back_is_no_step() {
        let mut readings = [100, 90, 140, 160, 150].into_iter().cycle().take(40);
        let mut left = 40;
        let step = smallest_step(
            || readings.next().unwrap_or(150),
            || {
                left -= 1;
                left > 0
            },
        );
        assert_eq!(step, Some(20));
    }
}
