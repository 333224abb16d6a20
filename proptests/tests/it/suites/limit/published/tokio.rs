//! `tokio::sync::Semaphore`.

use std::sync::Arc;

use tokio::sync::Semaphore;
use windtunnel_core::env::Env;
use windtunnel_proptests::suites::{LimitFeature, LimitPolicy, LimitRefusal, LimitSubject, Limiter, Work, WorkError};

pub(super) struct Tokio;

/// Permits for calls at once, which are given back, and for all calls, which are not.
pub(super) struct Permits {
    at_once: Option<Arc<Semaphore>>,
    calls: Option<Semaphore>,
}

impl LimitSubject for Tokio {
    type Limiter = Permits;

    fn features(&self) -> Vec<LimitFeature> {
        vec![LimitFeature::CallsMax, LimitFeature::AtOnce, LimitFeature::Waits]
    }

    fn limiter(&self, limits: &LimitPolicy, _: Env) -> Result<Permits, String> {
        let at_once = limits.at_once.map(|permits| Arc::new(Semaphore::new(permits as usize)));
        let calls = limits.calls_max.map(|calls_max| usize::try_from(calls_max).map(Semaphore::new));
        Ok(Permits { at_once, calls: calls.transpose().map_err(|error| error.to_string())? })
    }
}

impl Limiter for Permits {
    async fn call(&self, work: Work) -> Result<(), LimitRefusal> {
        if let Some(calls) = &self.calls {
            calls.try_acquire().map_err(|error| LimitRefusal(error.to_string()))?.forget();
        }
        let _permit = match &self.at_once {
            None => None,
            Some(at_once) => Some(at_once.acquire().await.map_err(|error| LimitRefusal(error.to_string()))?),
        };
        let _ended: Result<(), WorkError> = work.run().await;
        Ok(())
    }
}
