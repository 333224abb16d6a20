//! `tryhard`.

use std::time::Duration;

use windtunnel_core::env::Env;
use windtunnel_proptests::suites::{
    Operation, OperationError, RetryClient, RetryFailure, RetryFeature, RetryPolicy, RetrySubject,
};

pub(super) struct Tryhard;

pub(super) struct Client(RetryPolicy);

impl RetrySubject for Tryhard {
    type Client = Client;

    fn features(&self) -> Vec<RetryFeature> {
        vec![RetryFeature::Layers, RetryFeature::Growth, RetryFeature::Announcements]
    }

    fn client(&self, policy: &RetryPolicy, _: Env) -> Result<Client, String> {
        Ok(Client(policy.clone()))
    }
}

impl RetryClient for Client {
    async fn run(&self, operation: Operation) -> Result<(), RetryFailure> {
        let told = operation.clone();
        let retried = tryhard::retry_fn(|| operation.call())
            .retries(self.0.retries)
            .exponential_backoff(self.0.base)
            .max_delay(self.0.cap)
            .on_retry(move |_attempt, wait: Option<Duration>, _error: &OperationError| {
                let told = told.clone();
                async move {
                    if let Some(wait) = wait {
                        told.announce(wait);
                    }
                }
            });
        Ok(retried.await?)
    }
}
