//! Calls that may repeat one another, for guards.

use serde_json::{Value, json};

use super::Policies;

/// One call of a sequence or batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallCase {
    /// The call's id. Ids come from a small pool, so that calls repeat.
    pub id: String,
    /// The tool's name.
    pub tool: String,
    /// The arguments.
    pub arguments: ArgumentsCase,
}

impl CallCase {
    /// Whether the other call is the same one (E7): the same id, tool and arguments.
    pub fn is_repeat_of(&self, other: &Self) -> bool {
        self.id == other.id && self.tool == other.tool && self.arguments.is_same(&other.arguments)
    }
}

/// Arguments with a known identity, in one of several spellings.
///
/// ```
/// use windtunnel_proptests::cases::ArgumentsCase;
///
/// let plain = ArgumentsCase { number: 1, is_float: false, is_reordered: false };
/// // The order of members makes no difference, the kind of a number does.
/// assert!(plain.is_same(&ArgumentsCase { is_reordered: true, ..plain }));
/// assert!(!plain.is_same(&ArgumentsCase { is_float: true, ..plain }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArgumentsCase {
    /// The value that tells arguments apart.
    pub number: u8,
    /// Whether the number is written as `1.0` instead of `1`.
    pub is_float: bool,
    /// Whether the members come in the other order.
    pub is_reordered: bool,
}

impl ArgumentsCase {
    /// Whether both stand for the same arguments.
    pub fn is_same(&self, other: &Self) -> bool {
        self.number == other.number && self.is_float == other.is_float
    }

    /// The arguments as JSON.
    pub fn to_json(self) -> Value {
        let number = if self.is_float { json!(f64::from(self.number)) } else { json!(self.number) };
        if self.is_reordered {
            json!({"note": "same", "number": number})
        } else {
            json!({"number": number, "note": "same"})
        }
    }
}

/// Calls of one run, and the guards that they must pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardCase {
    /// How many calls the run may make.
    pub calls_max: Option<u64>,
    /// The tools. Only `once_per_run` matters.
    pub policies: Policies,
    /// The calls, in order.
    pub calls: Vec<CallCase>,
}
