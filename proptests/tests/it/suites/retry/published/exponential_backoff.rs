//! `exponential-backoff`.

use exponential_backoff::Backoff;
use windtunnel_core::env::Env;
use windtunnel_proptests::suites::{Operation, RetryClient, RetryFailure, RetryFeature, RetryPolicy, RetrySubject};

pub(super) struct ExponentialBackoff;

pub(super) struct Client {
    backoff: Backoff,
    env: Env,
}

impl RetrySubject for ExponentialBackoff {
    type Client = Client;

    fn features(&self) -> Vec<RetryFeature> {
        vec![RetryFeature::Layers, RetryFeature::Growth, RetryFeature::Factor, RetryFeature::Jitter]
    }

    fn client(&self, policy: &RetryPolicy, env: Env) -> Result<Client, String> {
        let factor = policy.factor as u32;
        if f64::from(factor) != policy.factor {
            return Err(format!("{} is no whole number", policy.factor));
        }
        let mut backoff = Backoff::new(policy.retries.saturating_add(1), policy.base, policy.cap);
        backoff.set_factor(factor);
        // With jitter it is what the crate has by default.
        if !policy.is_jittered {
            backoff.set_jitter(0.0);
        }
        Ok(Client { backoff, env })
    }
}

impl RetryClient for Client {
    async fn run(&self, operation: Operation) -> Result<(), RetryFailure> {
        for wait in &self.backoff {
            match (operation.call().await, wait) {
                (Ok(()), _) => return Ok(()),
                (Err(_), Some(wait)) => self.env.sleep(wait).await,
                (Err(error), None) => return Err(error.into()),
            }
        }
        Err(RetryFailure::GaveUp("it made no attempt".to_owned()))
    }
}
