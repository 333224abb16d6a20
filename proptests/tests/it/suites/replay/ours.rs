//! Our own recordings, of tools and of models.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use tempfile::TempDir;
use windtunnel_core::env::Env;
use windtunnel_core::evaluator::{ErrorKind, ProviderCall, ProviderError, ToolDefinition, ToolFailure, ToolProvider};
use windtunnel_core::model::{
    Delta, FinishReason, Message, ModelError, ModelErrorKind, ModelRequest, ModelResponse, ModelTransport, Usage,
};
use windtunnel_core::{BoxFuture, BoxStream};
use windtunnel_fixtures::matching::{Order, Rules};
use windtunnel_fixtures::record::{Options, Recorder, Recording};
use windtunnel_fixtures::redaction;
use windtunnel_fixtures::replay::{Replay, ReplayOptions, Timing};
use windtunnel_proptests::cases::{ReplayAnswer, ReplayCall, ReplayFailure, ReplayOrder};
use windtunnel_proptests::suites::{
    LiveService, ReplayFeature, ReplayRest, ReplaySetup, ReplaySubject, Replayed, replay_suite,
};

use crate::journals::store::folder;
use crate::suites::checked::settings;

/// What is recorded, and how its calls look.
pub(crate) trait Kind: 'static {
    const FEATURES: &'static [ReplayFeature];

    async fn record(recorder: &Recorder, live: &LiveService, call: &ReplayCall) -> Replayed;

    async fn replay(replay: &Replay, call: &ReplayCall) -> Replayed;
}

/// Cassettes of one kind of calls, with recorded times or without.
pub(crate) struct Cassettes<K> {
    kind: std::marker::PhantomData<K>,
    keeps_times: bool,
}

impl<K> Cassettes<K> {
    pub(crate) fn new(keeps_times: bool) -> Self {
        Self { kind: std::marker::PhantomData, keeps_times }
    }
}

/// A replay that says what is left only when it is asked: whoever drops it has found something else.
pub(crate) struct Player(Replay);

impl Drop for Player {
    fn drop(&mut self) {
        drop(self.0.finish());
    }
}

fn lane(call: &ReplayCall) -> String {
    format!("lane-{}", call.lane)
}

fn redaction(setup: &ReplaySetup) -> redaction::Rules {
    setup.secrets.iter().fold(redaction::Rules::default(), |rules, secret| rules.secret(secret))
}

impl<K: Kind> ReplaySubject for Cassettes<K> {
    type Recorder = (Recorder, LiveService, TempDir);
    type Recording = TempDir;
    type Player = Player;

    fn features(&self) -> Vec<ReplayFeature> {
        K::FEATURES.to_vec()
    }

    fn recorder(&self, live: LiveService, setup: &ReplaySetup, env: Env) -> Self::Recorder {
        let folder = folder();
        let options = Options { redaction: redaction(setup) };
        let recording = Recording::create_with(folder.path().join("c.json"), env, options).unwrap();
        (Recorder::on(recording), live, folder)
    }

    async fn record(&self, (recorder, live, _): &Self::Recorder, call: &ReplayCall) -> ReplayAnswer {
        match K::record(recorder, live, call).await {
            Replayed::Answer(answer) => answer,
            Replayed::Miss(message) => ReplayAnswer::Failure(ReplayFailure { message, may_pass: false }),
        }
    }

    fn finish(&self, (recorder, _, folder): Self::Recorder) -> Result<TempDir, String> {
        recorder.finish().map_err(|error| error.to_string())?;
        Ok(folder)
    }

    fn bytes(&self, folder: &TempDir) -> Vec<u8> {
        let files = fs::read_dir(folder.path()).unwrap();
        files.flat_map(|file| fs::read(file.unwrap().path()).unwrap()).collect()
    }

