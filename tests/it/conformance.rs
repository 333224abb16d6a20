//! The cases in `tests/conformance` come out as they say, twice the same.

use serde_json::{Value, json};
use windtunnel_sim::case::{Case, Format};

const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/conformance/executor.jsonl");

#[test]
fn all_executor_cases_hold() {
    let cases = Case::load(CASES).unwrap();
    assert_eq!(cases.len(), 300);
    let mut failures = String::new();
    for case in &cases {
        let run =
            case.check_determinism(case.seed()).unwrap_or_else(|divergence| panic!("{}: {divergence}", case.id()));
        for failure in case.judge(&run).failures() {
            failures.push_str(&format!("{}: {failure}\n", case.id()));
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

/// What holds in every run of the executor, whatever the case.
fn invariants() -> Value {
    json!([
        {"name": "attempts never exceed retries + 1", "each": "results", "that": "it.attempts <= it.retries + 1"},
        {
            "name": "no event of a run after run.finished",
            "each": "events",
            "that": "!events.exists(e, e.type == 'run.finished' && e.run_id == it.run_id && e.sequence < it.sequence)",
        },
        {"name": "the sequence has no gaps", "that": "events.all(e, events[e.sequence] == e)"},
        {"name": "time never goes back", "that": "events.all(e, e.sequence == 0 || events[e.sequence - 1].at_ns <= e.at_ns)"},
        {"name": "a retry comes after each failed attempt but the last", "each": "results", "that":
            "it.delays_s == null || it.delays_s.size() == (it.attempts > 0 ? it.attempts - 1 : 0)"},
        {"name": "a finished call has one entry in the ledger", "that":
            "results.filter(r, r.status != 'pending').size() == ledger.size()"},
        {"name": "an invocation is an attempt", "that":
            "invocations.size() == events.filter(e, e.type == 'tool.attempt').size()"},
        {"name": "only a timeout may be tried again later", "each": "results", "that":
            "it.error == null || it.retryable == (it.error == 'tool-timeout')"},
    ])
}

#[test]
fn the_executors_invariants_hold_in_every_case() {
    let mut counts = std::collections::BTreeMap::<String, usize>::new();
    for line in std::fs::read_to_string(CASES).unwrap().lines() {
        let mut case: Value = serde_json::from_str(line).unwrap();
        case["always"] = invariants();
        let case = Case::parse("executor.jsonl", Format::Json, &case.to_string()).unwrap().remove(0);
        let verdict = case.judge(&case.run(case.seed()));
        assert!(verdict.passed(), "{}: {}", case.id(), verdict.failures().join("\n"));
        for assertion in verdict.assertions {
            *counts.entry(assertion.name.unwrap_or_default()).or_default() += assertion.count;
        }
    }
    assert!(counts.values().all(|count| *count >= 300), "{counts:?}");
}
