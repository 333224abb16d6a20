//! The first difference of two traces.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;
use windtunnel_fixtures::difference::{Difference, differences};

/// Where two traces first differ, and what follows.
#[derive(Debug, PartialEq)]
pub(super) struct Comparison<'a> {
    /// The place of the first event that differs.
    pub(super) index: usize,
    /// The events just before it, of the first trace.
    pub(super) before: &'a [Value],
    /// The first trace from there on; empty if it ends there.
    pub(super) first: &'a [Value],
    /// The second one.
    pub(super) second: &'a [Value],
    /// In what the two events differ, if both traces have one.
    pub(super) differences: Vec<Difference>,
    /// How many events of each type there are from there on, in the first trace and in the second.
    pub(super) counts: BTreeMap<&'a str, [usize; 2]>,
}

/// Compares two traces, without the members in `ignored`; nothing, if they are the same.
pub(super) fn compare<'a>(
    first: &'a [Value],
    second: &'a [Value],
    ignored: &[String],
    context: usize,
) -> Option<Comparison<'a>> {
    let is_same = |index: &usize| without(&first[*index], ignored) == without(&second[*index], ignored);
    let shorter = first.len().min(second.len());
    let index = (0..shorter).find(|index| !is_same(index)).unwrap_or(shorter);
    if index == first.len() && index == second.len() {
        return None;
    }
    let differences = match (first.get(index), second.get(index)) {
        (Some(one), Some(other)) => differences(&without(one, ignored), &without(other, ignored)).collect(),
        _ => Vec::new(),
    };
    let mut counts: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    for (side, events) in [first, second].into_iter().enumerate() {
        for event in &events[index..] {
            counts.entry(event["type"].as_str().unwrap_or_default()).or_default()[side] += 1;
        }
    }
    let from_there = |events: &'a [Value]| &events[index..events.len().min(index.saturating_add(context.max(1)))];
    Some(Comparison {
        index,
        before: &first[index.saturating_sub(context)..index],
        first: from_there(first),
        second: from_there(second),
        differences,
        counts,
    })
}

/// The event without members of it, or of its data, that are not compared.
fn without<'a>(event: &'a Value, ignored: &[String]) -> Cow<'a, Value> {
    if ignored.is_empty() {
        return Cow::Borrowed(event);
    }
    let mut event = event.clone();
    for name in ignored {
        if let Value::Object(members) = &mut event {
            members.shift_remove(name);
        }
        if let Value::Object(data) = &mut event["data"] {
            data.shift_remove(name);
        }
    }
    Cow::Owned(event)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(at_ns: u64, name: &str, attempt: u64) -> Value {
        json!({"at_ns": at_ns, "run_id": "run-1", "type": name, "data": {"attempt": attempt}})
    }

    #[test]
    fn traces_that_are_the_same_do_not_differ() {
        let trace = [event(0, "a", 1), event(1, "b", 1)];
        assert_eq!(compare(&trace, &trace, &[], 3), None);
        assert_eq!(compare(&[], &[], &[], 3), None);
    }

    #[test]
    fn the_first_difference_comes_with_its_context_and_what_follows() {
        let first: Vec<_> = (0..9).map(|at| event(at, "a", 1)).collect();
        let mut second = first.clone();
        second[5] = event(7, "b", 1);
        let comparison = compare(&first, &second, &[], 2).unwrap();
        assert_eq!((comparison.index, comparison.before), (5, &first[3..5]));
        assert_eq!((comparison.first, comparison.second), (&first[5..7], &second[5..7]));
        let differences: Vec<_> = comparison.differences.iter().map(ToString::to_string).collect();
        assert_eq!(differences, ["$.at_ns: expected 5, found 7", "$.type: expected \"a\", found \"b\""]);
        assert_eq!(comparison.counts, BTreeMap::from([("a", [4, 3]), ("b", [0, 1])]));
    }

    #[test]
    fn a_trace_that_ends_first_differs_there() {
        let trace = [event(0, "a", 1), event(1, "b", 1)];
        let comparison = compare(&trace[..1], &trace, &[], 3).unwrap();
        assert_eq!((comparison.index, comparison.first.len(), comparison.second.len()), (1, 0, 1));
        assert!(comparison.differences.is_empty());
    }

    #[test]
    fn members_that_are_ignored_are_no_difference() {
        let (one, other) = ([event(0, "a", 1)], [event(9, "a", 2)]);
        let ignored = ["at_ns".to_owned(), "attempt".to_owned()];
        assert_eq!(compare(&one, &other, &ignored, 3), None);
        let comparison = compare(&one, &other, &ignored[..1], 0).unwrap();
        assert_eq!(comparison.differences[0].to_string(), "$.data.attempt: expected 1, found 2");
        assert_eq!(comparison.first.len(), 1);
    }
}
