//! The cassettes of a case, in one run.

use std::collections::BTreeSet;

use windtunnel_core::env::Env;
use windtunnel_core::json::Path;
use windtunnel_core::model::{Delta, ModelError, ModelRequest, ModelResponse, ModelTransport};
use windtunnel_core::tool::ToolSpec;
use windtunnel_core::{BoxFuture, BoxStream};
use windtunnel_fixtures::cassette::Exchange;
use windtunnel_fixtures::matching::{Kind, Leftover, Miss, Reason, Rules};
use windtunnel_fixtures::replay::{
    Answering, ModelReplayTransport, Repeats, Replay, ReplayOptions, ReplayTool, Timing, ToolReplayProvider,
};

use super::recorded::RecordedTraffic;
use super::shelf::{OnShelf, Shelf};

/// How many calls that were missed, and entries that are left, are told of a cassette.
const TOLD_MAX: usize = 10;

/// The cassettes of a case, each as far as it was consumed.
#[derive(Debug)]
pub(in crate::case) struct Playing {
    replays: Vec<Replay>,
}

/// What a run asked that was not recorded, and what it did not ask for, each as a sentence.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::case) struct Replayed {
    pub(in crate::case) misses: Vec<String>,
    pub(in crate::case) leftovers: Vec<String>,
}

/// A model that is answered from a cassette.
#[derive(Debug)]
pub(in crate::case) struct RecordedModel {
    model: ModelReplayTransport,
    /// Only the order of requests counts.
    is_blind: bool,
}

impl Shelf {
    /// All cassettes, of which nothing is consumed; times are those of `env`.
    pub(in crate::case) fn play(&self, env: &Env) -> Playing {
        let replays = self.cassettes.iter().map(|cassette| {
            let OnShelf { recorded, model, tools } = cassette;
            let options = ReplayOptions {
                rules: Rules { order: self.order, ignored: self.ignored.clone(), ..Rules::default() },
                timing: if self.keeps_times { Timing::Recorded(env.clone()) } else { Timing::AtOnce },
                answering: Answering::Of { models: model.is_some(), tools: tools.keys().cloned().collect() },
                repeats: Repeats::Answered,
            };
            Replay::of(&recorded.cassette, options)
        });
        Playing { replays: replays.collect() }
    }

    /// The model of a cassette.
    pub(in crate::case) fn model(&self, cassette: usize, playing: &Playing) -> RecordedModel {
        let is_blind = self.cassettes[cassette].recorded.model == RecordedTraffic::Http;
        RecordedModel { model: playing.replays[cassette].model(), is_blind }
    }

    /// What was missed and left in a run, in which faults came or did not.
    pub(in crate::case) fn replayed(&self, playing: &Playing, has_faults: bool) -> Replayed {
        let mut replayed = Replayed::default();
        let may_miss = has_faults && self.allows_missed_after_faults;
        for (cassette, replay) in self.cassettes.iter().zip(&playing.replays) {
            let Err(unfinished) = replay.finish() else { continue };
            // Who is not answered may ask again and again.
            let mut misses: Vec<_> = unfinished.misses.iter().map(|miss| cassette.tell_miss(miss)).collect();
            let mut told = BTreeSet::new();
            misses.retain(|miss| !may_miss && told.insert(miss.clone()));
            replayed.misses.extend(cassette.first_of(misses, "calls"));
            if self.allows_unconsumed {
                continue;
            }
            let leftovers = unfinished.leftovers.iter().map(|leftover| cassette.tell_leftover(leftover)).collect();
            replayed.leftovers.extend(cassette.first_of(leftovers, "entries"));
        }
        replayed
    }
}

impl Playing {
    /// A tool that is answered from a cassette.
    pub(in crate::case) fn tool(&self, cassette: usize, spec: ToolSpec) -> ReplayTool {
        self.replays[cassette].tool(&spec.name).with_spec(spec)
    }

    /// The tools of a program that are answered from a cassette.
    pub(in crate::case) fn tool_provider(&self, cassette: usize) -> ToolReplayProvider {
        self.replays[cassette].tool_provider()
    }
}

impl Drop for Playing {
    /// A case tells what was missed or left in its verdict, and not by a panic.
    fn drop(&mut self) {
        for replay in &self.replays {
            let _told_before = replay.finish();
        }
    }
}

impl OnShelf {
    /// The first of what is told, and how many more there are.
    fn first_of(&self, mut told: Vec<String>, what: &str) -> Vec<String> {
        let more = told.len().saturating_sub(TOLD_MAX);
        told.truncate(TOLD_MAX);
        told.extend((more > 0).then(|| format!("{}: and {more} more {what}", self.recorded.name)));
        told
    }

    fn tell_miss(&self, miss: &Miss) -> String {
        let path = match miss.subject.kind {
            Kind::Tool => self.tools.get(&miss.subject.name),
            _ => self.model.as_ref(),
        };
        let entry = match &miss.reason {
            Reason::AlreadyConsumed { index }
            | Reason::OutOfOrder { index, .. }
            | Reason::Changed { index, .. }
            | Reason::Dropped { index } => format!(" $.entries[{index}]:"),
            _ => String::new(),
        };
        format!("{}{entry} {miss}", self.place(path))
    }

    fn tell_leftover(&self, leftover: &Leftover) -> String {
        let Leftover { index, lane, subject } = leftover;
        let path = match self.recorded.entries().get(*index).map(|entry| &entry.exchange) {
            Some(Exchange::Tool(exchange)) => self.tools.get(&exchange.name),
            _ => self.model.as_ref(),
        };
        format!("{} $.entries[{index}] of lane {lane:?} was never asked for: {subject}", self.place(path))
    }

    /// Where the case names the cassette, and its file.
    fn place(&self, path: Option<&Path>) -> String {
        let path = path.map(|path| format!("{path}: ")).unwrap_or_default();
        format!("{path}{}:", self.recorded.name)
    }
}

impl ModelTransport for RecordedModel {
    fn complete<'a>(&'a self, request: &'a ModelRequest) -> BoxFuture<'a, Result<ModelResponse, ModelError>> {
        Box::pin(async move {
            if !self.is_blind {
                return self.model.complete(request).await;
            }
            let idempotency_key = request.idempotency_key.clone();
            self.model.complete(&ModelRequest { idempotency_key, ..ModelRequest::default() }).await
        })
    }

    fn stream<'a>(
        &'a self,
        request: &'a ModelRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<Delta, ModelError>>, ModelError>> {
        self.model.stream(request)
    }
}
