//! Windtunnel's evaluator: a program's call, under the retry policy of programs (V7).

use std::num::NonZeroU32;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Value, json};
use windtunnel_core::BoxFuture;
use windtunnel_core::env::Env;
use windtunnel_core::evaluator;
use windtunnel_core::evaluator::{
    Evaluator, ExecutionPolicy, Program, ProviderCall, ProviderError, ToolDefinition, ToolFailure, ToolProvider,
};
use windtunnel_proptests::suites::{
    ErrorClass, Operation, OperationError, RetryClient, RetryFailure, RetryFeature, RetryPolicy, RetrySubject,
    Settings, retry_suite,
};

use super::told::Told;

const TOOL: &str = "operation";

pub(crate) struct Programs;

pub(crate) struct Client {
    policy: ExecutionPolicy,
    env: Env,
}

impl RetrySubject for Programs {
    type Client = Client;

    /// Its waits are all the same.
    fn features(&self) -> Vec<RetryFeature> {
        vec![RetryFeature::Layers, RetryFeature::Classes, RetryFeature::Announcements]
    }

    fn client(&self, policy: &RetryPolicy, env: Env) -> Result<Client, String> {
        let retry = evaluator::RetryPolicy {
            max_attempts: NonZeroU32::MIN.saturating_add(policy.retries),
            delay: policy.base,
            idempotent_tools: [TOOL.to_owned()].into(),
            ..evaluator::RetryPolicy::default()
        };
        Ok(Client { policy: ExecutionPolicy { retry, ..ExecutionPolicy::default() }, env })
    }
}

impl RetryClient for Client {
    async fn run(&self, operation: Operation) -> Result<(), RetryFailure> {
        let last = Arc::<Mutex<Option<OperationError>>>::default();
        let provider = Provider { operation: operation.clone(), last: Arc::clone(&last) };
        let evaluator = Evaluator::new(provider).env(self.env.clone()).sink(Told(operation));
        let call = json!({"type": "tool_call", "tool": TOOL, "arguments": {}});
        let program = json!({"schema_version": "2.0", "body": [call]});
        let program = Program::from_value(&program).map_err(|refusal| RetryFailure::GaveUp(refusal.to_string()))?;
        let evaluation = evaluator.policy(self.policy.clone()).evaluate(&program).await;
        let failure = |error: &dyn ToString| RetryFailure::GaveUp(error.to_string());
        let taken = last.lock().take();
        evaluation.result.map(drop).map_err(|error| taken.map_or_else(|| failure(&error), Into::into))
    }
}

/// Has the operation as its only tool, and keeps how it failed last: an evaluation tells of no foreign error.
struct Provider {
    operation: Operation,
    last: Arc<Mutex<Option<OperationError>>>,
}

impl ToolProvider for Provider {
    fn list(&self) -> BoxFuture<'_, Result<Vec<Arc<ToolDefinition>>, ProviderError>> {
        Box::pin(async {
            let definition = ToolDefinition::with_input_schema(TOOL, "Does it.", &json!({"type": "object"}))?;
            Ok(vec![Arc::new(definition)])
        })
    }

    fn call<'a>(&'a self, call: ProviderCall<'a>) -> BoxFuture<'a, Result<Value, ProviderError>> {
        Box::pin(async move {
            let Err(error) = self.operation.call_with_key(&call.call_id()).await else { return Ok(Value::Null) };
            let is_permanent = error.class == ErrorClass::Permanent;
            *self.last.lock() = Some(error);
            let failure = if is_permanent { ToolFailure::refused("no") } else { ToolFailure::execution("not today") };
            Err(failure.into())
        })
    }
}

#[test]
fn programs_keep_every_point_that_they_have_a_feature_for() {
    let report = retry_suite().run("programs", &Programs, &Settings::default().from_environment().unwrap());
    report.assert_kept();
    insta::assert_snapshot!(report.not_applicable().join("\n"), @"
    exponential
    cap_after_jitter
    far_attempts
    cap_max
    factor_one
    factor_not_finite
    waits_deadline
    waits_deadline_spent
    elapsed_deadline
    in_flight_cancelled
    elapsed_deadline_spent
    retry_after_floor
    retry_after_no_shorter
    retry_after_attempts
    retry_after_deadline
    retry_after_ceiling
    retry_after_huge
    retry_after_outermost
    retry_after_date
    retry_after_garbage
    budget_ratio
    budget_spent
    same_seed
    other_seed
    desync
    ");
}
