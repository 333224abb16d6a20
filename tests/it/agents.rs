//! The cases of agents come out as they say, whatever is expected of them can fail, and what holds in every run does.

use serde_json::{Value, json};
use windtunnel_sim::case::{Case, Format};

use crate::conformance::{case, check_all, values};

const AGENTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/conformance/agent.jsonl");
const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/refund_agent.toml");

#[test]
fn all_agent_cases_hold() {
    check_all(AGENTS, 90);
}

/// Other values for a field of `expect`: each must fail.
fn others(field: &str, expected: &Value) -> Vec<Value> {
    let one_more = |more: Value| expected.as_array().unwrap().iter().cloned().chain([more]).collect::<Value>();
    match field {
        "outcome" => each_member(expected, another_of_outcome),
        "crashes" => {
            let crashes = expected.as_array().unwrap().iter().enumerate();
            let changed = crashes.flat_map(|(index, crash)| {
                each_member(crash, another_of_crash).into_iter().map(move |changed| {
                    let mut all = expected.clone();
                    all[index] = changed;
                    all
                })
            });
            changed.chain([one_more(json!({}))]).collect()
        }
        "journal" => vec![one_more(json!(["one more"])), json!([["one more"]])],
        "effects" | "repeats" => {
            let mut more = expected.clone();
            more["one more"] = json!(1);
            each_member(expected, |_, count| json!(count.as_u64().unwrap() + 1)).into_iter().chain([more]).collect()
        }
        "invocations" => vec![one_more(json!({"tool": "one more", "arguments": {}}))],
        "approvals" => vec![one_more(json!("already"))],
        "read" => vec![one_more(json!("one more"))],
        "elapsed_ms" => vec![json!(expected.as_f64().unwrap() + 1.0)],
        // The rest are counts.
        _ => vec![json!(expected.as_u64().unwrap() + 1)],
    }
}

/// The object with one member changed, for each of them.
fn each_member(object: &Value, another: impl Fn(&str, &Value) -> Value) -> Vec<Value> {
    let changed = |(name, member): (&String, &Value)| {
        let mut changed = object.clone();
        changed[name] = another(name, member);
        changed
    };
    object.as_object().unwrap().iter().map(changed).collect()
}

fn another_of_outcome(name: &str, expected: &Value) -> Value {
    match name {
        "end" if expected == "answer" => json!("turn-limit"),
        "end" => json!("answer"),
        "answer" | "failed" | "message" | "waits_for" => json!(format!("not {expected}")),
        _ => json!(expected.as_u64().unwrap() + 1),
    }
}

fn another_of_crash(name: &str, expected: &Value) -> Value {
    match name {
        "at" if expected == "before-call" => json!("after-effect"),
        "at" => json!("before-call"),
        "operation" => json!("model:turn:9"),
        "at_ms" => json!(expected.as_f64().unwrap() + 1.0),
        _ => json!(expected.as_u64().unwrap() + 1),
    }
}

#[test]
fn an_expectation_of_an_agent_that_is_changed_fails_its_case() {
    let mut changes = 0;
    for value in values(AGENTS) {
        let as_it_is = case(&value);
        let run = as_it_is.run(as_it_is.seed());
        for (field, expected) in value["expect"].as_object().unwrap() {
            for other in others(field, expected) {
                let mut changed = value.clone();
                changed["expect"][field] = other;
                let verdict = case(&changed).judge(&run);
                assert!(!verdict.passed(), "{}: {field} as {}", as_it_is.id(), changed["expect"][field]);
                changes += 1;
            }
        }
    }
    assert_eq!(changes, 1706);
}

