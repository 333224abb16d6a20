//! `backon`.

use std::time::Duration;

use backon::{ExponentialBuilder, Retryable};
use windtunnel_core::env::Env;
use windtunnel_proptests::suites::{
    ErrorClass, Operation, OperationError, RetryClient, RetryFailure, RetryFeature, RetryPolicy, RetrySubject,
};

/// What its `adjust` does with a failure that asks to wait.
#[derive(Clone, Copy)]
pub(super) enum Adjust {
    /// As the example in its documentation: what is asked for, whatever the backoff says.
    Override,
    /// The longer of both, and nothing once the backoff is over.
    Floor,
}

pub(super) struct Backon(pub(super) Adjust);

pub(super) struct Client {
    builder: ExponentialBuilder,
    adjust: Adjust,
}

impl RetrySubject for Backon {
    type Client = Client;

    fn features(&self) -> Vec<RetryFeature> {
        use RetryFeature::*;
        vec![Layers, Growth, Factor, Jitter, Seed, Classes, WaitsDeadline, RetryAfter, Announcements]
    }

    fn client(&self, policy: &RetryPolicy, _: Env) -> Result<Client, String> {
        let builder = ExponentialBuilder::default()
            .with_min_delay(policy.base)
            .with_max_delay(policy.cap)
            .with_factor(policy.factor as f32)
            .with_max_times(policy.retries as usize)
            .with_total_delay(policy.waits_max)
            .with_jitter_seed(policy.seed);
        let builder = if policy.is_jittered { builder.with_jitter() } else { builder };
        Ok(Client { builder, adjust: self.0 })
    }
}

impl RetryClient for Client {
    async fn run(&self, operation: Operation) -> Result<(), RetryFailure> {
        let adjust = self.adjust;
        let retried = (|| operation.call())
            .retry(self.builder)
            .when(|error: &OperationError| error.class == ErrorClass::Transient)
            .notify(|_: &OperationError, wait: Duration| operation.announce(wait))
            .adjust(|error: &OperationError, wait: Option<Duration>| match (error.retry_after, adjust) {
                (None, _) => wait,
                (Some(asked), Adjust::Override) => Some(asked),
                (Some(asked), Adjust::Floor) => wait.map(|wait| wait.max(asked)),
            });
        Ok(retried.await?)
    }
}
