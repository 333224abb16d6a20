//! An event that was read as JSON, as one line for people.

use std::fmt::Write;

use serde_json::Value;

use crate::printable;

/// The line that a replay prints for the event.
pub(super) fn line(event: &Value) -> String {
    let text = |name: &str| event[name].as_str().unwrap_or_default();
    let nanos = event["at_ns"].as_u64().unwrap_or_default();
    let time = format!("{}.{:09}", nanos / 1_000_000_000, nanos % 1_000_000_000);
    let host = event["host"].as_str().map(|host| format!("{host}:")).unwrap_or_default();
    let call = event["call_id"].as_str().map(|call| format!("/{call}")).unwrap_or_default();
    let whose = format!("{host}{}{call}", text("run_id"));
    let mut line = format!("{time:>14}  {whose:<18} {:<21}", text("type"));
    let data = event["data"].as_object().into_iter().flatten().map(|(name, value)| (&**name, value));
    for (name, value) in data.chain(event.get("parent_id").map(|parent| ("parent", parent))) {
        // Writing to a string cannot fail.
        let _infallible = match value.as_str() {
            Some(text) if is_plain(text) => write!(line, " {name}={text}"),
            _ => write!(line, " {name}={value}"),
        };
    }
    printable::line(line.trim_end()).into_owned()
}

fn is_plain(text: &str) -> bool {
    !text.is_empty() && !text.contains(|letter: char| matches!(letter, ' ' | '"' | '=') || letter.is_control())
}

#[cfg(test)]
mod tests {
    use windtunnel_sim::case::{Case, Format};

    use super::*;

    #[test]
    fn an_event_reads_as_a_replay_prints_it() {
        let text = r#"{"tools": [{"name": "a \u001b b", "retries": 1, "script": [{"fail": "busy"}]}], "calls": [{"name": "a \u001b b"}]}"#;
        let run = Case::parse("case", Format::Json, text).unwrap()[0].run(0);
        for event in run.trace() {
            assert_eq!(line(&serde_json::to_value(event).unwrap()), event.to_string());
        }
    }
}
