//! The cases in `tests/conformance` come out as they say, twice the same.

use serde_json::{Value, json};
use windtunnel_sim::case::{Case, Format};

const EXECUTOR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/conformance/executor.jsonl");
const EVALUATE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/conformance/evaluate.jsonl");
const OPERATION: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/conformance/operation.jsonl");
const PROGRAMS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/conformance/programs.jsonl");

#[track_caller]
pub(crate) fn check_all(file: &str, count: usize) {
    let cases = Case::load(file).unwrap();
    assert_eq!(cases.len(), count);
    let mut failures = String::new();
    for case in &cases {
        let problems = match case.check_determinism(case.seed()) {
            Ok(run) => case.judge(&run).failures(),
            Err(divergence) => vec![divergence.to_string()],
        };
        for problem in problems {
            failures.push_str(&format!("{}: {problem}\n", case.id()));
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

#[test]
fn all_executor_cases_hold() {
    check_all(EXECUTOR, 300);
}

#[test]
fn all_evaluator_cases_hold() {
    check_all(EVALUATE, 500);
}

#[test]
fn all_operation_cases_hold() {
    check_all(OPERATION, 120);
}

#[test]
fn all_cases_of_our_own_hold() {
    check_all(PROGRAMS, 118);
}

pub(crate) fn values(file: &str) -> Vec<Value> {
    std::fs::read_to_string(file).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

pub(crate) fn case(value: &Value) -> Case {
    Case::parse("changed", Format::Json, &value.to_string()).unwrap().remove(0)
}

/// Another value for a field of `expect`.
fn another(field: &str, expected: &Value) -> Value {
    match field {
        "ok" => json!({"not": expected}),
        "error" if expected["kind"] == "timeout" => json!({"kind": "unclassified"}),
        "error" => json!({"kind": "timeout"}),
        "rejected" => json!(false),
        "calls" | "calls_unordered" => {
            let more = json!({"name": "one more", "arguments": {}});
            expected.as_array().unwrap().iter().cloned().chain([more]).collect()
        }
        _ => json!(expected.as_u64().unwrap() + 1),
    }
}

#[test]
fn an_expectation_that_is_changed_fails_its_case() {
    let mut changes = 0;
    for value in values(EVALUATE) {
        let as_it_is = case(&value);
        let run = as_it_is.run(as_it_is.seed());
        for (field, expected) in value["expect"].as_object().unwrap() {
            let mut changed = value.clone();
            changed["expect"][field] = another(field, expected);
            assert!(!case(&changed).judge(&run).passed(), "{field} of {}", as_it_is.id());
            changes += 1;
        }
    }
    assert_eq!(changes, 2233);
}

/// Another value for a field of what an operation is expected to come to.
fn another_result(field: &str, expected: &Value) -> Value {
    match field {
        "ok" => json!({"not": expected}),
        "error" if expected == "call-failed" => json!("too-large"),
        "error" => json!("call-failed"),
        _ => json!(expected != true),
    }
}

#[test]
fn an_expectation_of_operations_that_is_changed_fails_its_case() {
    let mut changes = 0;
    for value in values(OPERATION) {
        let as_it_is = case(&value);
        let run = as_it_is.run(as_it_is.seed());
        let mut check = |change: &dyn Fn(&mut Value)| {
            let mut changed = value.clone();
            change(&mut changed["expect"]);
            assert!(!case(&changed).judge(&run).passed(), "{}: {}", as_it_is.id(), changed["expect"]);
            changes += 1;
        };
        check(&|expect| expect["journal"] = json!([{"one": "more"}, expect["journal"]]));
        for (index, result) in value["expect"]["results"].as_array().unwrap().iter().enumerate() {
            for (field, expected) in result.as_object().unwrap() {
                check(&|expect| expect["results"][index][field] = another_result(field, expected));
            }
        }
    }
    assert_eq!(changes, 1004);
}

/// What holds in every attempt that makes operations, whatever the case.
fn invariants_of_operations() -> Value {
    json!([
        {"name": "what runs is executed", "that": "results.filter(r, r.executed).size() == invocations.size()"},
        {"name": "an execution has both its ends", "that":
            "events.filter(e, e.type == 'operation.started').size() == events.filter(e, e.type == 'operation.executed').size()"},
        {"name": "a result that was given out is stored", "each": "results", "that":
            "it.error != null || journal.exists(j, j.key == it.key && j.output == it.value)"},
        {"name": "no key is stored twice", "each": "journal", "that": "journal.filter(j, j.key == it.key).size() == 1"},
        {"name": "a refusal runs nothing", "each": "results", "that":
            "!(it.error in ['binding-mismatch', 'invalid-key', 'invalid-version', 'activation-poisoned']) || !it.executed"},
        {"name": "a poisoned attempt decides nothing", "that":
            "decided == !results.exists(r, r.error == 'commit-unacknowledged')"},
        {"name": "nothing comes after a commit without acknowledgment", "that":
            "events.all(e, !(e.type == 'operation.committed' && e.data.status != 'acknowledged') || \
             !events.exists(f, f.type == 'operation.started' && f.sequence > e.sequence))"},
    ])
}

#[test]
fn the_invariants_of_operations_hold_in_every_case() {
    for mut value in values(OPERATION) {
        value["always"] = invariants_of_operations();
        let case = case(&value);
        let verdict = case.judge(&case.run(case.seed()));
        assert!(verdict.passed(), "{}: {}", case.id(), verdict.failures().join("\n"));
    }
}

#[test]
fn the_documentations_case_of_operations_holds() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/sim/CASE_FILES.md")).unwrap();
    let examples = text.split("```json\n").skip(1).filter_map(|rest| rest.split("```").next());
    let mut examples = examples.filter(|example| example.contains("\"steps\""));
    let case = Case::parse("CASE_FILES.md", Format::Json, examples.next().unwrap()).unwrap().remove(0);
    assert_eq!(case.judge(&case.run(0)).failures(), Vec::<String>::new());
    assert!(examples.next().is_none());
}

/// What holds in every evaluation of a program, whatever the case.
fn invariants_of_programs() -> Value {
    json!([
        {"name": "an invocation is an attempt", "that":
            "invocations.size() == events.filter(e, e.type == 'program.call').size()"},
        {"name": "no call is tried too often", "each": "events", "that":
            "it.type != 'program.call' || !(it.data.tool in tools) || it.data.attempt <= tools[it.data.tool].attempts_max"},
        {"name": "nothing happens after the program finished", "that":
            "events.all(e, e.type != 'program.finished' || e.sequence == events.size() - 1)"},
        {"name": "every attempt is counted", "that":
            "consumption.tool_calls >= invocations.size()"},
        {"name": "time never goes back", "that": "events.all(e, e.sequence == 0 || events[e.sequence - 1].at_ns <= e.at_ns)"},
        {"name": "a program comes to an end", "that": "result.status != 'unfinished'"},
        {"name": "the end is told as it is", "each": "events", "that":
            "it.type != 'program.finished' || it.data.status == result.status && it.data.nodes == consumption.nodes"},
    ])
}

#[track_caller]
fn check_in_any_order(file: &str, kept: &[&str]) {
    for mut value in values(file) {
        value["always"] = invariants_of_programs();
        value["shuffle"] = json!(true);
        value["expect"].as_object_mut().unwrap().retain(|field, _| kept.contains(&field.as_str()));
        let case = case(&value);
        for seed in 0..2 {
            let verdict = case.judge(&case.run(seed));
            assert!(verdict.passed(), "{} with seed {seed}: {}", case.id(), verdict.failures().join("\n"));
        }
    }
}

#[test]
fn the_evaluators_invariants_hold_in_every_case_and_order() {
    // The order of siblings says which of them runs before the first failure, and which of two that fail is the first.
    check_in_any_order(EVALUATE, &["rejected", "ok", "tool_calls_used"]);
    check_in_any_order(PROGRAMS, &["rejected"]);
}

#[test]
fn the_examples_of_the_documentation_find_their_bugs() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/sim/CASE_FILES.md")).unwrap();
    let examples: Vec<&str> = text.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(examples.len(), 2);
    for example in examples {
        let case = Case::parse("CASE_FILES.md", Format::Toml, example).unwrap().remove(0);
        let failing = (0..200).filter(|seed| !case.judge(&case.run(*seed)).passed()).count();
        assert!((1..200).contains(&failing), "{}: {failing} of 200 seeds fail", case.id());
    }
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
    for mut value in values(EXECUTOR) {
        value["always"] = invariants();
        let case = case(&value);
        let verdict = case.judge(&case.run(case.seed()));
        assert!(verdict.passed(), "{}: {}", case.id(), verdict.failures().join("\n"));
        for assertion in verdict.assertions {
            *counts.entry(assertion.name.unwrap_or_default()).or_default() += assertion.count;
        }
    }
    assert!(counts.values().all(|count| *count >= 300), "{counts:?}");
}
