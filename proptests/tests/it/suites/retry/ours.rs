//! Windtunnel's own executor.

use std::error::Error;
use std::sync::Arc;

use serde_json::{Value, json};
use windtunnel_core::BoxError;
use windtunnel_core::env::Env;
use windtunnel_core::executor::{Backoff, BackoffSettings, Executor, ToolCall, ToolContext};
use windtunnel_core::tool::{FunctionTool, Registry, ToolError};
use windtunnel_proptests::suites::{
    ErrorClass, Operation, OperationError, RetryClient, RetryFailure, RetryFeature, RetryPolicy, RetrySubject,
    Settings, retry_suite,
};

use super::told::Told;

pub(crate) struct Ours;

/// An executor's tool is its own, so each run has an executor of its own.
pub(crate) struct Client {
    backoff: Backoff,
    retries: u32,
    env: Env,
}

/// Of a delay, jitter adds a quarter at most.
const JITTER: f64 = 0.25;

impl RetrySubject for Ours {
    type Client = Client;

    fn features(&self) -> Vec<RetryFeature> {
        use RetryFeature::*;
        vec![Layers, Growth, Factor, Jitter, Seed, Classes, Announcements]
    }

    fn client(&self, policy: &RetryPolicy, env: Env) -> Result<Client, String> {
        let jitter = if policy.is_jittered { JITTER } else { 0.0 };
        let settings = BackoffSettings {
            base_s: policy.base.as_secs_f64(),
            // It is the longest delay before jitter.
            max_s: policy.cap.as_secs_f64() / (1.0 + jitter),
            multiplier: policy.factor,
            jitter,
        };
        let backoff = Backoff::new(settings).map_err(|error| error.to_string())?;
        Ok(Client { backoff, retries: policy.retries, env })
    }
}

impl RetryClient for Client {
    async fn run(&self, operation: Operation) -> Result<(), RetryFailure> {
        let told = operation.clone();
        let body = move |_: Arc<Value>, context: ToolContext| {
            let operation = operation.clone();
            async move {
                let key = context.idempotency_key().map(ToString::to_string).unwrap_or_default();
                match operation.call_with_key(&key).await {
                    Ok(()) => Ok(Value::Null),
                    Err(error) if error.class == ErrorClass::Permanent => {
                        Err(ToolError::new("it would fail again").with_source(error).into())
                    }
                    Err(error) => Err(BoxError::from(error)),
                }
            }
        };
        let mut registry = Registry::new();
        let tool = FunctionTool::json("operation", "Does it.", json!({"type": "object"}), body).retries(self.retries);
        registry.register(tool).unwrap();
        let executor = Executor::builder(registry).env(self.env.clone()).backoff(self.backoff).sink(Told(told)).build();
        let executor = executor.with_idempotency_key(Some(self.env.next_id("key")));
        let result = executor.run_call(ToolCall::new("operation", json!({}))).await;
        let result = result.map_err(|interrupted| RetryFailure::GaveUp(interrupted.to_string()))?;
        match result.error() {
            None => Ok(()),
            Some(error) => Err(cause(error).map_or_else(|| RetryFailure::GaveUp(error.to_string()), Into::into)),
        }
    }
}

fn cause(error: &(dyn Error + 'static)) -> Option<OperationError> {
    std::iter::successors(Some(error), |error| (*error).source()).find_map(|error| error.downcast_ref().cloned())
}

#[test]
fn our_executor_keeps_every_point_that_it_has_a_feature_for() {
    let report = retry_suite().run("the executor", &Ours, &Settings::default().from_environment().unwrap());
    report.assert_kept();
    insta::assert_snapshot!(report.not_applicable().join("\n"), @"
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
    ");
}
