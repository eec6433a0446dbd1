//! What starting a command needs of a machine, so that what is not there is found before any
//! setting is touched.

use serde::{Deserialize, Serialize};

use crate::words::CpuList;

/// A command that is going to be started. Paths are as the experiment file has them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedStart {
    /// The program's name or path.
    pub program: String,
    /// Where it is started; absent: where the harness is.
    pub working_directory: Option<String>,
    /// The search path that it is looked up in, where the file sets one.
    pub path: Option<String>,
    /// The user whose rights it has, where the file names one.
    pub user: Option<String>,
    /// The CPUs that it may run on, where the file says.
    pub cpus: Option<CpuList>,
    /// The file that it reads.
    pub input: Option<String>,
    /// The file that it writes.
    pub output: Option<String>,
    /// Whether steps come before it that may make files: what has a path in the working directory
    /// need not be there at the beginning.
    pub follows_steps: bool,
}
