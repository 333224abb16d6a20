//! `tower::limit::ConcurrencyLimit`.

use std::convert::Infallible;

use tower::limit::ConcurrencyLimit;
use tower::util::BoxCloneSyncService;
use tower::{Service, ServiceExt, service_fn};
use windtunnel_core::env::Env;
use windtunnel_proptests::suites::{LimitFeature, LimitPolicy, LimitRefusal, LimitSubject, Limiter, Work, WorkError};

pub(super) struct Tower;

/// The service does the work that it is asked to. Clones share their permits.
pub(super) struct Limited(BoxCloneSyncService<Work, (), Infallible>);

impl LimitSubject for Tower {
    type Limiter = Limited;

    fn features(&self) -> Vec<LimitFeature> {
        vec![LimitFeature::AtOnce, LimitFeature::Waits]
    }

    fn limiter(&self, limits: &LimitPolicy, _: Env) -> Result<Limited, String> {
        let service = service_fn(|work: Work| async {
            let _ended: Result<(), WorkError> = work.run().await;
            Ok(())
        });
        Ok(Limited(match limits.at_once {
            None => BoxCloneSyncService::new(service),
            Some(at_once) => BoxCloneSyncService::new(ConcurrencyLimit::new(service, at_once as usize)),
        }))
    }
}

impl Limiter for Limited {
    async fn call(&self, work: Work) -> Result<(), LimitRefusal> {
        let mut service = self.0.clone();
        let ready = service.ready().await.map_err(|never| match never {})?;
        ready.call(work).await.map_err(|never| match never {})
    }
}
