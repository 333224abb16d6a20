//! One run, as a part of a report.

use std::time::Duration;

use serde::Serialize;
use windtunnel_core::event::{Event, EventKind};

use super::rows::TraceRows;
use crate::fault::{DeliveredFault, UndeliveredFault};
use crate::{Run, WorldError, trace};

/// How many events a page has of a run: what went on without end is told by its end.
const EVENTS_MAX: usize = 200_000;

/// One run: its timeline, what failed, and what repeats it.
#[derive(Clone, Debug, Default)]
pub struct ReportedRun {
    /// What it is called.
    pub name: String,
    /// The world's seed, if it ran in one.
    pub seed: Option<u64>,
    /// What failed; nothing, if it passed.
    pub failures: Vec<ReportedFailure>,
    /// Its events.
    pub trace: Vec<Event>,
    /// How long it took.
    pub elapsed: Duration,
    /// The faults that came.
    pub faults: Vec<DeliveredFault>,
    /// The planned faults that did not come.
    pub undelivered: Vec<UndeliveredFault>,
    /// Lines to copy, such as the one that repeats it.
    pub commands: Vec<Snippet>,
    /// Longer texts to copy, such as its plan of faults.
    pub snippets: Vec<Snippet>,
}

/// What failed in a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReportedFailure {
    /// What is wrong.
    pub message: String,
    /// The place in the trace of the event that shows it. Without one the failure stands at the end of the run.
    pub event: Option<usize>,
}

/// A text to copy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Snippet {
    /// What it is.
    pub label: String,
    /// The text.
    pub text: String,
}

impl Snippet {
    /// A text with what it is.
    pub fn new(label: impl Into<String>, text: impl Into<String>) -> Self {
        Self { label: label.into(), text: text.into() }
    }
}

impl ReportedRun {
    /// A run of a scenario.
    pub fn of_run<T>(name: impl Into<String>, run: &Run<T>) -> Self {
        Self {
            name: name.into(),
            seed: Some(run.seed),
            failures: run.outcome.as_ref().err().map(|error| failure(error, &run.trace)).into_iter().collect(),
            trace: run.trace.clone(),
            elapsed: run.elapsed,
            faults: run.faults.clone(),
            undelivered: run.undelivered.clone(),
            ..Self::default()
        }
    }

    /// Whether nothing failed.
    pub fn passed(&self) -> bool {
        self.failures.is_empty()
    }
}

/// Why a world failed, with the event that shows it.
pub(super) fn failure(error: &WorldError, trace: &[Event]) -> ReportedFailure {
    let shows = |event: &Event| match (error, &event.kind) {
        (WorldError::AssertionFailed { assertion: wanted }, EventKind::AssertionFailed { assertion }) => {
            **assertion == **wanted
        }
        _ => false,
    };
    ReportedFailure { message: error.to_string(), event: trace.iter().rposition(shows) }
}

/// A run as the page reads it.
#[derive(Serialize)]
pub(super) struct RunDocument<'a> {
    name: &'a str,
    /// Numbers of a page are exact below 2^53 only.
    seed: Option<String>,
    passed: bool,
    failures: Vec<ReportedFailure>,
    /// The event that is shown first.
    focus: Option<usize>,
    /// How many of the first events are left out. Places count from the next one.
    skipped: usize,
    elapsed: (u64, u32),
    digest: String,
    faults: Vec<FaultRow>,
    undelivered: Vec<UndeliveredRow>,
    commands: &'a [Snippet],
    snippets: &'a [Snippet],
    trace: TraceRows<'a>,
}

#[derive(Serialize)]
struct FaultRow {
    kind: &'static str,
    at: String,
    host: String,
    when: String,
    action: String,
    event: Option<usize>,
}

#[derive(Serialize)]
struct UndeliveredRow {
    kind: &'static str,
    why: String,
    when: String,
    action: String,
}

impl<'a> RunDocument<'a> {
    pub(super) fn of(run: &'a ReportedRun) -> Self {
        Self::with_last(EVENTS_MAX, run)
    }