    fn player(&self, folder: &TempDir, _: LiveService, setup: &ReplaySetup, env: Env) -> Result<Player, String> {
        let cassette = windtunnel_fixtures::cassette::load(folder.path().join("c.json"));
        let order = match setup.order {
            ReplayOrder::Strict => Order::Strict,
            ReplayOrder::Keyed => Order::Keyed,
        };
        let options = ReplayOptions {
            rules: Rules { order, redaction: redaction(setup), ..Rules::default() },
            timing: if self.keeps_times { Timing::Recorded(env) } else { Timing::AtOnce },
            ..ReplayOptions::default()
        };
        let replay = Replay::with(cassette.map_err(|error| error.to_string())?, options);
        replay.map(Player).map_err(|error| error.to_string())
    }

    async fn replay(&self, player: &Player, call: &ReplayCall) -> Replayed {
        K::replay(&player.0, call).await
    }

    fn rest(&self, player: Player) -> ReplayRest {
        match player.0.finish() {
            Ok(()) => ReplayRest::default(),
            Err(unfinished) => {
                let missed = usize::try_from(unfinished.missed).unwrap();
                ReplayRest { left: unfinished.leftovers.len(), missed }
            }
        }
    }
}

/// The tools of a program.
pub(crate) struct Tools;

struct LiveTools<'a>(&'a LiveService, &'a ReplayCall);

impl ToolProvider for LiveTools<'_> {
    fn list(&self) -> BoxFuture<'_, Result<Vec<Arc<ToolDefinition>>, ProviderError>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn call<'a>(&'a self, _: ProviderCall<'a>) -> BoxFuture<'a, Result<Value, ProviderError>> {
        Box::pin(async {
            match self.0.call(self.1).await {
                ReplayAnswer::Value(value) => Ok(value),
                ReplayAnswer::Failure(ReplayFailure { message, may_pass: true }) => {
                    Err(ToolFailure::execution(message).into())
                }
                ReplayAnswer::Failure(ReplayFailure { message, may_pass: false }) => {
                    Err(ToolFailure::refused(message).into())
                }
                ReplayAnswer::Stream { .. } => Err(ToolFailure::response("tools do not stream").into()),
            }
        })
    }
}

async fn call_tool(provider: impl ToolProvider, call: &ReplayCall) -> Replayed {
    match provider.call(ProviderCall::new(&call.name, call.arguments.clone(), "evaluation-1", 0)).await {
        Ok(value) => Replayed::Answer(ReplayAnswer::Value(value)),
        Err(ProviderError::Failed(failure)) if failure.kind() == ErrorKind::ReplayMismatch => {
            Replayed::Miss(failure.message().to_owned())
        }
        Err(ProviderError::Failed(failure)) => Replayed::Answer(ReplayAnswer::Failure(ReplayFailure {
            message: failure.message().to_owned(),
            may_pass: failure.kind() == ErrorKind::ToolExecution,
        })),
        Err(interrupted) => Replayed::Miss(interrupted.to_string()),
    }
}

impl Kind for Tools {
    const FEATURES: &'static [ReplayFeature] = {
        use ReplayFeature::*;
        &[StrictOrder, KeyedOrder, Lanes, Failures, Leftovers, Redaction, KnownSecrets]
    };

    async fn record(recorder: &Recorder, live: &LiveService, call: &ReplayCall) -> Replayed {
        call_tool(recorder.lane(lane(call)).tool_provider(LiveTools(live, call)), call).await
    }

    async fn replay(replay: &Replay, call: &ReplayCall) -> Replayed {
        call_tool(replay.lane(lane(call)).tool_provider(), call).await
    }
}

/// Models, whose answers may be streams.
pub(crate) struct Models;

struct LiveModel<'a>(&'a LiveService, &'a ReplayCall);

fn model_error(failure: ReplayFailure) -> ModelError {
    match failure.may_pass {
        true => ModelError {
            retry_after: Some(Duration::from_secs(7)),
            ..ModelError::new(ModelErrorKind::Overloaded, failure.message)
        },
        false => ModelError::new(ModelErrorKind::InvalidRequest, failure.message),
    }
}

fn answered(error: ModelError) -> Result<ReplayFailure, Replayed> {
    match error.kind {
        ModelErrorKind::ReplayMismatch => Err(Replayed::Miss(error.message)),
        kind => Ok(ReplayFailure { message: error.message, may_pass: kind.is_retryable() }),
    }
}

