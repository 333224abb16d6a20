//! Events as lines of JSON.

use windtunnel_core::event::Event;

/// Each event as a JSON object on a line of its own: the text whose digest is the trace's.
pub fn json_lines(events: &[Event]) -> String {
    let mut lines = Vec::new();
    for event in events {
        // A value with string keys always has a JSON form.
        let _infallible = serde_json::to_writer(&mut lines, event);
        lines.push(b'\n');
    }
    String::from_utf8(lines).unwrap_or_default()
}
