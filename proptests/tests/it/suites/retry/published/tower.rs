//! `tower::retry`, with its backoff and its budget. How often to retry is for the policy that its user writes.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tower::retry::Policy;
use tower::retry::backoff::{Backoff, ExponentialBackoff, ExponentialBackoffMaker, MakeBackoff};
use tower::retry::budget::{Budget, TpsBudget};
use tower::util::rng::Rng;
use tower::{ServiceExt, service_fn};
use windtunnel_core::env::Env;
use windtunnel_proptests::suites::{
    ErrorClass, Operation, OperationError, RetryClient, RetryFailure, RetryFeature, RetryPolicy, RetrySubject,
};

/// As long as a budget remembers, at most.
const TTL: Duration = Duration::from_secs(60);

pub(super) struct Tower;

pub(super) struct Client {
    maker: ExponentialBackoffMaker<Seeded>,
    retries: u32,
    budget: Option<Arc<TpsBudget>>,
}

#[derive(Clone)]
struct Attempts {
    backoff: ExponentialBackoff<Seeded>,
    left: u32,
    budget: Option<Arc<TpsBudget>>,
}

/// SplitMix64, as a source of chance for the backoff.
#[derive(Clone)]
struct Seeded(u64);

impl Rng for Seeded {
    fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

impl Policy<Operation, (), OperationError> for Attempts {
    type Future = Pin<Box<<ExponentialBackoff<Seeded> as Backoff>::Future>>;

    fn retry(&mut self, _: &mut Operation, result: &mut Result<(), OperationError>) -> Option<Self::Future> {
        match result {
            Ok(()) => {
                if let Some(budget) = &self.budget {
                    budget.deposit();
                }
                None
            }
            Err(error) => {
                if error.class != ErrorClass::Transient {
                    return None;
                }
                self.left = self.left.checked_sub(1)?;
                if self.budget.as_ref().is_some_and(|budget| !budget.withdraw()) {
                    return None;
                }
                Some(Box::pin(self.backoff.next_backoff()))
            }
        }
    }

    fn clone_request(&mut self, operation: &Operation) -> Option<Operation> {
        Some(operation.clone())
    }
}

impl RetrySubject for Tower {
    type Client = Client;

    fn features(&self) -> Vec<RetryFeature> {
        use RetryFeature::*;
        vec![Layers, Growth, Jitter, Seed, Classes, Budget]
    }

    fn client(&self, policy: &RetryPolicy, _: Env) -> Result<Client, String> {
        let jitter = if policy.is_jittered { 0.5 } else { 0.0 };
        let maker = ExponentialBackoffMaker::new(policy.base, policy.cap, jitter, Seeded(policy.seed));
        let budget = policy.budget.map(|budget| {
            let per_second = budget.reserve / u32::try_from(TTL.as_secs()).unwrap();
            Arc::new(TpsBudget::new(TTL, per_second, budget.ratio as f32))
        });
        Ok(Client { maker: maker.map_err(|error| error.to_string())?, retries: policy.retries, budget })
    }
}

impl RetryClient for Client {
    async fn run(&self, operation: Operation) -> Result<(), RetryFailure> {
        let policy =
            Attempts { backoff: self.maker.clone().make_backoff(), left: self.retries, budget: self.budget.clone() };
        let service = service_fn(|operation: Operation| operation.call());
        Ok(tower::retry::Retry::new(policy, service).oneshot(operation).await?)
    }
}
