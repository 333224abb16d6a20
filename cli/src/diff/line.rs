//! An event that was read as JSON, as one line for people.

use std::time::Duration;

use serde_json::{Map, Value};
use windtunnel_core::event::EventLine;

use crate::printable;

/// The line that a replay prints for the event.
pub(super) fn line(event: &Value) -> String {
    let text = |name: &str| event[name].as_str();
    let none = Map::new();
    let line = EventLine {
        at: Duration::from_nanos(event["at_ns"].as_u64().unwrap_or_default()),
        host: text("host"),
        run_id: text("run_id").unwrap_or_default(),
        call_id: text("call_id"),
        parent_id: text("parent_id"),
        name: text("type").unwrap_or_default(),
        data: event["data"].as_object().unwrap_or(&none),
    };
    printable::line(line.to_string().trim_end()).into_owned()
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
