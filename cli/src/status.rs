//! How the command ends.

use std::process::ExitCode;

/// What the exit code says; the greater of two stands for both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Status {
    /// Every case passed.
    Passed,
    /// A case failed.
    Failed,
    /// The arguments or the files are wrong.
    Misused,
    /// Somebody pressed Ctrl-C.
    Interrupted,
    /// A server that was run ended with this code, which is not 0.
    Server(u8),
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(match status {
            Status::Passed => 0,
            Status::Failed => 1,
            Status::Misused => 2,
            Status::Interrupted => 130,
            Status::Server(code) => code,
        })
    }
}
