//! The model, which is outside of all processes.

use std::sync::Arc;

use parking_lot::Mutex;
use windtunnel_core::env::Env;
use windtunnel_core::model::{Delta, ModelError, ModelRequest, ModelResponse, ModelTransport, Role};
use windtunnel_core::{BoxFuture, BoxStream};

use super::crashes::CrashPoint;
use super::process::Process;
use crate::case::cassettes::RecordedModel;
use crate::case::script::draw_delay;
use crate::case::wire::Delay;
use crate::script::ScriptedModel;

/// The stream that the model's delays are drawn from.
const STREAM: &str = "case/model/delay";

/// The model, whoever asks.
#[derive(Debug)]
pub(super) enum OutsideModel {
    /// Plays its turns by how often it has spoken.
    Scripted(Box<TurnsModel>),
    /// Says what a cassette holds.
    Recorded {
        model: RecordedModel,
        /// What was asked, in order.
        requests: Mutex<Vec<ModelRequest>>,
    },
}

/// A model that follows the turns of a file.
#[derive(Debug)]
pub(super) struct TurnsModel {
    pub(super) script: ScriptedModel,
    /// How long each turn takes that answers, from the beginning of the conversation.
    pub(super) delays: Vec<Delay>,
    pub(super) env: Env,
}

/// The model as one process sees it.
pub(super) struct ProcessModel {
    outside: Arc<OutsideModel>,
    process: Process,
}

impl OutsideModel {
    pub(super) async fn answer(&self, request: &ModelRequest) -> Result<ModelResponse, ModelError> {
        match self {
            Self::Scripted(model) => model.answer(request).await,
            Self::Recorded { model, requests } => {
                requests.lock().push(request.clone());
                model.complete(request).await
            }
        }
    }

    pub(super) async fn stream<'a>(
        &'a self,
        request: &'a ModelRequest,
    ) -> Result<BoxStream<'a, Result<Delta, ModelError>>, ModelError> {
        match self {
            Self::Scripted(model) => model.script.stream(request).await,
            Self::Recorded { model, requests } => {
                requests.lock().push(request.clone());
                model.stream(request).await
            }
        }
    }

    /// What was asked, in order.
    pub(super) fn requests(&self) -> Vec<ModelRequest> {
        match self {
            Self::Scripted(model) => model.script.requests(),
            Self::Recorded { requests, .. } => requests.lock().clone(),
        }
    }
}

impl TurnsModel {
    async fn answer(&self, request: &ModelRequest) -> Result<ModelResponse, ModelError> {
        let answer = self.script.complete(request).await?;
        let spoken = request.messages.iter().filter(|message| message.role == Role::Assistant).count();
        let delay = self.delays.get(spoken).copied().unwrap_or_default();
        let delay = draw_delay(delay, || self.env.unit(STREAM));
        if !delay.is_zero() {
            self.env.until(self.env.now().saturating_add(delay)).await;
        }
        Ok(answer)
    }
}

impl ProcessModel {
    pub(super) fn new(process: Process) -> Self {
        Self { outside: Arc::clone(&process.scene.model), process }
    }
}

impl ModelTransport for ProcessModel {
    fn complete<'a>(&'a self, request: &'a ModelRequest) -> BoxFuture<'a, Result<ModelResponse, ModelError>> {
        Box::pin(async move {
            let answer = self.outside.answer(request).await?;
            let place = self.process.place_of(request.idempotency_key.as_deref().unwrap_or_default());
            self.process.pass(CrashPoint::AfterEffect, &place).await;
            Ok(answer)
        })
    }

    fn stream<'a>(
        &'a self,
        request: &'a ModelRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<Delta, ModelError>>, ModelError>> {
        Box::pin(self.outside.stream(request))
    }
}
