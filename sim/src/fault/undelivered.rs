//! What was planned and did not come.

use std::fmt;

use super::Fault;

/// A planned fault that did not come.
#[derive(Clone, Debug, PartialEq)]
pub struct UndeliveredFault {
    /// Its place in the plan, from 0.
    pub index: usize,
    /// The fault.
    pub fault: Fault,
    /// Why it did not come.
    pub why: Undelivered,
}

/// Why a planned fault did not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undelivered {
    /// Its event did not.
    NoEvent {
        /// How many events matched before the world was healed, or ended.
        seen: u64,
    },
    /// There was nothing for it to act on.
    NothingToActOn,
    /// No tool, model or journal that takes faults came after its event, or none whose answer it could damage.
    NobodyTookIt,
    /// Its event came of a fault that came of a fault, and so on: more of them than can come of each other.
    TooDeep,
}

impl fmt::Display for Undelivered {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoEvent { seen: 0 } => formatter.write_str("no such event came"),
            Self::NoEvent { seen } => write!(formatter, "only {seen} such events came"),
            Self::NothingToActOn => formatter.write_str("there was nothing to act on"),
            Self::NobodyTookIt => formatter.write_str("nobody took it"),
            Self::TooDeep => formatter.write_str("too many faults came of each other before it"),
        }
    }
}

impl fmt::Display for UndeliveredFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let action = serde_json::to_string(&self.fault.action).unwrap_or_default();
        let when = serde_json::to_string(&self.fault.when).unwrap_or_default();
        write!(formatter, "{action} when {when} did not come: {}", self.why)
    }
}