    /// With so many of its last events.
    fn with_last(events_max: usize, run: &'a ReportedRun) -> Self {
        let skipped = run.trace.len().saturating_sub(events_max);
        let place = |event: Option<usize>| event.and_then(|event| event.checked_sub(skipped));
        let failure = |failure: &ReportedFailure| ReportedFailure { event: place(failure.event), ..failure.clone() };
        let failures: Vec<_> = run.failures.iter().map(failure).collect();
        Self {
            name: &run.name,
            seed: run.seed.map(|seed| seed.to_string()),
            passed: run.passed(),
            focus: failures.first().and_then(|failure| failure.event),
            failures,
            skipped,
            elapsed: (run.elapsed.as_secs(), run.elapsed.subsec_nanos()),
            digest: trace::digest(&run.trace),
            faults: faults(run, skipped),
            undelivered: run.undelivered.iter().map(undelivered).collect(),
            commands: &run.commands,
            snippets: &run.snippets,
            trace: TraceRows::of(&run.trace[skipped..]),
        }
    }
}

/// The faults that came, each with the event that says so: both are in the same order.
fn faults(run: &ReportedRun, skipped: usize) -> Vec<FaultRow> {
    let mut rest = 0;
    let mut event = |kind: &str| {
        let is_this = |event: &Event| matches!(event.kind, EventKind::FaultDelivered { fault } if fault == kind);
        let found = rest + run.trace.get(rest..)?.iter().position(is_this)?;
        rest = found + 1;
        found.checked_sub(skipped)
    };
    let row = |delivered: &DeliveredFault| FaultRow {
        kind: delivered.fault.action.kind().name(),
        at: format!("{}.{:09}", delivered.at.as_secs(), delivered.at.subsec_nanos()),
        host: delivered.host.as_deref().unwrap_or_default().to_owned(),
        when: json(&delivered.fault.when),
        action: json(&delivered.fault.action),
        event: event(delivered.fault.action.kind().name()),
    };
    run.faults.iter().map(row).collect()
}

fn undelivered(undelivered: &UndeliveredFault) -> UndeliveredRow {
    UndeliveredRow {
        kind: undelivered.fault.action.kind().name(),
        why: undelivered.why.to_string(),
        when: json(&undelivered.fault.when),
        action: json(&undelivered.fault.action),
    }
}

/// A value with string keys always has a JSON form.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::World;
    use crate::fault::FaultPlan;

    #[test]
    fn a_failure_points_to_the_event_that_shows_it_and_a_fault_to_its_own() {
        let plan = FaultPlan::from_json(r#"[{"when": {"event": "mark"}, "do": {"fault": "tool.hang"}}]"#).unwrap();
        let run = World::new(1).faults(plan).run(|world| async move {
            world.assertions().always("first", true);
            world.assertions().always("paid at most once", false);
        });
        let reported = ReportedRun::of_run("seed 1", &run);
        let place = run.trace.iter().position(|event| event.kind.name() == "assertion.failed");
        assert_eq!((reported.failures[0].event, place.is_some()), (place, true));
        assert!(!reported.passed());
        let document = serde_json::to_value(RunDocument::of(&reported)).unwrap();
        assert_eq!((&document["focus"], &document["seed"]), (&serde_json::json!(place), &"1".into()));
        assert_eq!(document["undelivered"][0]["kind"], "tool.hang");
    }

    #[test]
    fn of_a_run_without_end_the_end_is_told() {
        let run = World::new(1).run(|world| async move {
            (0..9).for_each(|number| world.assertions().always(&format!("{number}"), false));
        });
        let failure = |event| ReportedFailure { message: "x".to_owned(), event: Some(event) };
        let failures = vec![failure(8), failure(2)];
        let reported = ReportedRun { failures, ..ReportedRun::of_run("seed 1", &run) };
        let document = serde_json::to_value(RunDocument::with_last(3, &reported)).unwrap();
        assert_eq!((run.trace.len(), &document["skipped"]), (9, &6.into()));
        assert_eq!((&document["focus"], &document["failures"][1]["event"]), (&2.into(), &serde_json::Value::Null));
        assert_eq!(document["trace"]["events"].as_array().map(Vec::len), Some(3));
    }

    #[test]
    fn a_failure_that_no_event_shows_stands_at_the_end() {
        let run = World::new(1).run(|_world| async { panic!("no") });
        let reported = ReportedRun::of_run::<()>("seed 1", &run);
        assert_eq!(reported.failures[0].event, None);
        assert!(reported.failures[0].message.contains("panicked: no"));
    }
}
