//! Whose rights a workload has.

use knobstat_sys::user::{self, User};

use crate::launch::Identity;

/// The user whose rights the process takes; `None`: it keeps the harness's.
///
/// # Errors
/// In words: there is no such user, or taking another's rights needs root's.
pub(super) fn resolve(
    identity: &Identity,
    invoking: Option<&User>,
) -> Result<Option<User>, String> {
    match identity {
        Identity::Harness => Ok(None),
        Identity::Invoking => Ok(invoking.cloned()),
        Identity::Named(name) => {
            let user = user::named(name).map_err(|error| error.to_string())?;
            if user::is_root() {
                return Ok(Some(user));
            }
            let own = user::own_uid();
            if user.credentials.uid == own {
                // Nothing to take; and the groups of this session are the user's own choice.
                return Ok(None);
            }
            Err(format!("running as {name} needs root's rights"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_work_keeps_the_harnesss_rights_and_others_the_callers() {
        let root = user::named("root").unwrap();
        assert_eq!(resolve(&Identity::Harness, Some(&root)), Ok(None));
        assert_eq!(resolve(&Identity::Invoking, None), Ok(None));
        assert_eq!(
            resolve(&Identity::Invoking, Some(&root)),
            Ok(Some(root.clone()))
        );
    }

    #[test]
    fn nobody_of_that_name_is_an_error() {
        let named = Identity::Named("no-such-user-here".to_owned());
        assert!(
            resolve(&named, None)
                .unwrap_err()
                .contains("no-such-user-here")
        );
    }
}
