//! Our executor: calls of one tool in one run, with its retries, limit and ledger.

use std::time::Duration;

use proptest::prelude::*;
use serde_json::json;
use windtunnel_core::executor::{CallContext, Executor, MemoryLedger, RunLimits, ToolCall};
use windtunnel_core::tool::{Registry, ToolSpec};
use windtunnel_proptests::Violation;
use windtunnel_proptests::worlds::StateMachine;
use windtunnel_sim::fault::FaultKind;
use windtunnel_sim::script::ScriptedTool;
use windtunnel_sim::{RandomFaults, WorldHandle};

const RETRIES: u32 = 2;
const CALLS_MAX: u64 = 3;

#[derive(Debug)]
pub(crate) struct Calls;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) argument: u8,
}

pub(crate) struct Run {
    executor: Executor,
    ledger: MemoryLedger,
}

impl StateMachine for Calls {
    type Operation = Call;
    type System = Run;
    /// How many calls were made.
    type Model = u64;

    fn operations(&self) -> BoxedStrategy<Call> {
        any::<u8>().prop_map(|argument| Call { argument }).boxed()
    }

    fn faults(&self) -> RandomFaults {
        let kinds = FaultKind::ALL.into_iter().filter(|kind| kind.name().starts_with("tool."));
        RandomFaults::of(kinds).rate(0.15)
    }

    fn model(&self) -> u64 {
        0
    }

    async fn set_up(&self, world: &WorldHandle) -> Run {
        let spec = ToolSpec::new("search", "Searches.", json!({"type": "object"}));
        let spec = ToolSpec { retries: RETRIES, timeout: Some(Duration::from_secs(5)), ..spec };
        let mut registry = Registry::new();
        registry.register(world.faults().tool(ScriptedTool::new(spec, []))).unwrap();
        let ledger = MemoryLedger::new();
        let limits = RunLimits { calls_max: Some(CALLS_MAX), ..RunLimits::default() };
        let executor = Executor::builder(registry).env(world.env()).run_limits(limits).ledger(ledger.clone());
        let context = CallContext { run_id: "run".to_owned(), ..CallContext::default() };
        Run { executor: executor.sink(world.trace()).build().in_context(context), ledger }
    }

    async fn apply(&self, run: &mut Run, made: &mut u64, call: &Call) -> Result<(), Violation> {
        let id = format!("call-{made}");
        *made += 1;
        let call = ToolCall::new("search", json!({"argument": call.argument})).with_id(&*id);
        let Ok(result) = run.executor.run_call(call).await else {
            return Err(Violation::new("results", "control flow ended a call"));
        };
        let is_refused = result.error_kind().is_some_and(|kind| kind.as_str() == "max-calls");
        if is_refused != (*made > CALLS_MAX) {
            return Err(Violation::new("calls of a run", format!("call {made} ended with {:?}", result.error_kind())));
        }
        if result.attempts > RETRIES + 1 {
            return Err(Violation::new("attempts of a call", format!("there were {}", result.attempts)));
        }
        Ok(())
    }

    fn check(&self, run: &Run, made: &u64) -> Result<(), Violation> {
        let entries = run.ledger.entries().iter().filter(|entry| entry.kind == "tool").count() as u64;
        if entries == *made {
            return Ok(());
        }
        Err(Violation::new("entries of the ledger", format!("there are {entries} of {made} calls")))
    }
}
