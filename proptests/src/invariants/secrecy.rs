//! Who hears of causes (E5).

use tracing::Level;
use windtunnel_core::event::Event;

use crate::log_capture::LogLine;
use crate::violation::{Violation, require};

/// No event tells the secret, in its JSON form.
///
/// # Errors
/// [`Violation`] for the first event that does.
pub fn events_are_silent_about(secret: &str, events: &[Event]) -> Result<(), Violation> {
    events.iter().try_for_each(|event| {
        let line = serde_json::to_string(event).unwrap_or_default();
        text_is_silent_about(secret, &line)
    })
}

/// Nothing that is logged above DEBUG tells the secret.
///
/// # Errors
/// [`Violation`] for the first line that does.
pub fn logs_are_silent_about(secret: &str, lines: &[LogLine]) -> Result<(), Violation> {
    let above_debug = lines.iter().filter(|line| line.level < Level::DEBUG);
    above_debug.map(|line| &line.text).try_for_each(|text| text_is_silent_about(secret, text))
}

/// A text, such as the one that a model reads, does not tell the secret.
///
/// # Errors
/// [`Violation`] if it does.
pub fn text_is_silent_about(secret: &str, text: &str) -> Result<(), Violation> {
    require(!text.contains(secret), "E5", || format!("a cause is told: {text}"))
}
