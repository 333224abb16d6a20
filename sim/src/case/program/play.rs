//! Evaluating a case's program in a world.

use std::sync::Arc;

use parking_lot::Mutex;
use windtunnel_core::BoxError;
use windtunnel_core::evaluator::{Evaluation, Evaluator};

use super::bounds::{BoundedProvider, bounded, crossed};
use super::definition::ProgramCase;
use super::faulty::FaultyProvider;
use super::outcome::ProgramOutcome;
use super::provider::CaseProvider;
use crate::WorldHandle;
use crate::case::cassettes::Playing;
use crate::case::trouble::Setting;
use crate::case::{CaseOutcome, CaseRun};
use crate::script::Invocations;

/// More than any program within the bounds can have.
const EVENTS_MAX: u64 = 5_000_000;

/// What is known of a run so far. It is kept outside the world, and so survives one that comes to no end.
#[derive(Default)]
struct Log {
    evaluation: Mutex<Option<Evaluation>>,
    invocations: Invocations,
    playing: Mutex<Option<Arc<Playing>>>,
    cut_off: Arc<Mutex<Option<String>>>,
}

impl ProgramCase {
    pub(super) fn evaluate(&self, setting: &Setting) -> CaseRun {
        let log = Log::default();
        let takes_faults = setting.takes_faults;
        let world = setting.world.clone().events_max(EVENTS_MAX).run(|world| self.play(world, &log, takes_faults));
        let outcome = match (&self.program, log.evaluation.into_inner()) {
            (Err(offences), _) => ProgramOutcome::Refused(offences.clone()),
            (Ok(_), Some(evaluation)) => ProgramOutcome::Evaluated(evaluation),
            (Ok(_), None) => ProgramOutcome::Unfinished,
        };
        let used = outcome.evaluation().map(|evaluation| evaluation.consumption);
        let cut_off = log.cut_off.lock().take().or_else(|| crossed(&self.limits, used?));
        let has_faults = !world.faults.is_empty();
        let replayed = log.playing.lock().as_ref().map(|playing| self.shelf.replayed(playing, has_faults));
        let replayed = replayed.unwrap_or_default();
        let invocations = log.invocations.to_vec();
        CaseRun { outcome: CaseOutcome::Program(outcome), invocations, cut_off, replayed, world }
    }

    async fn play(&self, world: WorldHandle, log: &Log, takes_faults: bool) -> Result<(), BoxError> {
        if let Ok(program) = &self.program {
            let playing = Arc::new(self.shelf.play(&world.env()));
            *log.playing.lock() = Some(Arc::clone(&playing));
            let evaluation = self.evaluator(&world, log, playing, takes_faults).evaluate(program).await;
            *log.evaluation.lock() = Some(evaluation);
        }
        Ok(())
    }

    fn evaluator(&self, world: &WorldHandle, log: &Log, playing: Arc<Playing>, takes_faults: bool) -> Evaluator {
        let tools = CaseProvider::new(&self.tools, playing, world.env(), log.invocations.clone());
        let faults = takes_faults.then(|| world.faults());
        let tools = FaultyProvider::new(tools, faults);
        let evaluator = Evaluator::new(BoundedProvider::new(tools, Arc::clone(&log.cut_off)))
            .env(world.env())
            .sink(world.trace())
            .limits(bounded(&self.limits))
            .policy(self.policy.clone());
        if self.shuffles { evaluator.shuffle_siblings() } else { evaluator }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Value, json};

    use crate::case::{Case, CaseOutcome, CaseRun, Format};

    fn case(value: Value) -> Case {
        Case::parse("f", Format::Json, &value.to_string()).unwrap().remove(0)
    }

    fn call(tool: &str) -> Value {
        json!({"type": "tool_call", "tool": tool, "arguments": {}})
    }

    fn program(body: &[Value]) -> Value {
        json!({"schema_version": "2.0", "mode": "parallel", "body": body})
    }

    fn random_tool(name: &str) -> Value {
        json!({"name": name, "random": {"fail": {"timeout": 0.5}, "delay_ms": {"min": 1, "max": 900}}})
    }

    fn branches_of(run: &CaseRun) -> Value {
        match &run.outcome {
            CaseOutcome::Program(outcome) => outcome.value().unwrap(),
            _ => Value::Null,
        }
    }

    #[test]
    fn a_seed_draws_the_same_each_time_and_another_seed_something_else() {
        let case = case(json!({
            "tools": [random_tool("a")], "program": program(&[call("a"), call("a")]),
            "policy": {"parallel_failures": "collect"},
        }));
        assert!(case.draws());
        let digests: Vec<String> = (0..20).map(|seed| case.run(seed).digest()).collect();
        assert!((0..20).all(|seed| case.run(seed).digest() == digests[seed as usize]));
        assert!(digests.iter().collect::<BTreeSet<_>>().len() > 15);
    }

