//! An event as one line for people.

use std::fmt;
use std::time::Duration;

use serde_json::{Map, Value};

use super::Event;

/// As wide as the longest name of an event, `activation.reconciled`.
const NAME_WIDTH: usize = 21;

/// What an event's line says, for those who have the event as JSON.
///
/// ```
/// use std::time::Duration;
/// use serde_json::{Map, json};
/// use windtunnel_core::event::EventLine;
///
/// let data = Map::from_iter([("attempt".to_owned(), json!(2))]);
/// let at = Duration::from_millis(500);
/// let line = EventLine { at, host: None, run_id: "run-1", call_id: None, parent_id: None, name: "tool.attempt", data: &data };
/// assert_eq!(line.to_string(), "   0.500000000  run-1              tool.attempt          attempt=2");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct EventLine<'a> {
    /// When.
    pub at: Duration,
    /// On which host.
    pub host: Option<&'a str>,
    /// The run.
    pub run_id: &'a str,
    /// The call.
    pub call_id: Option<&'a str>,
    /// The enclosing call.
    pub parent_id: Option<&'a str>,
    /// The name of its kind.
    pub name: &'a str,
    /// Its data.
    pub data: &'a Map<String, Value>,
}

/// When, whose (after the host's name, where there are hosts), what, and its data, in columns:
/// `0.500000000  run-1/call-1  tool.attempt  tool=search attempt=2`.
impl fmt::Display for Event {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = EventLine {
            at: self.at,
            host: self.host.as_deref(),
            run_id: &self.run_id,
            call_id: self.call_id.as_deref(),
            parent_id: self.parent_id.as_deref(),
            name: self.kind.name(),
            data: &self.data(),
        };
        line.fmt(formatter)
    }
}

impl fmt::Display for EventLine<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = self.host.map(|host| format!("{host}:")).unwrap_or_default();
        let whose = match self.call_id {
            Some(call_id) => format!("{host}{}/{call_id}", self.run_id),
            None => format!("{host}{}", self.run_id),
        };
        // An id may come from a model: it must not break the line.
        let whose = if whose.contains(char::is_control) { whose.escape_debug().to_string() } else { whose };
        let time = format!("{}.{:09}", self.at.as_secs(), self.at.subsec_nanos());
        write!(formatter, "{time:>14}  {whose:<18} {}", self.name)?;
        if !self.data.is_empty() || self.parent_id.is_some() {
            write!(formatter, "{:1$}", "", NAME_WIDTH.saturating_sub(self.name.len()))?;
        }
        for (name, value) in self.data {
            write!(formatter, " {name}={}", Plain(value))?;
        }
        match self.parent_id {
            Some(parent_id) => write!(formatter, " parent={parent_id}"),
            None => Ok(()),
        }
    }
}

/// A value without quotation marks where none are needed.
struct Plain<'a>(&'a Value);

impl fmt::Display for Plain<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::String(text) if !text.is_empty() && !text.contains(needs_quotes) => formatter.write_str(text),
            value => write!(formatter, "{value}"),
        }
    }
}

fn needs_quotes(letter: char) -> bool {
    matches!(letter, ' ' | '"' | '=') || letter.is_control()
}

#[cfg(test)]
mod tests {
    use super::super::EventKind;
    use super::*;

    #[test]
    fn lines_stand_in_columns_and_cannot_be_broken_by_a_name() {
        let event = |call_id: Option<&str>, kind| Event {
            sequence: 3,
            at: Duration::from_micros(1_500),
            host: None,
            run_id: "run-1".into(),
            call_id: call_id.map(Into::into),
            parent_id: call_id.map(|_| "call-9".into()),
            kind,
        };
        let retry = EventKind::ToolRetry { tool: "a \nb".into(), attempt: 1, cause: "foreign", delay_s: 0.5 };
        assert_eq!(
            event(Some("call-1"), retry).to_string(),
            r#"   0.001500000  run-1/call-1       tool.retry            tool="a \nb" attempt=1 cause=foreign delay_s=0.5 parent=call-9"#
        );
        let longest = EventKind::ActivationReconciled { workflow: "w".into(), attempt: 1, status: "decided" };
        assert_eq!(longest.name().len(), NAME_WIDTH);
        assert_eq!(event(None, EventKind::RunStarted {}).to_string(), "   0.001500000  run-1              run.started");
    }
}
