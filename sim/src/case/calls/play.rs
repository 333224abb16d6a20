//! Running a case in a world.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use parking_lot::Mutex;
use windtunnel_core::BoxError;
use windtunnel_core::event::{Event, EventKind};
use windtunnel_core::executor::{CallContext, Completed, Executor, MemoryCache, MemoryLedger, ToolCall, ToolResult};
use windtunnel_core::tool::{Registry, Tool};

use super::definition::{CallsCase, CaseTool};
use super::outcome::{CallsOutcome, FinishedCall};
use super::recorded::RecordedTool;
use crate::WorldHandle;
use crate::case::cassettes::Playing;
use crate::case::trouble::Setting;
use crate::case::{CaseOutcome, CaseRun};
use crate::script::{Invocations, ScriptedApprovals, ScriptedTool};

/// More values than any case caches.
const CACHED_MAX: usize = 100_000;

/// What is known of a run so far. It is kept outside the world, and so survives one that comes to no end.
#[derive(Default)]
struct Log {
    calls: Mutex<Vec<Option<Logged>>>,
    invocations: Invocations,
    ledger: MemoryLedger,
    playing: Mutex<Option<Playing>>,
}

struct Logged {
    result: ToolResult,
    finished: Duration,
    /// The events that were emitted while the call ran.
    events: Range<usize>,
}

/// More than any case that is accepted can have.
const EVENTS_MAX: u64 = 5_000_000;

impl CallsCase {
    pub(super) fn play_with(&self, setting: &Setting) -> CaseRun {
        let log = Log { calls: Mutex::new(self.calls.iter().map(|_| None).collect()), ..Log::default() };
        let reviewer = self.decisions.clone().map(ScriptedApprovals::new);
        let takes_faults = setting.takes_faults;
        let world = setting.world.clone().events_max(EVENTS_MAX);
        let world = world.run(|world| self.play(world, &log, reviewer.clone(), takes_faults));
        let outcome = CallsOutcome {
            calls: self.finished_calls(log.calls.into_inner(), &world.trace),
            ledger: log.ledger.entries(),
            approval_requests: reviewer.map_or(0, |reviewer| reviewer.requests().len()),
        };
        let invocations = log.invocations.to_vec();
        let has_faults = !world.faults.is_empty();
        let replayed = log.playing.lock().as_ref().map(|playing| self.shelf.replayed(playing, has_faults));
        let replayed = replayed.unwrap_or_default();
        CaseRun { outcome: CaseOutcome::Calls(outcome), invocations, cut_off: None, replayed, world }
    }

    async fn play(
        &self,
        world: WorldHandle,
        log: &Log,
        reviewer: Option<ScriptedApprovals>,
        takes_faults: bool,
    ) -> Result<(), BoxError> {
        let playing = self.shelf.play(&world.env());
        let tools = self.registry(&world, log, &playing, takes_faults);
        *log.playing.lock() = Some(playing);
        let executor = self.executor(&world, tools?, log, reviewer);
        let scoped = |executor: Executor| async move {
            if self.is_batch {
                self.play_batch(&executor, &world, log).await
            } else {
                self.play_sequence(&executor, &world, log).await
            }
        };
        executor.run_scope(CallContext::default(), scoped).await
    }

    fn registry(
        &self,
        world: &WorldHandle,
        log: &Log,
        playing: &Playing,
        takes_faults: bool,
    ) -> Result<Registry, BoxError> {
        let mut registry = Registry::new();
        for CaseTool { spec, script, cassette } in &self.tools {
            let tool: Arc<dyn Tool> = match cassette {
                Some(cassette) => {
                    let tool = playing.tool(*cassette, spec.clone());
                    Arc::new(RecordedTool::new(tool, log.invocations.clone()))
                }
                None => {
                    let next_step = script.player(&spec.name, world.env());
                    let scripted = ScriptedTool::new(spec.clone(), []).after_script(move |_| next_step());
                    Arc::new(scripted.log_to(log.invocations.clone()))
                }
            };
            if takes_faults {
                registry.register(world.faults().tool(tool))?;
            } else {
                registry.register(tool)?;
            }
        }
        Ok(registry)
    }

    fn executor(
        &self,
        world: &WorldHandle,
        tools: Registry,
        log: &Log,
        reviewer: Option<ScriptedApprovals>,
    ) -> Executor {
        let env = match self.rng {
            Some(unit) => world.env().with_rng(move || unit),
            None => world.env(),
        };
        let mut builder = Executor::builder(tools)
            .env(env)
            .backoff(self.backoff)
            .run_limits(self.limits.clone())
            .ledger(log.ledger.clone())
            .sink(world.trace());
        if let Some(reviewer) = reviewer {
            builder = builder.approval(reviewer);
        }
        if self.tools.iter().any(|tool| tool.spec.cache_ttl.is_some()) {
            builder = builder.cache(MemoryCache::new(world.env(), CACHED_MAX));
        }
        builder.build()
    }