/// What holds in every run of an agent, whatever the case.
fn invariants() -> Value {
    json!([
        {"name": "a crash ends one attempt", "that":
            "events.filter(e, e.type == 'activation.finished' && e.data.status == 'cancelled').size() == crashes.size()"},
        {"name": "an operation has one key, and a key one operation", "that":
            "effects.all(e, effects.all(f, (e.operation == f.operation && e.activation == f.activation) == \
             (e.idempotency_key == f.idempotency_key)))"},
        {"name": "no key is stored twice in an activation", "each": "journal", "that":
            "journal.filter(j, j.activation == it.activation && j.key == it.key).size() == 1"},
        {"name": "what is acknowledged is not begun again", "that":
            "events.all(e, !(e.type == 'operation.committed' && e.data.status == 'acknowledged') || \
             !events.exists(f, f.type == 'operation.started' && f.call_id == e.call_id && f.parent_id == e.parent_id && \
             f.sequence > e.sequence))"},
        {"name": "an activation goes on, waits, or is the last", "that":
            "activations.all(a, a.decision != null || a.index == activations.size())"},
        {"name": "an effect is an invocation", "that": "effects.size() <= invocations.size()"},
        {"name": "nothing is repeated without a crash, a refused commit or a second try", "that":
            "effects.all(e, !e.repeat) || crashes.size() > 0 || events.exists(e, e.type == 'tool.retry' || \
             e.type == 'operation.committed' && e.data.status != 'acknowledged')"},
        {"name": "time never goes back", "that": "events.all(e, e.sequence == 0 || events[e.sequence - 1].at_ns <= e.at_ns)"},
    ])
}

#[test]
fn the_invariants_of_agents_hold_in_every_case() {
    for mut value in values(AGENTS) {
        value["always"] = invariants();
        let case = case(&value);
        let verdict = case.judge(&case.run(case.seed()));
        assert!(verdict.passed(), "{}: {}", case.id(), verdict.failures().join("\n"));
    }
}

#[test]
fn the_invariants_of_agents_hold_wherever_their_workers_crash() {
    let (mut crashed, mut points) = (0, std::collections::BTreeSet::new());
    for mut value in values(AGENTS) {
        value["always"] = invariants();
        value["crash_rate"] = json!(0.15);
        for planned in ["expect", "crashes"] {
            value.as_object_mut().unwrap().remove(planned);
        }
        let case = case(&value);
        for seed in 0..4 {
            let run = case.run(seed);
            let verdict = case.judge(&run);
            assert!(verdict.passed(), "{} with seed {seed}: {}", case.id(), verdict.failures().join("\n"));
            let windtunnel_sim::case::CaseOutcome::Agent(outcome) = &run.outcome else { panic!("not an agent") };
            crashed += outcome.crashes.len();
            points.extend(outcome.crashes.iter().map(|crash| crash.at));
        }
    }
    assert_eq!(points.len(), 6);
    assert!(crashed > 200, "{crashed}");
}

#[test]
fn every_named_point_is_crashed_at_by_tools_models_and_decisions() {
    let planned: std::collections::BTreeSet<_> = values(AGENTS)
        .iter()
        .flat_map(|value| value["expect"]["crashes"].as_array().cloned().unwrap_or_default())
        .map(|crash| {
            let kind = crash["operation"].as_str().and_then(|operation| operation.split(':').next().map(str::to_owned));
            (crash["at"].as_str().unwrap().to_owned(), kind)
        })
        .collect();
    assert_eq!(planned.len(), 4 * 2 + 2, "{planned:?}");
}

#[test]
fn the_documentations_case_of_an_agent_holds() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/sim/CASE_FILES.md")).unwrap();
    let examples = text.split("```json\n").skip(1).filter_map(|rest| rest.split("```").next());
    let mut examples = examples.filter(|example| example.contains("\"model\": {"));
    let case = Case::parse("CASE_FILES.md", Format::Json, examples.next().unwrap()).unwrap().remove(0);
    assert_eq!(case.judge(&case.run(0)).failures(), Vec::<String>::new());
    assert!(examples.next().is_none());
}

#[test]
fn the_example_of_a_refund_agent_holds_over_seeds() {
    let cases = Case::load(EXAMPLE).unwrap();
    let anywhere = cases.iter().find(|case| case.id() == "crashes-anywhere").unwrap();
    for seed in 0..100 {
        let verdict = anywhere.judge(&anywhere.run(seed));
        assert!(verdict.passed(), "seed {seed}: {}", verdict.failures().join("\n"));
    }
}
