//! Runs of cases, as parts of a report.

use windtunnel_core::event::Event;

use super::{ReportedFailure, ReportedRun};
use crate::case::{AssertionOutcome, CaseRun, Verdict};

impl ReportedRun {
    /// A run of a case, with what is wrong with it.
    pub fn of_case(name: impl Into<String>, run: &CaseRun, verdict: &Verdict) -> Self {
        // What an event shows comes first: the report begins there.
        let broken = verdict.assertions.iter().filter(|outcome| !outcome.holds());
        let broken = broken.map(|outcome| ReportedFailure {
            message: outcome.to_string(),
            event: offending_event(outcome, run.trace()),
        });
        let others = Verdict { assertions: Vec::new(), ..verdict.clone() };
        let others = others.failures().into_iter().map(|message| ReportedFailure { message, event: None });
        Self {
            name: name.into(),
            seed: Some(run.seed()),
            failures: broken.chain(others).collect(),
            trace: run.trace().to_vec(),
            elapsed: run.elapsed(),
            faults: run.faults().to_vec(),
            undelivered: run.undelivered().to_vec(),
            ..Self::default()
        }
    }
}

/// The event that breaks an assertion of each event.
fn offending_event(outcome: &AssertionOutcome, trace: &[Event]) -> Option<usize> {
    let offence = outcome.offences.first().filter(|_| outcome.each == Some("events"))?;
    (offence.index < trace.len()).then_some(offence.index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Case, Format};

    #[test]
    fn an_assertion_of_each_event_points_to_the_one_that_breaks_it() {
        let text = r#"{
            "tools": [{"name": "pay"}], "calls": [{"name": "pay"}],
            "always": [
                {"name": "no attempt", "each": "events", "that": "it.type != 'tool.attempt'"},
                {"name": "never called", "that": "size(invocations) == 0"}
            ]
        }"#;
        let cases = Case::parse("pay.json", Format::Json, text).unwrap();
        let run = cases[0].run(0);
        let reported = ReportedRun::of_case("pay", &run, &cases[0].judge(&run));
        let events: Vec<_> = reported.failures.iter().map(|failure| failure.event).collect();
        let attempt = run.trace().iter().position(|event| event.kind.name() == "tool.attempt");
        assert_eq!(events, [attempt, None]);
    }
}