    async fn play_sequence(&self, executor: &Executor, world: &WorldHandle, log: &Log) -> Result<(), BoxError> {
        let (env, trace) = (world.env(), world.trace());
        for (index, (case_call, call)) in self.calls.iter().zip(self.identified_calls()).enumerate() {
            if !case_call.wait.is_zero() {
                env.until(env.now().saturating_add(case_call.wait)).await;
            }
            let begin = trace.log().len();
            let result = executor.run_call(call).await?;
            log.calls.lock()[index] = Some(Logged { result, finished: env.now(), events: begin..trace.log().len() });
        }
        Ok(())
    }

    async fn play_batch(&self, executor: &Executor, world: &WorldHandle, log: &Log) -> Result<(), BoxError> {
        let (env, trace) = (world.env(), world.trace());
        let mut completed = executor.as_completed(self.identified_calls());
        while let Some(completed) = completed.next().await {
            let Completed { index, result } = completed?;
            log.calls.lock()[index] = Some(Logged { result, finished: env.now(), events: 0..trace.log().len() });
        }
        Ok(())
    }

    /// The calls with the waits between their attempts.
    fn finished_calls(&self, logged: Vec<Option<Logged>>, trace: &[Event]) -> Vec<Option<FinishedCall>> {
        let mut in_batch = BTreeMap::<(&str, &str), Vec<f64>>::new();
        let mut sharing = BTreeMap::<(&str, &str), usize>::new();
        if self.is_batch {
            for event in trace {
                let (Some(call_id), Some(tool), Some(delay_s)) = (&event.call_id, event.kind.tool(), delay(event))
                else {
                    continue;
                };
                in_batch.entry((call_id, tool)).or_default().push(delay_s);
            }
            for ToolCall { id, name, .. } in self.calls.iter().map(|call| &call.call).filter(|call| !call.id.is_empty())
            {
                *sharing.entry((id, name)).or_default() += 1;
            }
        }
        let finished = |Logged { result, finished, events }: Logged| {
            let ours: (&str, &str) = (&result.call_id, &result.tool);
            let delays_s = match self.is_batch {
                false => Some(trace[events].iter().filter_map(delay).collect()),
                true if sharing.get(&ours).is_some_and(|calls| *calls > 1) => None,
                true => Some(in_batch.get(&ours).cloned().unwrap_or_default()),
            };
            FinishedCall { result, finished, delays_s }
        };
        logged.into_iter().map(|logged| logged.map(finished)).collect()
    }

    /// The calls, those without an id under one that says their place. The executor would give them ids too, but might
    /// give one that the file uses for another call, and so make two calls one (E7).
    fn identified_calls(&self) -> Vec<ToolCall> {
        let calls = self.calls.iter().map(|call| &call.call);
        let given: BTreeSet<&str> = calls.clone().map(|call| call.id.as_str()).collect();
        let free_id = |place: usize| {
            let longer = (1..).map(|number| format!("call-{place}-{number}"));
            let mut candidates = std::iter::once(format!("call-{place}")).chain(longer);
            candidates.find(|id| !given.contains(id.as_str())).unwrap_or_default()
        };
        let identified = |(place, call): (usize, &ToolCall)| match call.id.as_str() {
            "" => call.clone().with_id(free_id(place)),
            _ => call.clone(),
        };
        (1..).zip(calls).map(identified).collect()
    }
}

