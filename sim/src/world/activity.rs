//! What went on in a world that came to no end.

use std::collections::BTreeMap;
use std::fmt;

use windtunnel_core::event::Event;

use super::waiting::SCENARIO;
use crate::host::Hosts;

/// How many of the last events are looked at: what repeats itself does so there.
const EVENTS_MAX: usize = 10_000;

/// How many tasks and kinds of event are told.
const TOLD_MAX: usize = 3;

/// What kept a world going that came to no end: who went on most often, and which events were the most frequent of the last
/// ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// The scenario and tasks, each with how often it went on; the busiest first.
    pub turns: Vec<(String, u64)>,
    /// The last events by name and host, with how many they are; the most frequent first.
    pub events: Vec<(String, u64)>,
}

impl Activity {
    /// What there is to say now.
    pub(super) fn now(hosts: &Hosts) -> Self {
        let of_task = |(number, label, turns): (u64, Option<_>, u64)| match label {
            None if number == SCENARIO => ("the scenario".to_owned(), turns),
            None => (format!("task {number}"), turns),
            Some(label) => (crate::schedule::Label::of_task(&label, number), turns),
        };
        let turns = hosts.tasks().turns().into_iter().map(of_task).collect();
        let events = hosts.parts().trace.log().events();
        Self { turns: most(turns), events: most(by_kind(&events[events.len().saturating_sub(EVENTS_MAX)..])) }
    }
}

/// How many events there are of each name, on each host.
fn by_kind(events: &[Event]) -> Vec<(String, u64)> {
    let mut counts = BTreeMap::<_, u64>::new();
    for event in events {
        *counts.entry((event.kind.name(), event.host.as_deref())).or_default() += 1;
    }
    let told = |(name, host): (&str, Option<&str>)| match host {
        Some(host) => format!("{name} on {host}"),
        None => name.to_owned(),
    };
    counts.into_iter().map(|(kind, count)| (told(kind), count)).collect()
}

/// The most frequent ones, in their order where there are as many. What came once keeps nothing going.
fn most(mut counts: Vec<(String, u64)>) -> Vec<(String, u64)> {
    counts.retain(|(_, count)| *count > 1);
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts.truncate(TOLD_MAX);
    counts
}

impl fmt::Display for Activity {
    /// Each line after a line break and two blanks.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (what, counts) in [("went on most often", &self.turns), ("most frequent of the last events", &self.events)]
        {
            let told: Vec<_> = counts.iter().map(|(name, count)| format!("{name} ({count} times)")).collect();
            if !told.is_empty() {
                write!(formatter, "\n  {what}: {}", told.join(", "))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_frequent_are_told_in_a_steady_order() {
        let counts = [("a", 1), ("b", 5), ("c", 1), ("d", 9)].map(|(name, count)| (name.to_owned(), count));
        let activity = Activity { turns: most(counts.to_vec()), events: Vec::new() };
        assert_eq!(activity.to_string(), "\n  went on most often: d (9 times), b (5 times)");
        assert_eq!(Activity::default().to_string(), "");
    }
}