const END: Delta =
    Delta::Finished { finish_reason: FinishReason::Stop, usage: Usage { input_tokens: 1, output_tokens: 1 } };

impl ModelTransport for LiveModel<'_> {
    fn complete<'a>(&'a self, _: &'a ModelRequest) -> BoxFuture<'a, Result<ModelResponse, ModelError>> {
        Box::pin(async {
            let value = match self.0.call(self.1).await {
                ReplayAnswer::Value(value) => value,
                ReplayAnswer::Failure(failure) => return Err(model_error(failure)),
                ReplayAnswer::Stream { .. } => Value::Null,
            };
            let message = Message::assistant(value.to_string());
            Ok(ModelResponse { message, finish_reason: FinishReason::Stop, usage: Usage::default() })
        })
    }

    fn stream<'a>(
        &'a self,
        _: &'a ModelRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<Delta, ModelError>>, ModelError>> {
        Box::pin(async {
            match self.0.call(self.1).await {
                ReplayAnswer::Stream { pieces, failure } => {
                    let end = failure.map_or(Ok(END), |failure| Err(model_error(failure)));
                    let pieces = pieces.into_iter().map(|piece| Ok(Delta::Text(piece)));
                    Ok(stream::iter(pieces.chain([end])).boxed())
                }
                ReplayAnswer::Failure(failure) => Err(model_error(failure)),
                ReplayAnswer::Value(_) => Ok(stream::empty().boxed()),
            }
        })
    }
}

async fn call_model(model: impl ModelTransport, call: &ReplayCall) -> Replayed {
    let asked = json!({"name": call.name, "arguments": call.arguments}).to_string();
    let request = ModelRequest { messages: vec![Message::user(asked)], ..ModelRequest::default() };
    let called = if call.is_streamed { read(&model, &request).await } else { complete(&model, &request).await };
    called.unwrap_or_else(|error| match answered(error) {
        Ok(failure) => Replayed::Answer(ReplayAnswer::Failure(failure)),
        Err(miss) => miss,
    })
}

async fn complete(model: &impl ModelTransport, request: &ModelRequest) -> Result<Replayed, ModelError> {
    let response = model.complete(request).await?;
    let value = serde_json::from_str(&response.message.content).unwrap();
    Ok(Replayed::Answer(ReplayAnswer::Value(value)))
}

async fn read(model: &impl ModelTransport, request: &ModelRequest) -> Result<Replayed, ModelError> {
    let mut stream = model.stream(request).await?;
    let (mut pieces, mut failure, mut is_whole) = (Vec::new(), None, false);
    while let Some(item) = stream.next().await {
        match item {
            Ok(Delta::Text(piece)) => pieces.push(piece),
            Ok(delta) => is_whole = delta == END,
            Err(error) => match answered(error) {
                Ok(answered) => failure = Some(answered),
                Err(miss) => return Ok(miss),
            },
        }
    }
    assert!(is_whole != failure.is_some(), "a stream is whole or breaks");
    Ok(Replayed::Answer(ReplayAnswer::Stream { pieces, failure }))
}

impl Kind for Models {
    const FEATURES: &'static [ReplayFeature] = &ReplayFeature::ALL;

    async fn record(recorder: &Recorder, live: &LiveService, call: &ReplayCall) -> Replayed {
        call_model(recorder.lane(lane(call)).model(LiveModel(live, call)), call).await
    }

    async fn replay(replay: &Replay, call: &ReplayCall) -> Replayed {
        call_model(replay.lane(lane(call)).model(), call).await
    }
}

#[test]
fn recorded_tools_keep_every_point() {
    replay_suite().run("tools", &Cassettes::<Tools>::new(false), &settings(16)).assert_kept();
}

#[test]
fn recorded_models_keep_every_point() {
    let report = replay_suite().run("models", &Cassettes::<Models>::new(false), &settings(16));
    report.assert_kept();
    assert_eq!(report.not_applicable(), [""; 0]);
}

#[test]
fn recorded_models_keep_every_point_with_recorded_times_too() {
    replay_suite().run("models in time", &Cassettes::<Models>::new(true), &settings(8)).assert_kept();
}
