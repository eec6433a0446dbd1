//! Where the harness sits while a run is measured: asleep on the CPUs of the command, so that its
//! only wake-up, when the command ends, wakes no CPU that idled.

use knobstat_data::Priority;
use knobstat_sys::topology;

/// The harness in its place; it goes back to where it was allowed to be before.
pub(super) struct Seat {
    before: Option<Vec<u32>>,
}

impl Seat {
    /// Takes a seat on the CPUs that were told; without them it stays where it is.
    ///
    /// Beneath a real-time command the harness would never be run again before it ends, not even
    /// to end it at its timeout. It then sits on any other CPU.
    pub(super) fn take(cpus: Option<&[u32]>, priority: Option<Priority>) -> Self {
        let (Some(cpus), Ok(before)) = (cpus, topology::affinity()) else {
            return Self { before: None };
        };
        let seats: Vec<u32> = match priority {
            Some(Priority::Fifo(_)) => {
                let others = before.iter().filter(|cpu| !cpus.contains(cpu));
                others.copied().collect()
            }
            Some(Priority::Nice(_)) | None => cpus.to_vec(),
        };
        // CPUs that it may not have are the command's error, which is told better there.
        let sits = !seats.is_empty() && topology::set_affinity(&seats).is_ok();
        Self {
            before: sits.then_some(before),
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // Fails where all of these CPUs went away; then the kernel has moved it already.
            let _ = topology::set_affinity(before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On a thread of its own, whose affinity is nobody else's.
    fn alone(test: impl FnOnce() + Send + 'static) {
        std::thread::spawn(test).join().unwrap();
    }

    #[test]
    fn it_sits_where_the_command_is_and_goes_back() {
        alone(|| {
            let before = topology::affinity().unwrap();
            let last = *before.last().unwrap();
            let seat = Seat::take(Some(&[last]), None);
            assert_eq!(topology::affinity().unwrap(), [last]);
            drop(seat);
            assert_eq!(topology::affinity().unwrap(), before);
        });
    }

    #[test]
    fn it_keeps_away_from_a_real_time_command() {
        alone(|| {
            let before = topology::affinity().unwrap();
            let last = *before.last().unwrap();
            let _seat = Seat::take(Some(&[last]), Some(Priority::Fifo(50)));
            let seats = topology::affinity().unwrap();
            assert_eq!(seats.contains(&last), before.len() == 1, "{seats:?}");
        });
    }

    #[test]
    fn without_a_word_or_with_an_impossible_one_it_stays() {
        alone(|| {
            let before = topology::affinity().unwrap();
            for cpus in [None, Some([1023].as_slice()), Some(&[])] {
                let _seat = Seat::take(cpus, None);
                assert_eq!(topology::affinity().unwrap(), before);
            }
        });
    }
}
