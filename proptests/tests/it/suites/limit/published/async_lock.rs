//! `async_lock::Semaphore`.

use async_lock::Semaphore;
use windtunnel_core::env::Env;
use windtunnel_proptests::suites::{LimitFeature, LimitPolicy, LimitRefusal, LimitSubject, Limiter, Work, WorkError};

pub(super) struct AsyncLock;

pub(super) struct Permits(Option<Semaphore>);

impl LimitSubject for AsyncLock {
    type Limiter = Permits;

    fn features(&self) -> Vec<LimitFeature> {
        vec![LimitFeature::AtOnce, LimitFeature::Waits]
    }

    fn limiter(&self, limits: &LimitPolicy, _: Env) -> Result<Permits, String> {
        Ok(Permits(limits.at_once.map(|permits| Semaphore::new(permits as usize))))
    }
}

impl Limiter for Permits {
    async fn call(&self, work: Work) -> Result<(), LimitRefusal> {
        let _permit = match &self.0 {
            None => None,
            Some(at_once) => Some(at_once.acquire().await),
        };
        let _ended: Result<(), WorkError> = work.run().await;
        Ok(())
    }
}
