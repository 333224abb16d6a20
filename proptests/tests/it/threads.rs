//! One executor on many threads and runtimes at once (E15), on real time.

use std::sync::Barrier;
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::Config;
use serde_json::json;
use windtunnel_core::event::EventLog;
use windtunnel_core::executor::{
    ApprovalPort, ApprovalRequest, CallContext, Decision, Executor, MemoryLedger, RunLimits, ToolCall, ToolContext,
};
use windtunnel_core::tool::{FunctionTool, Registry};
use windtunnel_core::{BoxError, BoxFuture};
use windtunnel_proptests::cases::{Caps, Policies, ToolPolicy, run_limits};
use windtunnel_proptests::invariants::{
    calls_end_once, caps_hold, exclusive_calls_run_alone, guards_hold, one_entry_per_finished_call, open_calls, order,
};
use windtunnel_proptests::{Span, SpanLog};

use crate::settings::family;

const THREADS: usize = 4;
/// Far longer than any case takes: a wake-up was lost.
const STUCK_AFTER: Duration = Duration::from_secs(60);

/// Thinks for a few turns of the runtime, so that other threads come in between.
struct Slow;

impl ApprovalPort for Slow {
    fn decide<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Result<Decision, BoxError>> {
        Box::pin(async move {
            for _ in 0..request.call_id.len() % 4 {
                tokio::task::yield_now().await;
            }
            Ok(Decision::approve())
        })
    }
}

struct Observed {
    log: EventLog,
    ledger: MemoryLedger,
    spans: SpanLog,
    statuses: Vec<&'static str>,
}

fn tool(name: &str, policy: &ToolPolicy, spans: &SpanLog) -> FunctionTool {
    let (spans, owned) = (spans.clone(), name.to_owned());
    let body = move |_, context: ToolContext| {
        let span = spans.enter(context.run_id(), context.call_id(), &owned);
        async move {
            let _span = span;
            tokio::task::yield_now().await;
            Ok::<_, BoxError>(())
        }
    };
    let tool = FunctionTool::json(name, "Yields.", json!({"type": "object"}), body).kind(policy.kind(name));
    let tool = if policy.is_exclusive { tool.exclusive() } else { tool };
    let tool = if policy.once_per_run { tool.once_per_run() } else { tool };
    if policy.confirm { tool.confirm() } else { tool }
}

/// Makes the calls of each thread at once, on all threads at once, in one run.
#[expect(clippy::disallowed_methods, reason = "what threads do to each other is what these properties are about")]
fn run(policies: &Policies, limits: RunLimits, calls: &[Vec<ToolCall>; THREADS]) -> Observed {
    let (log, ledger, spans) = (EventLog::new(), MemoryLedger::new(), SpanLog::new());
    let mut registry = Registry::new();
    for (name, policy) in policies {
        registry.register(tool(name, policy, &spans)).unwrap();
    }
    let executor = Executor::builder(registry)
        .run_limits(limits)
        .approval(Slow)
        .sink(log.clone())
        .ledger(ledger.clone())
        .build()
        .in_context(CallContext { run_id: "run".to_owned(), ..CallContext::default() });
    let barrier = Barrier::new(THREADS);
    let thread = |calls: &[ToolCall]| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        barrier.wait();
        runtime.block_on(async {
            let results = executor.env().timeout(STUCK_AFTER, executor.run_many(calls.to_vec())).await;
            results.expect("the calls are stuck").unwrap().iter().map(|result| result.status()).collect::<Vec<_>>()
        })
    };
    let statuses = std::thread::scope(|scope| {
        let threads: Vec<_> = calls.iter().map(|calls| scope.spawn(|| thread(calls))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    Observed { log, ledger, spans, statuses }
}

/// `count` calls for each thread, spread over the tools, each with an id of its own.
fn spread(policies: &Policies, count: usize) -> [Vec<ToolCall>; THREADS] {
    let names: Vec<_> = policies.keys().cycle().take(count + THREADS).collect();
    std::array::from_fn(|thread| {
        let call = |index: usize| {
            ToolCall::new(names[thread + index], json!({})).with_id(format!("call-{thread}-{}", "i".repeat(index)))
        };
        (0..count).map(call).collect()
    })
}

fn check_log(observed: &Observed) -> Result<(), TestCaseError> {
    let events = observed.log.events();
    order(&events)?;
    calls_end_once(&events)?;
    one_entry_per_finished_call(&events, &observed.ledger.entries())?;
    prop_assert!(open_calls(&events).is_empty());
    prop_assert_eq!(observed.ledger.entries().len(), observed.statuses.len());
    Ok(())
}

fn config() -> Config {
    let config = family!("threads");
    Config { cases: config.cases.div_ceil(4), ..config }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn guard_counters_are_shared_by_all_threads(calls_max in 0_u64..24, count in 1_usize..6, confirm: bool) {
        let policy = ToolPolicy { confirm, ..ToolPolicy::default() };
        let policies = Policies::from([("often".to_owned(), policy)]);
        let observed = run(&policies, RunLimits { calls_max: Some(calls_max), ..RunLimits::default() }, &spread(&policies, count));
        check_log(&observed)?;
        guards_hold(&observed.log.events(), &policies, Some(calls_max))?;
        let ran = observed.statuses.iter().filter(|status| **status == "ok").count();
        prop_assert_eq!(ran, (THREADS * count).min(calls_max as usize), "exactly as many run as may");
        prop_assert_eq!(observed.spans.spans().len(), ran);
    }

    #[test]
    fn a_tool_that_may_run_once_runs_once_on_all_threads(count in 1_usize..6, confirm: bool) {
        let policy = ToolPolicy { once_per_run: true, confirm, ..ToolPolicy::default() };
        let policies = Policies::from([("once".to_owned(), policy)]);
        let observed = run(&policies, RunLimits::default(), &spread(&policies, count));
        check_log(&observed)?;
        guards_hold(&observed.log.events(), &policies, None)?;
        prop_assert_eq!(observed.spans.spans().len(), 1);
    }

    #[test]
    fn a_repeat_on_another_thread_counts_once(copies in 1_usize..6) {
        let policies = Policies::from([("once".to_owned(), ToolPolicy { once_per_run: true, ..ToolPolicy::default() })]);
        let same = vec![ToolCall::new("once", json!({"n": 1})).with_id("same"); copies];
        let observed = run(&policies, RunLimits { calls_max: Some(1), ..RunLimits::default() }, &std::array::from_fn(|_| same.clone()));
        check_log(&observed)?;
        prop_assert!(observed.statuses.iter().all(|status| *status == "ok"), "all are one call");
    }

    #[test]
    fn locks_and_caps_hold_on_all_threads(count in 1_usize..6, cap in 1_u32..3) {
        let alone = ToolPolicy { is_exclusive: true, ..ToolPolicy::default() };
        let capped = ToolPolicy { kind: Some("capped".to_owned()), ..ToolPolicy::default() };
        let policies = Policies::from([
            ("alone".to_owned(), alone),
            ("capped-0".to_owned(), capped.clone()),
            ("capped-1".to_owned(), capped),
            ("free".to_owned(), ToolPolicy::default()),
        ]);
        let caps = Caps::from([("capped".to_owned(), cap)]);
        let observed = run(&policies, run_limits(None, &caps), &spread(&policies, count));
        check_log(&observed)?;
        let spans: Vec<Span> = observed.spans.spans();
        prop_assert_eq!(spans.len(), THREADS * count);
        caps_hold(&spans, &policies, &caps)?;
        exclusive_calls_run_alone(&spans, &policies)?;
    }
}
