//! Where two traces differ, as one JSON object.

use serde_json::{Value, json};
use windtunnel_fixtures::difference::Difference;

use super::comparison::Comparison;

/// The comparison of the traces called `names`.
pub(super) fn document(comparison: Option<&Comparison<'_>>, names: [&str; 2], events: [usize; 2]) -> Value {
    let mut document = json!({"type": "diff", "a": names[0], "b": names[1], "same": comparison.is_none()});
    document["events"] = json!({"a": events[0], "b": events[1]});
    if let Some(comparison) = comparison {
        let counts = comparison.counts.iter().map(|(name, [a, b])| ((*name).to_owned(), json!({"a": a, "b": b})));
        document["index"] = json!(comparison.index);
        document["before"] = json!(comparison.before);
        document["from_there"] = json!({"a": comparison.first, "b": comparison.second});
        document["differences"] = comparison.differences.iter().map(difference).collect();
        document["counts"] = Value::Object(counts.collect());
    }
    document
}

fn difference(difference: &Difference) -> Value {
    let mut shown = json!({"path": difference.path.to_string()});
    // A side that has nothing is left out: null is a value.
    for (side, value) in [("a", &difference.expected), ("b", &difference.found)] {
        if let Some(value) = value {
            shown[side] = value.clone();
        }
    }
    shown
}
