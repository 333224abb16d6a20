//! Events as rows of numbers and values, which say each name once.

use std::collections::BTreeMap;

use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};
use serde_json::Value;
use windtunnel_core::event::Event;

/// A trace as the page reads it: names of hosts, runs and calls by their place in `strings`, types with the keys of their
/// data by their place in `shapes`, and events as `[sequence, seconds, nanoseconds, host, run, call, parent, shape, …values]`.
/// What is not there is -1.
#[derive(Serialize)]
pub(super) struct TraceRows<'a> {
    strings: Vec<&'a str>,
    shapes: Vec<Vec<String>>,
    events: Vec<Row>,
}

struct Row {
    sequence: u64,
    seconds: u64,
    nanoseconds: u32,
    /// Host, run, call, parent and shape.
    places: [i64; 5],
    values: Vec<Value>,
}

/// Texts with their places, in the order in which they came.
struct Places<T> {
    known: BTreeMap<T, i64>,
    all: Vec<T>,
}

impl<T: Ord + Clone> Places<T> {
    fn new() -> Self {
        Self { known: BTreeMap::new(), all: Vec::new() }
    }

    fn of(&mut self, item: T) -> i64 {
        let next = self.all.len() as i64;
        let place = *self.known.entry(item.clone()).or_insert(next);
        if place == next {
            self.all.push(item);
        }
        place
    }
}

impl<'a> TraceRows<'a> {
    pub(super) fn of(trace: &'a [Event]) -> Self {
        let (mut strings, mut shapes) = (Places::new(), Places::new());
        let mut row = |event: &'a Event| {
            let mut named = |text: Option<&'a str>| text.map_or(-1, |text| strings.of(text));
            let (host, run) = (named(event.host.as_deref()), named(Some(&*event.run_id)));
            let (call, parent) = (named(event.call_id.as_deref()), named(event.parent_id.as_deref()));
            let (mut shape, mut values) = (vec![event.kind.name().to_owned()], Vec::new());
            for (key, value) in event.data() {
                shape.push(key);
                values.push(value);
            }
            Row {
                sequence: event.sequence,
                seconds: event.at.as_secs(),
                nanoseconds: event.at.subsec_nanos(),
                places: [host, run, call, parent, shapes.of(shape)],
                values,
            }
        };
        let events = trace.iter().map(&mut row).collect();
        Self { strings: strings.all, shapes: shapes.all, events }
    }
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut row = serializer.serialize_seq(Some(3 + self.places.len() + self.values.len()))?;
        row.serialize_element(&self.sequence)?;
        row.serialize_element(&self.seconds)?;
        row.serialize_element(&self.nanoseconds)?;
        self.places.iter().try_for_each(|place| row.serialize_element(place))?;
        self.values.iter().try_for_each(|value| row.serialize_element(value))?;
        row.end()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use windtunnel_core::event::EventKind;

    use super::*;

    #[test]
    fn names_are_said_once_and_values_follow_their_shape() {
        let event = |sequence, kind| Event {
            sequence,
            at: Duration::from_millis(1_500),
            host: Some("bank".into()),
            run_id: "world".into(),
            call_id: None,
            parent_id: Some("bank".into()),
            kind,
        };
        let retry = || EventKind::ToolRetry { tool: "pay".into(), attempt: 1, cause: "foreign", delay_s: 0.5 };
        let trace = [event(0, EventKind::HostStarted {}), event(1, retry()), event(2, retry())];
        assert_eq!(
            serde_json::to_string(&TraceRows::of(&trace)).unwrap(),
            r#"{"strings":["bank","world"],"shapes":[["host.started"],["tool.retry","tool","attempt","cause","delay_s"]],"events":[[0,1,500000000,0,1,-1,0,0],[1,1,500000000,0,1,-1,0,1,"pay",1,"foreign",0.5],[2,1,500000000,0,1,-1,0,1,"pay",1,"foreign",0.5]]}"#
        );
    }
}
