//! The invariants notice what they are there for: logs with one thing wrong.

use std::time::Duration;

use windtunnel_core::event::{Event, EventKind};
use windtunnel_core::executor::LedgerEntry;
use windtunnel_proptests::cases::{Caps, Policies, ToolPolicy};
use windtunnel_proptests::played::CAUSE;
use windtunnel_proptests::{CallTimeline, LogCapture, Span, Violation, invariants};

fn kind(name: &str, number: u32) -> EventKind {
    let tool = || "search".into();
    match name {
        "run.started" => EventKind::RunStarted {},
        "run.finished" => EventKind::RunFinished {},
        "tool.started" => EventKind::ToolStarted { tool: tool() },
        "tool.attempt" => EventKind::ToolAttempt { tool: tool(), attempt: number },
        "tool.retry" => EventKind::ToolRetry { tool: tool(), attempt: number, cause: "foreign", delay_s: 1.0 },
        "tool.finished" => EventKind::ToolFinished {
            tool: tool(),
            status: "ok",
            error: None,
            attempts: number,
            cached: false,
            duration_s: f64::from(number) - 1.0,
        },
        "tool.pending" => EventKind::ToolPending { tool: tool(), approval_id: number.to_string().into() },
        "approval.requested" => EventKind::ApprovalRequested { tool: tool(), approval_id: number.to_string().into() },
        "approval.approved" | "approval.denied" => EventKind::ApprovalDecided {
            tool: tool(),
            approval_id: number.to_string().into(),
            approved: name == "approval.approved",
            edited: false,
        },
        _ => panic!("no event is called {name}"),
    }
}

/// A log of one call: for each event its time in seconds, its name, and its attempt or approval.
fn log(lines: &[(u64, &str, u32)]) -> Vec<Event> {
    let event = |(sequence, (seconds, name, number)): (usize, &(u64, &str, u32))| Event {
        host: None,
        sequence: sequence as u64,
        at: Duration::from_secs(*seconds),
        run_id: "run".into(),
        call_id: (!name.starts_with("run")).then(|| "call".into()),
        parent_id: None,
        kind: kind(name, *number),
    };
    lines.iter().enumerate().map(event).collect()
}

/// Two attempts with a wait of a second.
const GOOD: [(u64, &str, u32); 7] = [
    (0, "run.started", 0),
    (0, "tool.started", 0),
    (0, "tool.attempt", 1),
    (0, "tool.retry", 1),
    (1, "tool.attempt", 2),
    (1, "tool.finished", 2),
    (1, "run.finished", 0),
];

fn entry(attempts: u32) -> LedgerEntry {
    LedgerEntry {
        kind: "tool",
        entry_id: "call".into(),
        run_id: "run".into(),
        tool: "search".into(),
        status: "ok",
        error: None,
        cost_usd: 0.0,
        attempts,
        duration: Duration::from_secs(1),
    }
}

fn policies(policy: ToolPolicy) -> Policies {
    [("search".to_owned(), ToolPolicy { retries: 1, ..policy })].into()
}

fn everything(events: &[Event], entries: &[LedgerEntry]) -> Result<(), Violation> {
    let policies = policies(ToolPolicy::default());
    invariants::order(events)?;
    invariants::calls_end_once(events)?;
    invariants::nothing_follows_a_run(events)?;
    invariants::attempts_within_retries(events, &policies)?;
    invariants::waits_are_exact(events)?;
    invariants::approvals_keep_their_ids(events)?;
    invariants::one_entry_per_finished_call(events, entries)?;
    CallTimeline::all(events)
        .iter()
        .try_for_each(|timeline| invariants::lone_call_adds_up(timeline, &[Duration::ZERO; 2]))
}

/// Which rule a change of the good log breaks.
#[track_caller]
fn check(rule: &str, told: &str, change: impl FnOnce(&mut Vec<Event>)) {
    let mut events = log(&GOOD);
    change(&mut events);
    let violation = everything(&events, &[entry(2)]).unwrap_err();
    assert_eq!(violation.rule, rule, "{violation}");
    assert!(violation.message.contains(told), "{violation}");
}

#[test]
fn a_good_log_breaks_nothing() {
    assert_eq!(everything(&log(&GOOD), &[entry(2)]), Ok(()));
}

#[test]
fn disorder_is_noticed() {
    check("E13", "event 3 comes right after event 3", |events| events[4].sequence = 3);
    check("E13", "before 2s", |events| events[2].at = Duration::from_secs(2));
    check("E9", "comes after its run", |events| {
        let mut late = events[2].clone();
        (late.sequence, late.at, late.call_id) = (7, Duration::from_secs(1), None);
        late.kind = EventKind::ModelStarted { model: "model".into(), turn: 1 };
        events.push(late);
    });
}

#[test]
fn calls_that_do_not_begin_or_end_are_noticed() {
    check("E13", "while it is not running", |events| drop(events.remove(1)));
    check("E13", "while it is not running", |events| {
        let mut again = events[5].clone();
        again.sequence = 6;
        events.insert(6, again);
        events[7].sequence = 7;
    });
    check("E12", "entries of no finished call", |events| drop(events.remove(5)));
    let mut open = log(&GOOD);
    open.remove(5);
    assert_eq!(invariants::open_calls(&open).len(), 1);
}

