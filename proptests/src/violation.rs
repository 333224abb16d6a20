//! A broken rule.

use std::fmt;

/// A rule that does not hold, with what was seen instead.
///
/// It is an error, so that `?` fails a property test with its text.
///
/// ```
/// use windtunnel_proptests::Violation;
///
/// let violation = Violation::new("E3", "tool \"search\" made 4 attempts of 3");
/// assert_eq!(violation.to_string(), "E3 is broken: tool \"search\" made 4 attempts of 3");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{rule} is broken: {message}")]
pub struct Violation {
    /// The rule, such as `E3`.
    pub rule: &'static str,
    /// What was seen.
    pub message: String,
}

impl Violation {
    /// A violation of `rule`.
    pub fn new(rule: &'static str, message: impl Into<String>) -> Self {
        Self { rule, message: message.into() }
    }
}

/// Nothing if `holds`, else a violation of `rule` that says what was seen.
pub(crate) fn require<M: fmt::Display>(
    holds: bool,
    rule: &'static str,
    message: impl FnOnce() -> M,
) -> Result<(), Violation> {
    if holds { Ok(()) } else { Err(Violation::new(rule, message().to_string())) }
}