/// A wait between attempts.
fn delay(event: &Event) -> Option<f64> {
    match event.kind {
        EventKind::ToolRetry { delay_s, .. } => Some(delay_s),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::case::{Case, Format};

    fn case(value: Value) -> Case {
        Case::parse("f", Format::Json, &value.to_string()).unwrap().remove(0)
    }

    fn calls_of(run: &CaseRun) -> &[Option<FinishedCall>] {
        match &run.outcome {
            CaseOutcome::Calls(outcome) => &outcome.calls,
            _ => &[],
        }
    }

    fn random_tool(name: &str) -> Value {
        json!({
            "name": name,
            "retries": 5,
            "random": {"fail": {"busy": 0.3, "foreign": 0.2}, "delay_ms": {"min": 1, "max": 900}},
        })
    }

    fn waits_of(run: &CaseRun, tool: &str) -> Vec<(u32, Vec<f64>)> {
        let calls = calls_of(run).iter().flatten().filter(|call| &*call.result.tool == tool);
        calls.map(|call| (call.result.attempts, call.delays_s.clone().unwrap())).collect()
    }

    #[test]
    fn a_seed_draws_the_same_each_time_and_another_seed_something_else() {
        let case = case(json!({"tools": [random_tool("a")], "calls": [{"name": "a"}, {"name": "a"}]}));
        assert!(case.draws());
        let digests: Vec<String> = (0..20).map(|seed| case.run(seed).digest().to_owned()).collect();
        assert!((0..20).all(|seed| case.run(seed).digest() == digests[seed as usize]));
        assert!(digests.iter().collect::<BTreeSet<_>>().len() > 15);
    }

    #[test]
    fn the_draws_of_one_tool_never_shift_those_of_another() {
        let alone = case(json!({"tools": [random_tool("a")], "calls": [{"name": "a"}, {"name": "a"}]}));
        let beside = case(json!({
            "tools": [random_tool("b"), random_tool("a")],
            "calls": [{"name": "b"}, {"name": "a"}, {"name": "b"}, {"name": "a"}],
        }));
        for seed in 0..20 {
            assert_eq!(waits_of(&alone.run(seed), "a"), waits_of(&beside.run(seed), "a"));
        }
    }

    #[test]
    fn a_script_draws_its_ranges_anew_for_each_attempt() {
        let step = json!({"delay_ms": {"min": 100, "max": 200}});
        let case = case(json!({
            "tools": [{"name": "a", "script": [step, step]}],
            "calls": [{"name": "a"}, {"name": "a"}, {"name": "a"}],
        }));
        let run = case.run(3);
        let took: Vec<_> = calls_of(&run).iter().flatten().map(|call| call.result.duration.as_secs_f64()).collect();
        assert!(took[..2].iter().all(|seconds| (0.1..0.2).contains(seconds)) && took[0] != took[1] && took[2] == 0.0);
    }

    #[test]
    fn what_is_known_survives_a_case_that_comes_to_no_end() {
        let hangs = json!({"name": "b", "script": [{"fail": "hang"}]});
        let calls = json!([{"name": "a"}, {"name": "b"}, {"name": "a"}]);
        for is_batch in [false, true] {
            let case = case(json!({"tools": [{"name": "a"}, hangs], "calls": calls, "batch": is_batch}));
            let run = case.run(0);
            let finished: Vec<bool> = calls_of(&run).iter().map(Option::is_some).collect();
            assert_eq!(finished, [true, false, is_batch]);
            assert!(run.problem().unwrap().starts_with("nothing is left to happen"));
            assert!(!case.judge(&run).passed());
        }
    }

    #[test]
    fn a_panic_of_a_tool_is_a_foreign_error() {
        let tool = json!({"name": "a", "retries": 1, "script": [{"fail": "panic"}, {"ok": null}]});
        let case = case(json!({"tools": [tool], "rng": 0.0, "calls": [{"name": "a"}],
            "expect": {"results": [{"status": "ok", "value": null, "error": null, "attempts": 2, "delays_s": [0.5]}]}}));
        let run = case.run(0);
        assert_eq!(case.judge(&run).failures(), Vec::<String>::new());
    }

    #[test]
    fn calls_without_an_id_never_share_one_with_others() {
        let calls = json!([{"name": "a"}, {"name": "a", "id": "call-1"}, {"name": "a", "id": "call-1-1"}]);
        let case = case(json!({"tools": [{"name": "a", "once_per_run": true}], "calls": calls}));
        let run = case.run(0);
        let outcomes: Vec<_> =
            calls_of(&run).iter().flatten().map(|call| (&*call.result.call_id, call.result.status())).collect();
        assert_eq!(outcomes, [("call-1-2", "ok"), ("call-1", "error"), ("call-1-1", "error")]);
    }

    #[test]
    fn whose_delays_they_were_is_not_guessed() {
        let tool = json!({"name": "a", "retries": 1, "script": [{"fail": "busy"}]});
        let calls = json!([{"name": "a", "id": "x"}, {"name": "a", "id": "x"}, {"name": "a", "id": "y"}]);
        let case = case(json!({"tools": [tool], "rng": 0.0, "calls": calls, "batch": true}));
        let run = case.run(0);
        let delays: Vec<_> = calls_of(&run).iter().flatten().map(|call| call.delays_s.clone()).collect();
        assert_eq!(delays, [None, None, Some(vec![])]);
    }

    #[test]
    fn what_is_expected_of_a_case_that_draws_is_about_its_own_seed() {
        let case = case(json!({"seed": 4, "tools": [random_tool("a")], "calls": [{"name": "a"}],
            "expect": {"ledger_entries": 7}}));
        assert_eq!(case.judge(&case.run(4)).failures(), ["$.expect.ledger_entries: expected 7, found 1"]);
        assert!(case.judge(&case.run(5)).passed());
    }
}
