//! Our own transports, and those that record.

use futures_util::StreamExt;
use futures_util::future::LocalBoxFuture;
use tempfile::TempDir;
use windtunnel_core::env::Env;
use windtunnel_core::model::{Delta, ModelError, ModelRequest, ModelResponse, ModelTransport, ResponseBuilder};
use windtunnel_core::{BoxFuture, BoxStream};
use windtunnel_fixtures::record::{RecordedModel, Recorder};
use windtunnel_proptests::played::HandClock;
use windtunnel_proptests::suites::{ModelService, ModelTransportSubject, Stalled, model_transport_suite};
use windtunnel_sim::provider::{Dialect, Limits, Provider};

use crate::journals::store::folder;
use crate::suites::checked::settings;

/// A model that is recorded, into a folder that goes with it.
struct Recorded {
    model: RecordedModel<ModelService>,
    _folder: TempDir,
}

impl Recorded {
    fn new(service: ModelService, env: Env) -> Self {
        let folder = folder();
        let recorder = Recorder::create(folder.path().join("c.json"), env).unwrap();
        Self { model: recorder.model(service), _folder: folder }
    }
}

impl ModelTransport for Recorded {
    fn complete<'a>(&'a self, request: &'a ModelRequest) -> BoxFuture<'a, Result<ModelResponse, ModelError>> {
        self.model.complete(request)
    }

    fn stream<'a>(
        &'a self,
        request: &'a ModelRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<Delta, ModelError>>, ModelError>> {
        self.model.stream(request)
    }
}

/// Whole responses come as streams do, so that the two cannot differ.
struct Assembled(ModelService);

impl ModelTransport for Assembled {
    fn complete<'a>(&'a self, request: &'a ModelRequest) -> BoxFuture<'a, Result<ModelResponse, ModelError>> {
        Box::pin(async {
            let mut stream = self.0.stream(request).await?;
            let mut builder = ResponseBuilder::default();
            while let Some(delta) = stream.next().await {
                builder.push(delta?)?;
            }
            builder.finish()
        })
    }

    fn stream<'a>(
        &'a self,
        request: &'a ModelRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<Delta, ModelError>>, ModelError>> {
        self.0.stream(request)
    }
}

/// What cannot be without a runtime of tokio, which its adapter has.
struct OfRuntime(tokio::runtime::Runtime);

struct InRuntime(ModelService);

impl ModelTransportSubject for OfRuntime {
    type Transport = InRuntime;

    fn transport(&self, service: ModelService, _: Env) -> InRuntime {
        InRuntime(service)
    }

    fn drive(&self, _: &HandClock, future: LocalBoxFuture<'_, ()>) -> Result<(), Stalled> {
        self.0.block_on(future);
        Ok(())
    }
}

impl ModelTransport for InRuntime {
    fn complete<'a>(&'a self, request: &'a ModelRequest) -> BoxFuture<'a, Result<ModelResponse, ModelError>> {
        Box::pin(async {
            let _runtime = tokio::runtime::Handle::current();
            self.0.complete(request).await
        })
    }

    fn stream<'a>(
        &'a self,
        request: &'a ModelRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<Delta, ModelError>>, ModelError>> {
        Box::pin(async {
            let _runtime = tokio::runtime::Handle::current();
            self.0.stream(request).await
        })
    }
}

#[test]
fn a_model_is_run_where_its_adapter_says() {
    let subject = OfRuntime(tokio::runtime::Builder::new_current_thread().build().unwrap());
    model_transport_suite().run("in a runtime", &subject, &settings(4)).assert_kept();
}

#[test]
fn a_model_that_is_recorded_keeps_every_point() {
    model_transport_suite().run("recorded", &Recorded::new, &settings(12)).assert_kept();
}

#[test]
fn a_model_behind_limits_that_nobody_reaches_keeps_every_point() {
    // All that a case asks at once; a place that is not given back is missing soon.
    let limits = Limits { at_once: Some(10), ..Limits::default() };
    let subject = move |service: ModelService, env: Env| Provider::new(Dialect::Anthropic, limits).limit(env, service);
    model_transport_suite().run("limited", &subject, &settings(32)).assert_kept();
}

#[test]
fn our_builder_of_responses_assembles_what_the_suite_does() {
    let subject = |service: ModelService, _: Env| Assembled(service);
    model_transport_suite().run("assembled", &subject, &settings(64)).assert_kept();
}
