//! Which CPU the sender and the receiver get.

use thiserror::Error;

/// The CPUs of both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Placement {
    /// The sender's.
    pub sender: u32,
    /// The receiver's.
    pub receiver: u32,
}

/// A CPU that cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "{parameter} = {cpu} cannot be had: this process may use CPU {allowed}; choose one of them"
)]
pub(super) struct PlacementError {
    parameter: &'static str,
    cpu: u32,
    allowed: String,
}

impl Placement {
    /// What is asked for, else CPU 0 for the sender and CPU 1 for the receiver, else the first
    /// two that there are, else the only one for both.
    ///
    /// # Errors
    /// When a CPU that is asked for is not among those that may be had.
    pub(super) fn choose(
        sender: Option<u32>,
        receiver: Option<u32>,
        allowed: &[u32],
    ) -> Result<Self, PlacementError> {
        let asked = |parameter, cpu: Option<u32>| match cpu {
            Some(cpu) if !allowed.contains(&cpu) => Err(PlacementError {
                parameter,
                cpu,
                allowed: allowed
                    .iter()
                    .map(u32::to_string)
                    .collect::<Vec<_>>()
                    .join(","),
            }),
            other => Ok(other),
        };
        let (sender, receiver) = (
            asked("sender_cpu", sender)?,
            asked("receiver_cpu", receiver)?,
        );
        let preferred = |preferred: u32, other: Option<u32>| {
            let free = |cpu: &u32| Some(*cpu) != other;
            allowed
                .iter()
                .copied()
                .filter(free)
                .find(|&cpu| cpu == preferred)
                .or_else(|| allowed.iter().copied().find(free))
                .or(other)
                .unwrap_or(0)
        };
        let sender = sender.unwrap_or_else(|| preferred(0, receiver));
        let receiver = receiver.unwrap_or_else(|| preferred(1, Some(sender)));
        Ok(Self { sender, receiver })
    }

    /// Whether both ends have one CPU between them.
    pub(super) fn is_shared(self) -> bool {
        self.sender == self.receiver
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(sender: Option<u32>, receiver: Option<u32>, allowed: &[u32]) -> (u32, u32) {
        let placement = Placement::choose(sender, receiver, allowed).unwrap();
        (placement.sender, placement.receiver)
    }

    #[test]
    fn the_first_two_cpus_unless_told_otherwise() {
        assert_eq!(choose(None, None, &[0, 1, 2, 3]), (0, 1));
        assert_eq!(choose(None, None, &[4, 5]), (4, 5));
        assert_eq!(choose(Some(1), None, &[0, 1]), (1, 0));
        assert_eq!(choose(None, Some(0), &[0, 1]), (1, 0));
        assert_eq!(choose(Some(1), Some(1), &[0, 1]), (1, 1));
    }

    #[test]
    fn one_cpu_is_shared() {
        assert_eq!(choose(None, None, &[3]), (3, 3));
        assert!(Placement::choose(None, None, &[0]).unwrap().is_shared());
    }

    #[test]
    fn a_cpu_that_is_not_there_is_refused_by_name() {
        let error = Placement::choose(None, Some(7), &[0, 1]).unwrap_err();
        assert!(error.to_string().starts_with("receiver_cpu = 7"), "{error}");
    }
}
