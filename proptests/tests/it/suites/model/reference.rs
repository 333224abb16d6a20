//! A transport that keeps every point, unless it is given a flaw.

use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::{StreamExt, stream};
use parking_lot::Mutex;
use windtunnel_core::env::Env;
use windtunnel_core::model::{
    Delta, FinishReason, ModelError, ModelErrorKind, ModelRequest, ModelResponse, ModelTransport, Usage,
};
use windtunnel_core::{BoxFuture, BoxStream};
use windtunnel_proptests::suites::{ModelService, ModelTransportSubject};

use super::flaws::Flaw;

/// Transports with a flaw, or none.
pub(crate) struct Reference(pub(crate) Option<Flaw>);

pub(crate) struct Transport {
    service: ModelService,
    flaw: Option<Flaw>,
    /// What the last request was answered.
    last: Mutex<Option<ModelResponse>>,
    open: AtomicUsize,
}

impl ModelTransportSubject for Reference {
    type Transport = Transport;

    fn transport(&self, service: ModelService, _env: Env) -> Transport {
        Transport { service, flaw: self.0, last: Mutex::default(), open: AtomicUsize::new(0) }
    }
}

/// How many may be under way in a transport that leaks.
const PLACES: usize = 8;

impl Transport {
    fn has(&self, flaw: Flaw) -> bool {
        self.flaw == Some(flaw)
    }

    fn asked(&self, request: &ModelRequest) -> ModelRequest {
        let mut request = request.clone();
        match self.flaw {
            Some(Flaw::DropsSystemMessages) => drop(request.messages.drain(..request.messages.len() - 1)),
            Some(Flaw::ForgetsTemperature) => request.temperature = None,
            Some(Flaw::MakesKeysOfItsOwn) => request.idempotency_key = Some("mine".to_owned()),
            Some(Flaw::ForgetsKeys) => request.idempotency_key = None,
            _ => {}
        }
        request
    }

    /// Takes a place for what begins. Only its end gives it back: what is dropped leaks.
    fn take(&self) -> Result<(), ModelError> {
        if self.open.fetch_add(1, Ordering::Relaxed) >= PLACES {
            return Err(ModelError::new(ModelErrorKind::Connection, "no place is left"));
        }
        Ok(())
    }

    fn error(&self, mut error: ModelError) -> ModelError {
        match self.flaw {
            Some(Flaw::TakesEveryErrorForTheServers) => error.kind = ModelErrorKind::Server,
            Some(Flaw::ForgetsRetryAfter) => error.retry_after = None,
            _ => {}
        }
        error
    }

    fn response(&self, mut response: ModelResponse) -> ModelResponse {
        match self.flaw {
            Some(Flaw::TrimsText) => response.message.content = response.message.content.trim().to_owned(),
            Some(Flaw::TakesEveryEndForStop) => response.finish_reason = FinishReason::Stop,
            Some(Flaw::CountsUsageTwice) => response.usage.add(response.usage),
            _ => {}
        }
        response
    }

    async fn whole(&self, request: &ModelRequest) -> Result<ModelResponse, ModelError> {
        if self.has(Flaw::LeaksDroppedCalls) {
            self.take()?;
            let response = self.service.complete(request).await;
            self.open.fetch_sub(1, Ordering::Relaxed);
            return response;
        }
        if self.has(Flaw::AsksTwice) {
            drop(self.service.complete(request).await);
        }
        if self.has(Flaw::SharesAnAnswer) {
            let response = self.service.complete(request).await?;
            *self.last.lock() = Some(response.clone());
            turn().await;
            return Ok(self.last.lock().clone().unwrap_or(response));
        }
        self.service.complete(request).await
    }

    /// All pieces at once: what makes it easy to do them wrong.
    fn changed(&self, mut pieces: Vec<Result<Delta, ModelError>>) -> Vec<Result<Delta, ModelError>> {
        let end = |pieces: &[Result<Delta, ModelError>]| {
            pieces.iter().position(|piece| matches!(piece, Ok(Delta::Finished { .. })))
        };
        let made_up = || Ok(Delta::Finished { finish_reason: FinishReason::Stop, usage: Usage::default() });
        match self.flaw {
            Some(Flaw::LosesAPiece) if pieces.len() > 2 => drop(pieces.remove(1)),
            Some(Flaw::BeginsCallsLate) => {
                pieces.sort_by_key(|piece| match piece {
                    Ok(Delta::Text(_)) => 0,
                    Ok(Delta::ToolCallStarted { index, .. }) => 10 - index,
                    _ => 20,
                });
            }
            Some(Flaw::EndsTwice) => {
                let again = end(&pieces).map(|end| pieces[end].clone());
                pieces.extend(again);
            }
            Some(Flaw::HasNoEnd) => pieces.retain(|piece| !matches!(piece, Ok(Delta::Finished { .. }))),
            Some(Flaw::TellsNoUsageInStreams) => {
                for piece in &mut pieces {
                    if let Ok(Delta::Finished { usage, .. }) = piece {
                        *usage = Usage::default();
                    }
                }
            }
            Some(Flaw::MakesUpAnEnd) if end(&pieces).is_none() => {
                pieces.retain(Result::is_ok);
                pieces.push(made_up());
            }
            Some(Flaw::SwallowsBreaks) => pieces.retain(Result::is_ok),
            _ => {}
        }
        pieces
    }
}

/// Lets others go first.
async fn turn() {
    let mut is_over = false;
    std::future::poll_fn(|context| {
        context.waker().wake_by_ref();
        if std::mem::replace(&mut is_over, true) { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
}

impl ModelTransport for Transport {
    fn complete<'a>(&'a self, request: &'a ModelRequest) -> BoxFuture<'a, Result<ModelResponse, ModelError>> {
        Box::pin(async move {
            let response = self.whole(&self.asked(request)).await;
            response.map(|response| self.response(response)).map_err(|error| self.error(error))
        })
    }

    fn stream<'a>(
        &'a self,
        request: &'a ModelRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<Delta, ModelError>>, ModelError>> {
        Box::pin(async move {
            let request = self.asked(request);
            if self.has(Flaw::LeaksDroppedStreams) {
                self.take()?;
            }
            let pieces = match self.service.stream(&request).await {
                Ok(stream) => stream.collect().await,
                Err(error) => return Err(self.error(error)),
            };
            let pieces: Vec<_> =
                self.changed(pieces).into_iter().map(|piece| piece.map_err(|e| self.error(e))).collect();
            let is_leaking = self.has(Flaw::LeaksDroppedStreams);
            let end = stream::iter([()]).filter_map(move |()| {
                if is_leaking {
                    self.open.fetch_sub(1, Ordering::Relaxed);
                }
                std::future::ready(None)
            });
            Ok(stream::iter(pieces).chain(end).boxed())
        })
    }
}
