//! A retry loop that has every feature and keeps every point, unless it is given a flaw.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use futures_util::future::join;
use parking_lot::Mutex;
use windtunnel_core::env::Env;
use windtunnel_core::model::retry_after;
use windtunnel_proptests::suites::{
    ErrorClass, Operation, OperationError, RetryClient, RetryFailure, RetryFeature, RetryPolicy, RetrySubject,
};

use super::flaws::Flaw;

#[derive(Default)]
pub(crate) struct Reference {
    pub(crate) flaw: Option<Flaw>,
    draws_of_process: Arc<AtomicU64>,
}

impl Reference {
    pub(crate) fn with(flaw: Flaw) -> Self {
        Self { flaw: Some(flaw), ..Self::default() }
    }
}

#[derive(Clone)]
pub(crate) struct ReferenceClient {
    policy: RetryPolicy,
    env: Env,
    flaw: Option<Flaw>,
    budget: Arc<Mutex<Budget>>,
    failures_of_client: Arc<AtomicU32>,
    draws_of_process: Arc<AtomicU64>,
}

/// What all runs of a client share.
#[derive(Default)]
struct Budget {
    runs: u32,
    retries: u32,
}

/// What one run knows.
#[derive(Default)]
struct Run {
    began: Duration,
    failures: u32,
    /// How many failures count against the retries.
    counted: u32,
    waited: Duration,
    first_error: Option<OperationError>,
    deadline: Duration,
}

impl RetrySubject for Reference {
    type Client = ReferenceClient;

    fn features(&self) -> Vec<RetryFeature> {
        use RetryFeature::*;
        vec![
            Layers,
            Growth,
            Factor,
            Jitter,
            Seed,
            Classes,
            WaitsDeadline,
            ElapsedDeadline,
            RetryAfter,
            RetryAfterMax,
            RetryAfterHeader,
            Budget,
            Announcements,
        ]
    }

    fn client(&self, policy: &RetryPolicy, env: Env) -> Result<ReferenceClient, String> {
        Ok(ReferenceClient {
            policy: policy.clone(),
            env: Env::clone(&env).with_rng(seeded(policy.seed)),
            flaw: self.flaw,
            budget: Arc::default(),
            failures_of_client: Arc::default(),
            draws_of_process: Arc::clone(&self.draws_of_process),
        })
    }
}

