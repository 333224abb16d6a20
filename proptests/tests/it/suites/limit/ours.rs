//! Windtunnel's own limits: the run guards and caps of the executor, the budget of programs, and providers that refuse.

use std::num::{NonZeroU32, NonZeroU64};
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Value, json};
use windtunnel_core::env::Env;
use windtunnel_core::evaluator::{Budget, ExecutionLimits};
use windtunnel_core::executor::{CallContext, Executor, RunLimits, ToolCall, ToolContext};
use windtunnel_core::tool::{ErrorKind, FunctionTool, Registry};
use windtunnel_proptests::suites::{
    LimitFeature, LimitPolicy, LimitRefusal, LimitSubject, Limiter, Settings, Work, WorkError, limit_suite,
};
use windtunnel_sim::provider::{Cost, Decision, Limits, Rate, RateLimiter};

/// The calls of one run.
pub(crate) struct Guards;

pub(crate) struct Run {
    executor: Executor,
    works: Arc<Mutex<Vec<Option<Work>>>>,
}

impl LimitSubject for Guards {
    type Limiter = Run;

    fn features(&self) -> Vec<LimitFeature> {
        vec![LimitFeature::CallsMax, LimitFeature::AtOnce, LimitFeature::Waits]
    }

    fn limiter(&self, limits: &LimitPolicy, env: Env) -> Result<Run, String> {
        let works = Arc::<Mutex<Vec<Option<Work>>>>::default();
        let taken = Arc::clone(&works);
        let body = move |arguments: Arc<Value>, _: ToolContext| {
            let number = arguments["number"].as_u64().and_then(|number| usize::try_from(number).ok()).unwrap();
            let work = taken.lock()[number].take().unwrap();
            async move { work.run().await.map(|()| Value::Null) }
        };
        let mut registry = Registry::new();
        registry.register(FunctionTool::json("work", "Does it.", json!({"type": "object"}), body)).unwrap();
        let run_limits = RunLimits { calls_max: limits.calls_max, ..RunLimits::default() };
        let run_limits = match limits.at_once {
            None => run_limits,
            Some(at_once) => run_limits.cap("work", NonZeroU32::new(at_once).ok_or("a cap is at least 1")?),
        };
        let executor = Executor::builder(registry).env(env).run_limits(run_limits).build();
        let executor = executor.in_context(CallContext { run_id: "run".to_owned(), ..CallContext::default() });
        Ok(Run { executor, works })
    }
}

impl Limiter for Run {
    async fn call(&self, work: Work) -> Result<(), LimitRefusal> {
        let number = {
            let mut works = self.works.lock();
            works.push(Some(work));
            works.len() - 1
        };
        let result = self.executor.run_call(ToolCall::new("work", json!({"number": number}))).await.unwrap();
        match result.error() {
            Some(error) if error.kind == ErrorKind::MaxCalls => Err(LimitRefusal(error.message.clone())),
            _ => Ok(()),
        }
    }
}

/// The tool calls of one evaluation.
pub(crate) struct Evaluation;

pub(crate) struct ToolCalls(Mutex<Budget>);

impl LimitSubject for Evaluation {
    type Limiter = ToolCalls;

    fn features(&self) -> Vec<LimitFeature> {
        vec![LimitFeature::CallsMax]
    }

    fn limiter(&self, limits: &LimitPolicy, _: Env) -> Result<ToolCalls, String> {
        let max_tool_calls = limits.calls_max.and_then(NonZeroU64::new);
        Ok(ToolCalls(Mutex::new(Budget::new(ExecutionLimits { max_tool_calls, ..ExecutionLimits::default() }))))
    }
}

impl Limiter for ToolCalls {
    async fn call(&self, work: Work) -> Result<(), LimitRefusal> {
        self.0.lock().use_tool_call().map_err(|error| LimitRefusal(error.to_string()))?;
        let _: Result<(), WorkError> = work.run().await;
        Ok(())
    }
}

/// What a provider admits.
pub(crate) struct Provider;

pub(crate) struct Account {
    limiter: Mutex<RateLimiter>,
    env: Env,
}

impl LimitSubject for Provider {
    type Limiter = Account;

    fn features(&self) -> Vec<LimitFeature> {
        vec![LimitFeature::AtOnce, LimitFeature::CostMax, LimitFeature::Window]
    }

    fn limiter(&self, limits: &LimitPolicy, env: Env) -> Result<Account, String> {
        let rate = limits.window.and_then(|window| Some(Rate::in_windows(limits.calls_max?, window)));
        let limits =
            Limits { requests: rate, at_once: limits.at_once, tokens_paid_for: limits.cost_max, ..Limits::default() };
        Ok(Account { limiter: Mutex::new(RateLimiter::new(limits)), env })
    }
}

impl Limiter for Account {
    async fn call(&self, work: Work) -> Result<(), LimitRefusal> {
        let cost = Cost { input_tokens: work.cost(), output_tokens: 0 };
        match self.limiter.lock().decide(cost, self.env.now()) {
            Decision::Refused(refused) => return Err(LimitRefusal(format!("{:?}", refused.standing.limit))),
            Decision::Admitted => {}
        }
        let _finished = Finish(&self.limiter);
        let _: Result<(), WorkError> = work.run().await;
        Ok(())
    }
}

struct Finish<'a>(&'a Mutex<RateLimiter>);

impl Drop for Finish<'_> {
    fn drop(&mut self) {
        self.0.lock().finish();
    }
}

#[track_caller]
fn check<S: LimitSubject>(name: &str, subject: &S) -> String {
    let report = limit_suite().run(name, subject, &Settings::default().from_environment().unwrap());
    report.assert_kept();
    report.not_applicable().join("\n")
}

#[test]
fn run_guards_and_caps_keep_every_point_that_they_have_a_feature_for() {
    insta::assert_snapshot!(check("the executor", &Guards), @"
    refused_is_no_call
    cost_max
    cost_exact
    cost_huge
    window_max
    window_exact
    window_edge
    ");
}

#[test]
fn the_budget_of_an_evaluation_keeps_every_point_that_it_has_a_feature_for() {
    insta::assert_snapshot!(check("an evaluation", &Evaluation), @"
    refused_is_no_call
    at_once
    at_once_reached
    waiting_served
    waiting_in_order
    released_by_value
    released_by_error
    released_by_panic
    released_by_drop
    released_by_waiting
    cost_max
    cost_exact
    cost_huge
    window_max
    window_exact
    window_edge
    ");
}

#[test]
fn a_providers_limits_keep_every_point_that_they_have_a_feature_for() {
    insta::assert_snapshot!(check("a provider", &Provider), @"
    calls_max
    calls_exact
    refused_is_no_call
    waiting_served
    waiting_in_order
    released_by_waiting
    ");
}
