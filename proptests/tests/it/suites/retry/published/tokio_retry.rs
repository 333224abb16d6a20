//! `tokio-retry`.

use std::time::Duration;

use tokio_retry::RetryIf;
use tokio_retry::strategy::{ExponentialBackoff, jitter};
use windtunnel_core::env::Env;
use windtunnel_proptests::suites::{
    ErrorClass, Operation, OperationError, RetryClient, RetryFailure, RetryFeature, RetryPolicy, RetrySubject,
};

pub(super) struct TokioRetry;

pub(super) struct Client {
    strategy: ExponentialBackoff,
    retries: usize,
    is_jittered: bool,
}

impl RetrySubject for TokioRetry {
    type Client = Client;

    fn features(&self) -> Vec<RetryFeature> {
        vec![
            RetryFeature::Layers,
            RetryFeature::Growth,
            RetryFeature::Factor,
            RetryFeature::Jitter,
            RetryFeature::Classes,
        ]
    }

    /// Its waits are `base^n × factor` milliseconds, so its base is the policy's factor, and its factor makes the first wait.
    fn client(&self, policy: &RetryPolicy, _: Env) -> Result<Client, String> {
        let base = policy.factor as u64;
        if base as f64 != policy.factor || base == 0 {
            return Err(format!("{} is no base", policy.factor));
        }
        let first_ms = u64::try_from(policy.base.as_millis()).map_err(|error| error.to_string())?;
        let strategy = ExponentialBackoff::from_millis(base).factor(first_ms / base).max_delay(policy.cap);
        Ok(Client { strategy, retries: policy.retries as usize, is_jittered: policy.is_jittered })
    }
}

impl RetryClient for Client {
    async fn run(&self, operation: Operation) -> Result<(), RetryFailure> {
        let is_jittered = self.is_jittered;
        let jittered = move |wait: Duration| if is_jittered { jitter(wait) } else { wait };
        let waits = self.strategy.clone().map(jittered).take(self.retries);
        let is_transient = |error: &OperationError| error.class == ErrorClass::Transient;
        Ok(RetryIf::start(waits, || operation.call(), is_transient).await?)
    }
}
