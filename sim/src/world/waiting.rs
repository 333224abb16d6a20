//! Who waits for what in a world that comes to no end.

use std::fmt;

use windtunnel_core::env::Waits;

use crate::host::Hosts;

/// The scenario, among the tasks, which are numbered from 1.
pub(crate) const SCENARIO: u64 = 0;

/// How many lines are told.
const LINES_MAX: usize = 20;

/// Who waited for what when a world came to no end: deadlocks first, then other waits, tasks that wait for nothing the world
/// knows of, and what is wrong with hosts.
///
/// The world knows of sockets, tasks, calls of tools with their locks, caps and reviewers, models, and of what is named
/// with `Env::waiting` and `Env::resource`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    lines: Vec<String>,
}

impl Waiting {
    /// What there is to say now. Some may wait for time, if it was time that ran out.
    pub(super) fn now(waits: &Waits, hosts: &Hosts, has_timers: bool) -> Self {
        let graph = waits.graph();
        let tasks = hosts.tasks().list();
        let name = |number: u64| match tasks.get(&number) {
            Some((_, label)) => label.of_task(number),
            None if number == SCENARIO => "the scenario".to_owned(),
            None => format!("task {number}"),
        };
        let known = graph.tasks();
        let mut lines = graph.lines(name);
        let unknown = if has_timers { "waits for a time, or for nothing" } else { "waits, for nothing" };
        let others = std::iter::once(SCENARIO).chain(tasks.keys().copied()).filter(|task| !known.contains(task));
        lines.extend(others.map(|task| format!("{} {unknown} the world knows of", name(task))));
        lines.extend(hosts.ailments());
        Self { lines }
    }

    /// All lines, however many.
    pub fn lines(&self) -> &[String] {
        &self.lines
    }
}

impl fmt::Display for Waiting {
    /// Each line after a line break and two blanks, twenty of them at most.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in self.lines.iter().take(LINES_MAX) {
            write!(formatter, "\n  {line}")?;
        }
        match self.lines.len().saturating_sub(LINES_MAX) {
            0 => Ok(()),
            more => write!(formatter, "\n  and {more} more"),
        }
    }
}
