//! `leaky-bucket`.

use leaky_bucket::RateLimiter;
use windtunnel_core::env::Env;
use windtunnel_proptests::suites::{LimitFeature, LimitPolicy, LimitRefusal, LimitSubject, Limiter, Work, WorkError};

pub(super) struct LeakyBucket;

pub(super) struct Bucket(Option<RateLimiter>);

impl LimitSubject for LeakyBucket {
    type Limiter = Bucket;

    fn features(&self) -> Vec<LimitFeature> {
        vec![LimitFeature::Window]
    }

    /// A bucket that is filled up at the end of each window.
    fn limiter(&self, limits: &LimitPolicy, _: Env) -> Result<Bucket, String> {
        let (Some(calls_max), Some(window)) = (limits.calls_max, limits.window) else { return Ok(Bucket(None)) };
        let tokens = usize::try_from(calls_max).map_err(|error| error.to_string())?;
        let bucket = RateLimiter::builder().initial(tokens).max(tokens).refill(tokens).interval(window).build();
        Ok(Bucket(Some(bucket)))
    }
}

impl Limiter for Bucket {
    async fn call(&self, work: Work) -> Result<(), LimitRefusal> {
        if self.0.as_ref().is_some_and(|bucket| !bucket.try_acquire(1)) {
            return Err(LimitRefusal("the bucket is empty".to_owned()));
        }
        let _ended: Result<(), WorkError> = work.run().await;
        Ok(())
    }
}