/// SplitMix64.
fn seeded(seed: u64) -> impl Fn() -> f64 {
    let state = AtomicU64::new(seed);
    move || {
        let mut mixed = state.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

impl RetryClient for ReferenceClient {
    async fn run(&self, operation: Operation) -> Result<(), RetryFailure> {
        if self.has(Flaw::RunsOnInATask) {
            let client = Self { flaw: None, ..self.clone() };
            let run = Run { deadline: Duration::MAX, ..Run::default() };
            return in_task(async move { client.attempts(run, &operation).await }).await;
        }
        let began = self.env.now();
        let limit = match self.flaw {
            Some(Flaw::EndsAtHalfOfElapsed) => self.policy.elapsed_max.map(|limit| limit / 2),
            _ => self.policy.elapsed_max,
        };
        let deadline = began.saturating_add(limit.unwrap_or(Duration::MAX));
        let run = Run { began, deadline, ..Run::default() };
        let is_bounded = !matches!(
            self.flaw,
            Some(Flaw::IgnoresElapsedMax | Flaw::LooksAtElapsedBetweenCalls | Flaw::LetsRetryAfterExtendTheDeadline)
        );
        let attempts = self.attempts(run, &operation);
        match limit.filter(|_| is_bounded) {
            None => attempts.await,
            Some(limit) => match self.env.timeout(limit, attempts).await {
                Ok(result) => result,
                Err(_elapsed) => Err(RetryFailure::GaveUp("the run took too long".to_owned())),
            },
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the flaw is that it does so")]
async fn in_task<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> T {
    tokio::spawn(future).await.unwrap()
}

impl ReferenceClient {
    fn has(&self, flaw: Flaw) -> bool {
        self.flaw == Some(flaw)
    }

    async fn attempts(&self, mut run: Run, operation: &Operation) -> Result<(), RetryFailure> {
        self.budget.lock().runs += 1;
        if self.has(Flaw::SleepsBeforeTheFirst) {
            self.env.sleep(self.policy.base).await;
        }
        let mut key = self.env.next_id("key");
        loop {
            let Err(error) = self.call(operation, &key).await else { return Ok(()) };
            run.first_error.get_or_insert_with(|| error.clone());
            let Some(wait) = self.next(&mut run, &error) else {
                if self.has(Flaw::SleepsAfterTheLast) {
                    self.env.sleep(self.policy.base).await;
                }
                return Err(self.given(run, error));
            };
            run.waited = run.waited.saturating_add(wait);
            self.announce(operation, wait);
            self.env.sleep(wait).await;
            if self.has(Flaw::LooksAtElapsedBetweenCalls) && self.env.now() > run.deadline {
                return Err(error.into());
            }
            if self.has(Flaw::RetriesUnderNewKeys) {
                key = self.env.next_id("key");
            }
        }
    }

    async fn call(&self, operation: &Operation, key: &str) -> Result<(), OperationError> {
        match self.flaw {
            Some(Flaw::Hedges) => join(operation.call_with_key(key), operation.call_with_key(key)).await.0,
            Some(Flaw::CallsInATask) => in_task(operation.call_with_key(key)).await,
            _ => operation.call_with_key(key).await,
        }
    }

    fn announce(&self, operation: &Operation, wait: Duration) {
        match self.flaw {
            Some(Flaw::AnnouncesTwice) => {
                operation.announce(wait);
                operation.announce(wait);
            }
            Some(Flaw::AnnouncesTheBase) => operation.announce(self.policy.base),
            _ => operation.announce(wait),
        }
    }

    fn given(&self, run: Run, mut error: OperationError) -> RetryFailure {
        if self.has(Flaw::GivesTheFirstError) {
            error = run.first_error.unwrap_or(error);
        }
        if self.has(Flaw::KeepsRetryAfterToItself) {
            error.retry_after = None;
        }
        error.into()
    }

    /// How long to wait before the next call; nothing, if there is none.
    fn next(&self, run: &mut Run, error: &OperationError) -> Option<Duration> {
        run.failures += 1;
        run.counted = match self.flaw {
            Some(Flaw::CountsNoCallThatAsks) if error.retry_after.is_some() => run.counted,
            Some(Flaw::CountsRetriesForEachClient) => self.failures_of_client.fetch_add(1, Ordering::Relaxed) + 1,
            _ => run.counted + 1,
        };
        if !self.is_allowed(run, error) {
            return None;
        }
        let wait = self.wait(run.failures, error)?;
        (self.is_in_time(run, wait, error) && self.takes_from_budget()).then_some(wait)
    }

    fn is_allowed(&self, run: &Run, error: &OperationError) -> bool {
        if error.class == ErrorClass::Permanent && !self.has(Flaw::RetriesPermanent) {
            return false;
        }
        let retries = self.policy.retries;
        match self.flaw {
            Some(Flaw::RetriesOnceMore) => run.counted <= retries.saturating_add(1),
            Some(Flaw::TakesZeroForDefault) if retries == 0 => run.counted <= 3,
            Some(Flaw::CountsAttemptsInRetriesPlusOne) => run.counted < retries.wrapping_add(1),
            _ => run.counted <= retries,
        }
    }

    fn is_in_time(&self, run: &Run, wait: Duration, error: &OperationError) -> bool {
        let waits_max = self.policy.waits_max.unwrap_or(Duration::MAX);
        let now = self.env.now();
        match self.flaw {
            Some(Flaw::IgnoresWaitsMax) => true,
            Some(Flaw::CountsCallsAsWaits) => (now - run.began).saturating_add(wait) <= waits_max,
            Some(Flaw::LetsRetryAfterExtendTheDeadline) if error.retry_after.is_some() => true,
            Some(Flaw::LetsRetryAfterExtendTheDeadline) if now.saturating_add(wait) > run.deadline => false,
            _ => run.waited.saturating_add(wait) <= waits_max,
        }
    }

    fn takes_from_budget(&self) -> bool {
        let Some(allowed) = self.policy.budget else { return true };
        let mut budget = self.budget.lock();
        let earned = match self.flaw {
            Some(Flaw::CountsTheBudgetForEachRun) => return true,
            // As tower does: a retry costs the reciprocal of the ratio, cut to a whole number.
            Some(Flaw::RoundsTheRatioUp) if allowed.ratio > 0.0 => {
                f64::from(budget.runs) / (1.0 / allowed.ratio).trunc()
            }
            _ => allowed.ratio * f64::from(budget.runs),
        };
        let reserve = if self.has(Flaw::GivesNoReserve) { 0 } else { allowed.reserve };
        let has_one = f64::from(budget.retries + 1) <= earned + f64::from(reserve);
        budget.retries += u32::from(has_one);
        has_one
    }
}

/// How long it waits.
impl ReferenceClient {
    fn wait(&self, failure: u32, error: &OperationError) -> Option<Duration> {
        let wait = self.jittered(self.grown(failure)?);
        let Some(mut asked) = self.asked(error) else { return Some(wait) };
        if !self.has(Flaw::IgnoresRetryAfterMax) {
            asked = asked.min(self.policy.retry_after_max.unwrap_or(Duration::MAX));
        }
        match self.flaw {
            Some(Flaw::IgnoresRetryAfter) => Some(wait),
            Some(Flaw::LetsRetryAfterOverride) => Some(asked),
            Some(Flaw::PanicsAtHugeRetryAfter) => Some(Duration::from_nanos(u64::try_from(asked.as_nanos()).unwrap())),
            _ => Some(wait.max(asked)),
        }
    }

    fn asked(&self, error: &OperationError) -> Option<Duration> {
        let header = error.retry_after_header.as_deref();
        let by_header = header.and_then(|header| match self.flaw {
            Some(Flaw::ReadsNoDates) => header.parse().ok().map(Duration::from_secs),
            Some(Flaw::PanicsAtGarbage) if !header.ends_with("GMT") => {
                Some(Duration::from_secs(header.parse().unwrap()))
            }
            _ => retry_after(429, &[("retry-after", header)], "", self.env.wall()),
        });
        error.retry_after.or(by_header)
    }

    fn grown(&self, failure: u32) -> Option<Duration> {
        let RetryPolicy { base, cap, factor, .. } = self.policy;
        let steps = failure - 1;
        let wait = match self.flaw {
            Some(Flaw::DoublesTheFirst) => self.policy.wait(failure + 1),
            Some(Flaw::GrowsLinearly) => base.saturating_mul(failure).min(cap),
            Some(Flaw::ShrinksEverySecond) if failure.is_multiple_of(2) => base / 2,
            Some(Flaw::ForgetsTheCap) => RetryPolicy { cap: Duration::MAX, ..self.policy.clone() }.wait(failure),
            Some(Flaw::WrapsToZero) => {
                let base_ms = u64::try_from(base.as_millis()).unwrap();
                Duration::from_millis(base_ms.wrapping_mul(2_u64.wrapping_pow(steps))).min(cap)
            }
            Some(Flaw::EndsAtOverflow) => base.checked_mul(2_u32.checked_pow(steps)?)?.min(cap),
            Some(Flaw::PanicsAtOverflow) => (base * 2_u32.saturating_pow(failure)).min(cap) / 2,
            Some(Flaw::TakesBaseZeroForNoRetry) if base.is_zero() => return None,
            Some(Flaw::TakesFactorOneForTwo) if factor <= 1.0 => {
                RetryPolicy { factor: 2.0, ..self.policy.clone() }.wait(failure)
            }
            Some(Flaw::PanicsAtOddFactors) => base.mul_f64(factor.powi(i32::try_from(steps).unwrap())).min(cap),
            _ => self.policy.wait(failure),
        };
        Some(wait)
    }

    /// Between half of it and all of it: never past the cap.
    fn jittered(&self, wait: Duration) -> Duration {
        if !self.policy.is_jittered {
            return wait;
        }
        let unit = match self.flaw {
            Some(Flaw::DrawsFromTheProcess) => {
                f64::from(u32::try_from(self.draws_of_process.fetch_add(1, Ordering::Relaxed) % 97).unwrap()) / 97.0
            }
            Some(Flaw::DrawsWithoutSeed) => 0.5,
            _ => self.env.unit("jitter"),
        };
        match self.flaw {
            Some(Flaw::JittersAfterTheCap) => wait.mul_f64(1.0 + unit),
            Some(Flaw::JittersHardly) => wait.mul_f64(1.0 - unit / 1000.0),
            _ => wait.mul_f64(1.0 - unit / 2.0),
        }
    }
}
