//! A provider that keeps every point, unless it is given a flaw.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use serde_json::{Value, json};
use windtunnel_core::BoxFuture;
use windtunnel_core::env::Env;
use windtunnel_core::evaluator::{ErrorKind, ProviderCall, ProviderError, ToolDefinition, ToolFailure, ToolProvider};
use windtunnel_proptests::suites::{ToolProviderSubject, ToolService};

use super::flaws::Flaw;

/// Providers with a flaw, or none.
pub(crate) struct Reference(pub(crate) Option<Flaw>);

pub(crate) struct Provider {
    service: ToolService,
    flaw: Option<Flaw>,
    lists: AtomicUsize,
    open: AtomicUsize,
    /// The last result.
    last: Mutex<Value>,
    running: Mutex<Vec<BoxFuture<'static, ()>>>,
}

impl ToolProviderSubject for Reference {
    type Provider = Provider;

    fn provider(&self, service: ToolService, _env: Env) -> Provider {
        Provider {
            service,
            flaw: self.0,
            lists: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
            last: Mutex::default(),
            running: Mutex::default(),
        }
    }
}

/// How many calls may be under way in a provider that leaks.
const PLACES: usize = 8;

impl Provider {
    fn has(&self, flaw: Flaw) -> bool {
        self.flaw == Some(flaw)
    }

    fn failure(&self, failure: ToolFailure) -> ProviderError {
        let (kind, message) = (failure.kind(), failure.message().to_owned());
        match self.flaw {
            Some(Flaw::TellsCauses) => {
                let cause = std::error::Error::source(&failure).map(ToString::to_string).unwrap_or_default();
                ToolFailure::recorded(kind, format!("{message}: {cause}")).into()
            }
            Some(Flaw::TakesEveryFailureForExecution) => ToolFailure::execution(message).into(),
            Some(Flaw::TakesTimeoutsForUnclassified) if kind == ErrorKind::Timeout => {
                ToolFailure::recorded(ErrorKind::Unclassified, message).into()
            }
            Some(Flaw::TakesFailuresForUnclassified) if kind == ErrorKind::ToolExecution => {
                ToolFailure::recorded(ErrorKind::Unclassified, message).into()
            }
            Some(Flaw::ForgetsMessages) => ToolFailure::recorded(kind, "it failed").into(),
            Some(Flaw::TakesRejectionsForExecution) if kind == ErrorKind::AstValidation => {
                ToolFailure::execution(message).into()
            }
            _ => failure.into(),
        }
    }

    fn result(&self, value: Value) -> Value {
        match self.flaw {
            Some(Flaw::GivesNumbersAsFloats) => floats(value),
            Some(Flaw::GivesText) => Value::from(value.to_string()),
            _ => value,
        }
    }

    async fn called(&self, mut call: ProviderCall<'_>) -> Result<Value, ProviderError> {
        match self.flaw {
            Some(Flaw::CallsTheFirstForUnknown) => {
                let tools = self.service.tools();
                if tools.iter().all(|tool| tool.name != call.tool) {
                    return Ok(json!(format!("{:?}", self.service.play(&tools[0].name, &call.arguments).await)));
                }
            }
            Some(Flaw::ChecksNothing) if self.service.definition(call.tool).await.is_ok() => {
                return Ok(json!(format!("{:?}", self.service.play(call.tool, &call.arguments).await)));
            }
            Some(Flaw::ChangesArguments) => call.arguments = floats(call.arguments),
            Some(Flaw::CallsTwice) => {
                drop(self.service.play(call.tool, &call.arguments).await);
            }
            Some(Flaw::OffersWhatItHasNot) if call.tool == self.service.tools()[0].name => {
                return Err(ToolFailure::not_found().into());
            }
            Some(Flaw::TakesControlFlowForFailure) => {
                return match self.service.call(call).await {
                    Err(ProviderError::Interrupted(_)) => Err(ToolFailure::execution("cancelled").into()),
                    called => called,
                };
            }
            _ => {}
        }
        self.service.call(call).await
    }

    /// Runs on when its caller is gone.
    fn detached(&self, call: &ProviderCall<'_>) {
        let (service, tool, arguments) = (self.service.clone(), call.tool.to_owned(), call.arguments.clone());
        let mut running: BoxFuture<'static, ()> = Box::pin(async move { drop(service.play(&tool, &arguments).await) });
        let context = &mut std::task::Context::from_waker(std::task::Waker::noop());
        if running.as_mut().poll(context).is_pending() {
            self.running.lock().push(running);
        }
    }
}

fn floats(value: Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(elements) => elements.into_iter().map(floats).collect(),
        Value::Object(members) => members.into_iter().map(|(name, value)| (name, floats(value))).collect(),
        other => other,
    }
}

impl ToolProvider for Provider {
    fn list(&self) -> BoxFuture<'_, Result<Vec<Arc<ToolDefinition>>, ProviderError>> {
        Box::pin(async {
            let mut listed = self.service.list().await?;
            let lists = self.lists.fetch_add(1, Ordering::Relaxed);
            match self.flaw {
                Some(Flaw::ListsOneTwice) => listed.push(Arc::clone(&listed[0])),
                Some(Flaw::ListsInTurns) => {
                    let turns = lists % listed.len();
                    listed.rotate_left(turns);
                }
                Some(Flaw::ListsNoTwin) => listed.dedup_by_key(|definition| definition.name().to_lowercase()),
                Some(Flaw::ListsAnySchema) => {
                    let any = |definition: &Arc<ToolDefinition>| {
                        let schema = json!({"type": "object"});
                        ToolDefinition::with_input_schema(definition.name(), definition.description(), &schema)
                    };
                    listed =
                        listed.iter().map(any).map(|made| Ok(Arc::new(made?))).collect::<Result<_, ProviderError>>()?;
                }
                _ => {}
            }
            Ok(listed)
        })
    }

    fn definition<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Arc<ToolDefinition>, ProviderError>> {
        Box::pin(async move {
            if self.has(Flaw::DefinesByBeginning) {
                let listed = self.service.list().await?;
                let found = listed.into_iter().find(|definition| name.starts_with(definition.name()));
                return found.ok_or_else(|| ToolFailure::not_found().into());
            }
            let listed = self.list().await?.into_iter().find(|definition| definition.name() == name);
            listed.ok_or_else(|| ToolFailure::not_found().into())
        })
    }

    fn call<'a>(&'a self, call: ProviderCall<'a>) -> BoxFuture<'a, Result<Value, ProviderError>> {
        Box::pin(async move {
            if self.has(Flaw::RunsOn) {
                self.detached(&call);
            }
            if self.has(Flaw::LeaksPlaces) && self.open.fetch_add(1, Ordering::Relaxed) >= PLACES {
                return Err(ToolFailure::refused("no place is left").into());
            }
            let called = self.called(call).await;
            if self.has(Flaw::LeaksPlaces) {
                self.open.fetch_sub(1, Ordering::Relaxed);
            }
            if self.has(Flaw::SharesAResult)
                && let Ok(value) = &called
            {
                *self.last.lock() = value.clone();
                self.service.play("", &json!({"call": 0})).await;
                return Ok(self.last.lock().clone());
            }
            match called {
                Ok(value) => Ok(self.result(value)),
                Err(ProviderError::Failed(failure)) => Err(self.failure(failure)),
                Err(interrupted) => Err(interrupted),
            }
        })
    }
}
