//! Windtunnel's durable workflows: the attempts of an activation, under their retry policy.

use std::num::NonZeroU32;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Value, json};
use windtunnel_core::BoxError;
use windtunnel_core::durable::{
    ActivationRetry, MemoryStore, OperationCall, OperationKind, Worker, Workflow, WorkflowContext,
};
use windtunnel_core::env::Env;
use windtunnel_core::executor::{Backoff, BackoffSettings};
use windtunnel_core::model::{ModelError, ModelErrorKind};
use windtunnel_proptests::suites::{
    ErrorClass, Operation, OperationError, RetryClient, RetryFailure, RetryFeature, RetryPolicy, RetrySubject,
    Settings, retry_suite,
};

use super::told::Told;

/// What the operation of a workflow is: a policy counts failures of tools and outages of models apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Workflows {
    /// A tool. Whatever its failure is, the activation is tried again.
    Tool,
    /// A model, which says whether it may come back and when.
    Model,
}

pub(crate) struct Client {
    kind: Workflows,
    retry: ActivationRetry,
    env: Env,
}

/// Of a delay, jitter adds a quarter at most.
const JITTER: f64 = 0.25;

impl RetrySubject for Workflows {
    type Client = Client;

    /// A workflow does not run inside an operation of another one: its operations would be nested (D7).
    fn features(&self) -> Vec<RetryFeature> {
        use RetryFeature::*;
        match self {
            Self::Tool => vec![Growth, Factor, Jitter, Seed, Announcements],
            Self::Model => vec![Growth, Factor, Jitter, Seed, Classes, RetryAfter, Announcements],
        }
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
        let attempts_max = NonZeroU32::MIN.saturating_add(policy.retries);
        let retry = match self {
            Self::Tool => ActivationRetry { failures_max: attempts_max, backoff, ..ActivationRetry::default() },
            // What is no outage ends the workflow.
            Self::Model => {
                ActivationRetry { failures_max: NonZeroU32::MIN, outage_attempts_max: attempts_max, backoff }
            }
        };
        Ok(Client { kind: *self, retry, env })
    }
}

impl RetryClient for Client {
    async fn run(&self, operation: Operation) -> Result<(), RetryFailure> {
        let last = Arc::<Mutex<Option<Result<(), OperationError>>>>::default();
        let workflow = workflow(self.kind, operation.clone(), Arc::clone(&last));
        let worker = Worker::new(MemoryStore::new(self.env.clone())).env(self.env.clone()).sink(Told(operation));
        let worker = worker.retry(self.retry).workflow(workflow);
        worker.start("workflow", "flow", "entry", &Value::Null).await.map_err(gave_up)?;
        worker.run_until_idle().await.map_err(gave_up)?;
        let last = last.lock().take();
        Ok(last.ok_or_else(|| gave_up("the operation was never called"))??)
    }
}

fn gave_up(error: impl ToString) -> RetryFailure {
    RetryFailure::GaveUp(error.to_string())
}

/// One activation with one operation, which keeps what it came to last.
fn workflow(kind: Workflows, operation: Operation, last: Arc<Mutex<Option<Result<(), OperationError>>>>) -> Workflow {
    Workflow::new("flow").entry("entry", move |context: WorkflowContext, _: Value| {
        let (operation, last) = (operation.clone(), Arc::clone(&last));
        async move {
            let body = move |_: Value, call: OperationCall| async move {
                let called = operation.call_with_key(&call.idempotency_key).await;
                *last.lock() = Some(called.clone());
                called.map_err(|error| failure(kind, error))
            };
            let operation_kind = match kind {
                Workflows::Tool => OperationKind::Tool,
                Workflows::Model => OperationKind::Model,
            };
            context.operation("operation", operation_kind, "operation", "1", json!({}), body).await?;
            context.complete(&())
        }
    })
}

fn failure(kind: Workflows, error: OperationError) -> BoxError {
    match kind {
        Workflows::Tool => error.into(),
        Workflows::Model if error.class == ErrorClass::Permanent => {
            ModelError::new(ModelErrorKind::InvalidRequest, "no").into()
        }
        Workflows::Model => {
            let outage = ModelError::new(ModelErrorKind::Overloaded, "not now");
            ModelError { retry_after: error.retry_after, ..outage }.into()
        }
    }
}

#[track_caller]
fn check(kind: Workflows) -> String {
    let settings = Settings::default().from_environment().unwrap();
    let report = retry_suite().run(&format!("{kind:?}"), &kind, &settings);
    report.assert_kept();
    report.not_applicable().join("\n")
}

#[test]
fn workflows_whose_tools_fail_keep_every_point_that_they_have_a_feature_for() {
    insta::assert_snapshot!(check(Workflows::Tool), @"
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
    permanent
    ambiguous
    budget_ratio
    budget_spent
    layers_product
    ");
}

#[test]
fn workflows_whose_models_fail_keep_every_point_that_they_have_a_feature_for() {
    insta::assert_snapshot!(check(Workflows::Model), @"
    waits_deadline
    waits_deadline_spent
    elapsed_deadline
    in_flight_cancelled
    elapsed_deadline_spent
    retry_after_deadline
    retry_after_ceiling
    retry_after_outermost
    retry_after_date
    retry_after_garbage
    budget_ratio
    budget_spent
    layers_product
    ");
}
