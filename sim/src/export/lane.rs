//! Lanes on which stretches of time stand inside each other, or one after the other.

use std::collections::BTreeMap;
use std::time::Duration;

use windtunnel_core::event::Event;

use super::span::Span;

/// A process of a trace viewer, and a thread in it. No number stands for two of them, process or thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Lane {
    pub(super) process: usize,
    pub(super) thread: usize,
}

/// What viewers call the lanes: a process for each host, and in it a thread for each call, each run, the network and the
/// disk. What is at once and not inside each other gets one thread more.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    /// In the order in which they came up.
    pub(super) processes: Vec<Process>,
    places: BTreeMap<Option<String>, usize>,
    /// How many numbers are taken.
    numbers: usize,
}

#[derive(Debug)]
pub(super) struct Process {
    pub(super) number: usize,
    pub(super) name: String,
    /// Their numbers and names, in the order in which they came up.
    pub(super) threads: Vec<(usize, String)>,
    /// For each name: its threads, each with the ends of what is open on it.
    rows: BTreeMap<String, Vec<Row>>,
}

#[derive(Debug)]
struct Row {
    thread: usize,
    open: Vec<Duration>,
}

impl Lanes {
    /// The lane of a span; they come in the order of their beginnings.
    pub(super) fn of_span(&mut self, span: &Span<'_>) -> Lane {
        self.lane(span.first, |process, name, number| process.row(name, span.first.at, span.end, number))
    }

    /// The lane of what does not last.
    pub(super) fn of_instant(&mut self, event: &Event) -> Lane {
        self.lane(event, Process::first_row)
    }

    fn lane(&mut self, event: &Event, row: impl FnOnce(&mut Process, String, usize) -> usize) -> Lane {
        let next = self.processes.len();
        let place = *self.places.entry(event.host.as_deref().map(str::to_owned)).or_insert(next);
        if place == next {
            self.numbers += 1;
            let name = event.host.as_deref().unwrap_or("world").to_owned();
            self.processes.push(Process { number: self.numbers, name, threads: Vec::new(), rows: BTreeMap::new() });
        }
        let process = &mut self.processes[place];
        let thread = row(process, name(event), self.numbers + 1);
        self.numbers = self.numbers.max(thread);
        Lane { process: process.number, thread }
    }
}

fn name(event: &Event) -> String {
    match (event.kind.name().split_once('.'), &event.call_id) {
        (Some((device @ ("network" | "disk"), _)), _) => device.to_owned(),
        (_, Some(call)) => format!("{}/{call}", event.run_id),
        (_, None) => event.run_id.to_string(),
    }
}

impl Process {
    /// The first thread of this name on which nothing is in the way from `begin` to `end`, or a new one.
    fn row(&mut self, name: String, begin: Duration, end: Duration, number: usize) -> usize {
        let rows = self.rows.entry(name.clone()).or_default();
        for row in rows.iter_mut() {
            while row.open.last().is_some_and(|open| *open <= begin) {
                row.open.pop();
            }
            if row.open.last().is_none_or(|open| end <= *open) {
                row.open.push(end);
                return row.thread;
            }
        }
        rows.push(Row { thread: number, open: vec![end] });
        self.threads.push((number, name));
        number
    }

    fn first_row(&mut self, name: String, number: usize) -> usize {
        let rows = self.rows.entry(name.clone()).or_default();
        if let Some(row) = rows.first() {
            return row.thread;
        }
        rows.push(Row { thread: number, open: Vec::new() });
        self.threads.push((number, name));
        number
    }
}
