//! How much later than asked the kernel may end a sleep of the calling thread, so that it can
//! end several together: PR_SET_TIMERSLACK, prctl(2). Real-time policies have none.

use std::io;
use std::num::NonZeroU64;
use std::time::Duration;

/// The slack of the calling thread.
///
/// # Errors
/// Where the kernel has no such thing.
pub fn timer_slack() -> io::Result<Duration> {
    Ok(Duration::from_nanos(rustix::thread::current_timer_slack()?))
}

/// Sets the slack of the calling thread: at least a nanosecond.
///
/// # Errors
/// Where the kernel refuses it.
pub fn set_timer_slack(slack: Duration) -> io::Result<()> {
    let nanoseconds = u64::try_from(slack.as_nanos()).unwrap_or(u64::MAX);
    let nanoseconds = NonZeroU64::new(nanoseconds).unwrap_or(NonZeroU64::MIN);
    Ok(rustix::thread::set_current_timer_slack(Some(nanoseconds))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slack_is_what_it_was_set_to() {
        std::thread::spawn(|| {
            for slack in [7_000, 1, 50_000].map(Duration::from_nanos) {
                set_timer_slack(slack).unwrap();
                assert_eq!(timer_slack().unwrap(), slack);
            }
        })
        .join()
        .unwrap();
    }
}
