//! One event: what happened, when and where.

use std::sync::Arc;
use std::time::Duration;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::EventKind;

/// One step of one run.
///
/// Its JSON form is the line format of traces: `sequence`, `at_ns`, `host` where there is one, `run_id`, `call_id` and `parent_id` where there is
/// one, `type`, `data`.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Counts from 0 over all events of one environment, in the order of emission.
    pub sequence: u64,
    /// The environment's monotonic time; nanoseconds as `at_ns` in JSON.
    pub at: Duration,
    /// The simulated host where it happened, if there are hosts.
    pub host: Option<Arc<str>>,
    /// The run.
    pub run_id: Arc<str>,
    /// The call, unless the event is the run's own.
    pub call_id: Option<Arc<str>>,
    /// The enclosing call.
    pub parent_id: Option<Arc<str>>,
    /// What happened.
    pub kind: EventKind,
}

impl Event {
    /// The event's data by name, as in its JSON form.
    ///
    /// ```
    /// use windtunnel_core::event::EventKind;
    /// # use windtunnel_core::event::Event;
    /// # let event = Event {
    /// #     host: None,
    /// #     sequence: 0, at: std::time::Duration::ZERO, run_id: "run-1".into(), call_id: None, parent_id: None,
    /// #     kind: EventKind::ToolRetry { tool: "search".into(), attempt: 1, cause: "foreign", delay_s: 0.5 },
    /// # };
    /// assert_eq!(event.data()["delay_s"], 0.5);
    /// ```
    pub fn data(&self) -> Map<String, Value> {
        match serde_json::to_value(&self.kind) {
            Ok(Value::Object(data)) => data,
            _ => Map::new(),
        }
    }
}

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("sequence", &self.sequence)?;
        map.serialize_entry("at_ns", &u64::try_from(self.at.as_nanos()).unwrap_or(u64::MAX))?;
        if let Some(host) = &self.host {
            map.serialize_entry("host", host)?;
        }
        map.serialize_entry("run_id", &self.run_id)?;
        if let Some(call_id) = &self.call_id {
            map.serialize_entry("call_id", call_id)?;
        }
        if let Some(parent_id) = &self.parent_id {
            map.serialize_entry("parent_id", parent_id)?;
        }
        map.serialize_entry("type", self.kind.name())?;
        map.serialize_entry("data", &self.kind)?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_format_is_stable() {
        let retry = Event {
            host: None,
            sequence: 3,
            at: Duration::from_micros(1_500),
            run_id: "run-1".into(),
            call_id: Some("call-1".into()),
            parent_id: None,
            kind: EventKind::ToolRetry { tool: "search".into(), attempt: 1, cause: "foreign", delay_s: 0.5 },
        };
        assert_eq!(
            serde_json::to_string(&retry).unwrap(),
            r#"{"sequence":3,"at_ns":1500000,"run_id":"run-1","call_id":"call-1","type":"tool.retry","data":{"tool":"search","attempt":1,"cause":"foreign","delay_s":0.5}}"#
        );
        assert_eq!(retry.kind.name(), "tool.retry");
    }
}
