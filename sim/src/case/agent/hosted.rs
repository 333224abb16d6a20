//! The tools, the model and the journal of a case as they run on hosts.

use std::sync::Arc;

use serde_json::Value;
use windtunnel_core::durable::{Commit, Decision, Fence, JournalLayer, JournalStore};
use windtunnel_core::env::Env;
use windtunnel_core::executor::ToolContext;
use windtunnel_core::model::{Delta, ModelError, ModelRequest, ModelResponse, ModelTransport};
use windtunnel_core::tool::{Tool, ToolSpec};
use windtunnel_core::{BoxError, BoxFuture, BoxStream};

use super::crashes::Place;
use super::model::OutsideModel;
use super::scene::Scene;
use super::tools::OutsideTool;
use crate::{Effects, Process};

/// A tool on its host. Its script is outside, and so survives the host.
pub(super) struct HostedTool {
    outside: Arc<OutsideTool>,
    scene: Arc<Scene>,
    effects: Effects,
    env: Env,
}

impl HostedTool {
    pub(super) fn new(outside: &Arc<OutsideTool>, scene: &Arc<Scene>, process: &Process) -> Self {
        Self { outside: Arc::clone(outside), scene: Arc::clone(scene), effects: process.effects(), env: process.env() }
    }
}

impl Tool for HostedTool {
    /// Policies are the caller's.
    fn spec(&self) -> ToolSpec {
        let ToolSpec { name, description, parameters, .. } = self.outside.spec().clone();
        ToolSpec::new(name, description, parameters)
    }

    fn call(&self, arguments: Arc<Value>, context: ToolContext) -> BoxFuture<'_, Result<Value, BoxError>> {
        Box::pin(async move {
            let (outside, log) = (&*self.outside, &self.scene.log);
            let (attempt, has_effect) = outside.begin(log, &arguments, &context);
            if has_effect {
                // Which operation it belongs to, the trace says in the end.
                let nowhere = Place { activation: 0, operation: None };
                if outside.have_effect(log, &arguments, &context, &nowhere) {
                    let key = context.idempotency_key().map(|key| &**key);
                    self.effects.happen(outside.name(), key).await;
                }
            }
            outside.end(log, attempt, &arguments, &context, &self.env).await
        })
    }
}

/// The model on its host.
#[derive(Debug)]
pub(super) struct HostedModel {
    pub(super) outside: Arc<OutsideModel>,
}

impl ModelTransport for HostedModel {
    fn complete<'a>(&'a self, request: &'a ModelRequest) -> BoxFuture<'a, Result<ModelResponse, ModelError>> {
        Box::pin(self.outside.answer(request))
    }

    fn stream<'a>(
        &'a self,
        request: &'a ModelRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<Delta, ModelError>>, ModelError>> {
        Box::pin(self.outside.stream(request))
    }
}

/// The store on its host, which is as durable as a disk. It says when there is something to look at.
pub(super) struct HostedStore {
    pub(super) scene: Arc<Scene>,
}

impl JournalLayer for HostedStore {
    fn inner(&self) -> &dyn JournalStore {
        &self.scene.store
    }

    fn commit_decision<'s>(&'s self, fence: &'s Fence, decision: Decision) -> BoxFuture<'s, Commit> {
        Box::pin(async move {
            let commit = self.scene.store.commit_decision(fence, decision).await;
            self.scene.changed.raise();
            commit
        })
    }
}