    #[test]
    fn the_draws_of_one_tool_never_shift_those_of_another() {
        let collect = json!({"parallel_failures": "collect"});
        let alone = json!({"tools": [random_tool("a")], "program": program(&[call("a")]), "policy": collect});
        let tools = json!([random_tool("b"), random_tool("a")]);
        let beside = json!({"tools": tools, "program": program(&[call("b"), call("a")]), "policy": collect});
        let (alone, beside) = (case(alone), case(beside));
        for seed in 0..20 {
            assert_eq!(branches_of(&alone.run(seed))[0], branches_of(&beside.run(seed))[1]);
        }
    }

    #[test]
    fn a_step_or_what_is_random_may_replace_the_tools_delay() {
        let tool = json!({
            "name": "a", "delay_ms": 30, "script": [{}, {"delay_ms": 0}, {"delay_ms": {"min": 5, "max": 5}}],
        });
        let after_script = json!({"name": "b", "delay_ms": 30, "random": {"delay_ms": 7}});
        for (tools, calls, elapsed_ms) in [
            (json!([tool]), vec![call("a")], 30),
            (json!([tool]), vec![call("a"); 4], 65),
            (json!([after_script]), vec![call("b")], 7),
        ] {
            let case = case(json!({
                "tools": tools, "program": program(&calls), "limits": {"max_concurrency": 1},
                "expect": {"elapsed_ms": elapsed_ms},
            }));
            assert_eq!(case.judge(&case.run(0)).failures(), Vec::<String>::new());
        }
    }

    #[test]
    fn what_is_expected_holds_for_every_order_of_siblings() {
        let calls = |order: &str| {
            let calls = [json!({"name": "a", "arguments": {}}), json!({"name": "b", "arguments": {}})];
            case(json!({
                "tools": [{"name": "a"}, {"name": "b"}], "program": program(&[call("a"), call("b")]), "shuffle": true,
                "expect": {order: calls},
            }))
        };
        let (ordered, unordered) = (calls("calls"), calls("calls_unordered"));
        assert!(ordered.draws() && ordered.expects_of(7));
        let passes = |case: &Case| (0..20).filter(|seed| case.judge(&case.run(*seed)).passed()).count();
        assert!((1..20).contains(&passes(&ordered)));
        assert_eq!(passes(&unordered), 20);
    }

    #[test]
    fn assertions_see_the_program() {
        let case = case(json!({
            "tools": [
                {"name": "a", "script": [{"fail": "timeout"}]},
                {"name": "b", "fn": "ping", "script": [{"fail": "tool-execution", "message": "down"}]},
            ],
            "program": program(&[call("a"), call("b")]),
            "policy": {
                "parallel_failures": "collect",
                "retry": {"max_attempts": 2, "delay_seconds": 0.25, "idempotent_tools": ["a"]},
            },
            "always": [
                {"that": "result.status == 'ok' && result.value.size() == 2 && result.error == null"},
                {"that": "branches[0].success && branches[0].value == {'echo': {}} && branches[0].error == null"},
                {"that": "branches[1].error == 'tool-execution' && branches[1].message == 'tool \"b\": down'"},
                {"each": "branches", "that": "it.success == (it.error == null) && it.index < 2"},
                {"that": "consumption.nodes == 3 && consumption.tool_calls == 3 && consumption.peak_depth == 2"},
                {"that": "tools.a.idempotent && tools.a.attempts_max == 2 && tools.b.attempts_max == 1"},
                {"that": "tools.b.fn == 'ping' && tools.a.fn == null && tools.a.input_schema.required == []"},
                {"that": "invocations.map(i, i.tool) == ['a', 'b', 'a'] && elapsed_ms == 250.0"},
                {"that": "invocations[0].attempt == 1 && invocations[2].attempt == 2"},
                {"that": "invocations[0].call_id == invocations[2].call_id && invocations[1].attempt == 1"},
                {"each": "invocations", "that": "events.exists(e, e.type == 'program.call' && e.call_id == it.call_id)"},
                {"each": "events", "that": "it.type != 'program.call' || it.data.attempt <= tools[it.data.tool].attempts_max"},
            ],
        }));
        assert_eq!(case.judge(&case.run(0)).failures(), Vec::<String>::new());
    }

    #[test]
    fn a_run_that_comes_to_no_end_fails() {
        let case =
            case(json!({"tools": [{"name": "a", "script": [{"fail": "hang"}]}], "program": program(&[call("a")])}));
        let run = case.run(0);
        assert!(run.problem().unwrap().starts_with("nothing is left to happen"));
        assert_eq!(run.invocations.len(), 1);
        assert!(!case.judge(&run).passed());
    }

    #[test]
    fn a_run_of_a_case_of_another_kind_is_no_run_of_this_one() {
        let program = case(
            json!({"tools": [], "program": program(&[json!({"type": "literal", "value": 1})]), "expect": {"ok": [1]}}),
        );
        let calls = case(json!({"tools": [], "calls": [], "expect": {"ledger_entries": 1}}));
        assert_eq!(program.judge(&calls.run(0)).failures(), ["$.expect.ok: expected [1], found nothing"]);
        assert_eq!(calls.judge(&program.run(0)).failures(), ["$.expect.ledger_entries: expected 1, found 0"]);
    }
}
