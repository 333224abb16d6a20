//! `backoff`. It has no limit to attempts; the adapter counts them, in a `Backoff` around its own.

use std::time::Duration;

use backoff::backoff::Backoff;
use backoff::exponential::ExponentialBackoff;
use backoff::future::retry_notify;
use backoff::{Clock, Error};
use windtunnel_core::env::Env;
use windtunnel_proptests::suites::{
    ErrorClass, Operation, OperationError, RetryClient, RetryFailure, RetryFeature, RetryPolicy, RetrySubject,
};

pub(super) struct BackoffCrate;

pub(super) struct Client(Counted);

/// The clock of tokio, which is paused.
#[derive(Clone)]
struct TokioClock;

impl Clock for TokioClock {
    #[expect(clippy::disallowed_methods, reason = "the crate sleeps with tokio, so this is its clock")]
    fn now(&self) -> std::time::Instant {
        tokio::time::Instant::now().into_std()
    }
}

#[derive(Clone)]
struct Counted {
    backoff: ExponentialBackoff<TokioClock>,
    retries: u32,
    left: u32,
}

impl Backoff for Counted {
    fn next_backoff(&mut self) -> Option<Duration> {
        self.left = self.left.checked_sub(1)?;
        self.backoff.next_backoff()
    }

    fn reset(&mut self) {
        self.left = self.retries;
        self.backoff.reset();
    }
}

impl RetrySubject for BackoffCrate {
    type Client = Client;

    fn features(&self) -> Vec<RetryFeature> {
        use RetryFeature::*;
        vec![Layers, Growth, Factor, Jitter, Classes, ElapsedDeadline, RetryAfter, Announcements]
    }

    fn client(&self, policy: &RetryPolicy, _: Env) -> Result<Client, String> {
        let backoff = ExponentialBackoff {
            current_interval: policy.base,
            initial_interval: policy.base,
            // With jitter it is what the crate has by default.
            randomization_factor: if policy.is_jittered { backoff::default::RANDOMIZATION_FACTOR } else { 0.0 },
            multiplier: policy.factor,
            max_interval: policy.cap,
            start_time: TokioClock.now(),
            max_elapsed_time: policy.elapsed_max,
            clock: TokioClock,
        };
        Ok(Client(Counted { backoff, retries: policy.retries, left: policy.retries }))
    }
}

impl RetryClient for Client {
    async fn run(&self, operation: Operation) -> Result<(), RetryFailure> {
        let call = || async {
            operation.call().await.map_err(|error| match (error.class, error.retry_after) {
                (ErrorClass::Transient, Some(asked)) => Error::retry_after(error, asked),
                (ErrorClass::Transient, None) => Error::transient(error),
                _ => Error::permanent(error),
            })
        };
        Ok(retry_notify(self.0.clone(), call, |_: OperationError, wait| operation.announce(wait)).await?)
    }
}