#[test]
fn attempts_that_do_not_add_up_are_noticed() {
    check("E3", "attempt 3 of 2", |events| events[4].kind = kind("tool.attempt", 3));
    check("E3", "the attempts [1, 1]", |events| events[4].kind = kind("tool.attempt", 1));
    check("E3", "waited after the attempts []", |events| drop(events.remove(3)));
    check("E3", "states 3 attempts, and made 2", |events| events[5].kind = kind("tool.finished", 3));
    check("E3", "waited after the attempts [1, 2] of 2", |events| {
        let mut vain = events[3].clone();
        (vain.sequence, vain.at, vain.kind) = (5, Duration::from_secs(1), kind("tool.retry", 2));
        events.insert(5, vain);
        events[6].sequence = 6;
        events[7].sequence = 7;
    });
}

#[test]
fn time_that_is_missing_is_noticed() {
    check("E4", "waited 0ns after attempt 1, having said 1s", |events| events[4].at = Duration::ZERO);
    check("E4", "took 2s, but its attempts and waits add up to 1s", |events| {
        events[5].at = Duration::from_secs(2);
        events[6].at = Duration::from_secs(2);
    });
}

#[test]
fn a_ledger_that_lies_is_noticed() {
    let events = log(&GOOD);
    for entries in [vec![], vec![entry(1)], vec![entry(2), entry(2)]] {
        assert_eq!(everything(&events, &entries).unwrap_err().rule, "E12", "{entries:?}");
    }
}

#[test]
fn approvals_that_change_or_come_late_are_noticed() {
    let good = [(0, "tool.started", 0), (0, "approval.requested", 1), (0, "tool.pending", 1), (1, "tool.started", 0)];
    let ends: [(&[_], bool); 5] = [
        (&[(1, "approval.requested", 1), (1, "approval.approved", 1), (1, "tool.attempt", 1)], true),
        (&[(1, "approval.requested", 2)], false),
        (&[(1, "approval.requested", 1), (1, "approval.approved", 2)], false),
        (&[(1, "approval.requested", 1), (1, "tool.attempt", 1)], false),
        (&[(1, "approval.requested", 1), (1, "approval.denied", 1), (1, "tool.attempt", 1)], false),
    ];
    for (end, is_good) in ends {
        let events = log(&[&good[..], end].concat());
        assert_eq!(invariants::approvals_keep_their_ids(&events).is_ok(), is_good, "{end:?}");
    }
}

fn span(call_id: &str, parent_id: Option<&str>, opens: u64, closes: u64) -> Span {
    Span {
        run_id: "run".into(),
        call_id: call_id.into(),
        parent_id: parent_id.map(Into::into),
        tool: "search".into(),
        opens,
        closes,
    }
}

#[test]
fn calls_that_run_beside_each_other_are_noticed() {
    let policies = policies(ToolPolicy { is_exclusive: true, ..ToolPolicy::default() });
    let cap_of_one = Caps::from([("search".to_owned(), 1)]);
    let beside = [span("a", None, 0, 2), span("b", None, 1, 3)];
    let after = [span("a", None, 0, 2), span("b", None, 2, 3)];
    let nested = [span("a", None, 0, 3), span("b", Some("a"), 1, 2)];
    for (spans, is_good) in [(beside, false), (after, true), (nested, true)] {
        assert_eq!(invariants::exclusive_calls_run_alone(&spans, &policies).is_ok(), is_good, "{spans:?}");
        assert_eq!(invariants::caps_hold(&spans, &policies, &cap_of_one).is_ok(), is_good, "{spans:?}");
    }
}

#[test]
fn runs_that_make_too_many_calls_are_noticed() {
    let events = log(&GOOD);
    let mut both = events.clone();
    both.extend(events.into_iter().map(|event| Event { call_id: event.call_id.map(|_| "other".into()), ..event }));
    let often = policies(ToolPolicy::default());
    let once = policies(ToolPolicy { once_per_run: true, ..ToolPolicy::default() });
    assert_eq!(invariants::guards_hold(&both, &often, Some(2)), Ok(()));
    assert_eq!(invariants::guards_hold(&both, &often, Some(1)).unwrap_err().rule, "E2");
    assert_eq!(invariants::guards_hold(&both, &once, None).unwrap_err().rule, "E2");
}

#[test]
fn a_cause_that_is_told_is_noticed() {
    let capture = LogCapture::new();
    tracing::subscriber::with_default(capture.clone(), || tracing::debug!(cause = CAUSE, "failed"));
    assert_eq!(invariants::logs_are_silent_about(CAUSE, &capture.lines()), Ok(()));
    tracing::subscriber::with_default(capture.clone(), || tracing::info!(cause = CAUSE, "failed"));
    assert_eq!(invariants::logs_are_silent_about(CAUSE, &capture.lines()).unwrap_err().rule, "E5");
    let mut events = log(&GOOD);
    events[1].kind = EventKind::ToolStarted { tool: CAUSE.into() };
    assert_eq!(invariants::events_are_silent_about(CAUSE, &events).unwrap_err().rule, "E5");
}
