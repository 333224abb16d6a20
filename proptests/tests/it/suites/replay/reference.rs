//! A record/replay system in memory that keeps every point, unless it is given a flaw.

use std::cell::RefCell;
use std::collections::BTreeMap;

use windtunnel_core::env::Env;
use windtunnel_proptests::cases::{ReplayAnswer, ReplayCall, ReplayFailure, ReplayOrder};
use windtunnel_proptests::suites::{LiveService, ReplayRest, ReplaySetup, ReplaySubject, Replayed};

use super::flaws::Flaw;

/// The system with a flaw, or without.
pub(crate) struct Reference(pub(crate) Option<Flaw>);

type Entry = (ReplayCall, ReplayAnswer);

pub(crate) struct Recorder {
    live: LiveService,
    setup: ReplaySetup,
    /// Without an answer until there is one.
    entries: RefCell<Vec<(ReplayCall, Option<ReplayAnswer>)>>,
}

#[derive(Clone)]
pub(crate) struct Recording {
    entries: Vec<Entry>,
    /// How often it was replayed.
    players: std::rc::Rc<std::cell::Cell<u32>>,
}

pub(crate) struct Player {
    live: LiveService,
    setup: ReplaySetup,
    state: RefCell<State>,
}

struct State {
    /// Nothing where it was given out.
    entries: Vec<Option<Entry>>,
    missed: usize,
    /// The last answer of each name, whoever asked.
    last: BTreeMap<String, ReplayAnswer>,
}

/// What takes a secret's place.
const REDACTED: &str = "REDACTED";

impl Reference {
    fn has(&self, flaw: Flaw) -> bool {
        self.0 == Some(flaw)
    }

    /// A text without the secrets that are told, and those that look like some.
    fn redacted(&self, text: &str, setup: &ReplaySetup) -> String {
        let mut text = text.to_owned();
        if !self.has(Flaw::IgnoresToldSecrets) {
            text = setup.secrets.iter().fold(text, |text, secret| text.replace(secret.as_str(), REDACTED));
        }
        if self.has(Flaw::KnowsNoSecrets) {
            return text;
        }
        let is_secret =
            |word: &str| ["ghp_", "sk-", "AKIA", "xoxb-", "hf_"].iter().any(|beginning| word.starts_with(beginning));
        let is_part = |character: char| character.is_ascii_alphanumeric() || "-_".contains(character);
        let mut redacted = String::new();
        for word in text.split_inclusive(|character| !is_part(character)) {
            let (bare, end) = word.split_at(word.trim_end_matches(|character| !is_part(character)).len());
            redacted += if is_secret(bare) { REDACTED } else { bare };
            redacted += end;
        }
        redacted
    }

    fn redacted_call(&self, call: &ReplayCall, setup: &ReplaySetup) -> ReplayCall {
        let arguments = self.redacted(&call.arguments.to_string(), setup);
        ReplayCall { arguments: serde_json::from_str(&arguments).unwrap(), ..call.clone() }
    }

    fn redacted_answer(&self, answer: &ReplayAnswer, setup: &ReplaySetup) -> ReplayAnswer {
        let failed = |failure: &ReplayFailure| ReplayFailure {
            message: self.redacted(&failure.message, setup),
            may_pass: failure.may_pass && !self.has(Flaw::ForgetsWhatMayPass),
        };
        match answer {
            ReplayAnswer::Value(value) => {
                ReplayAnswer::Value(serde_json::from_str(&self.redacted(&value.to_string(), setup)).unwrap())
            }
            ReplayAnswer::Failure(failure) => ReplayAnswer::Failure(failed(failure)),
            ReplayAnswer::Stream { pieces, failure } => {
                let whole = self.redacted(&pieces.concat(), setup);
                let mut pieces: Vec<_> = pieces.iter().map(|piece| self.redacted(piece, setup)).collect();
                let has_more = whole != pieces.concat() && !self.has(Flaw::RedactsPieceByPiece);
                if self.has(Flaw::JoinsPieces) || has_more {
                    pieces = vec![whole];
                }
                let failure = failure.as_ref().map(failed).filter(|_| !self.has(Flaw::ForgetsBreaks));
                ReplayAnswer::Stream { pieces, failure }
            }
        }
    }

    /// The place of the entry that answers a call.
    fn find(&self, entries: &[Option<Entry>], call: &ReplayCall, order: ReplayOrder) -> Option<usize> {
        let is_of_lane = |entry: &Entry| self.has(Flaw::MixesLanes) || entry.0.lane == call.lane;
        let is_call = |entry: &Entry| {
            let lane = if self.has(Flaw::MixesLanes) { entry.0.lane } else { call.lane };
            let arguments = if self.has(Flaw::ComparesNamesOnly) { &entry.0.arguments } else { &call.arguments };
            entry.0.is(&ReplayCall { lane, arguments: arguments.clone(), ..call.clone() })
        };
        let mut left = entries.iter().enumerate().filter_map(|(place, entry)| Some((place, entry.as_ref()?)));
        let is_strict = match self.0 {
            Some(Flaw::NeedsNoOrder) => false,
            Some(Flaw::NeedsOrderAlways) => true,
            _ => order == ReplayOrder::Strict,
        };
        if is_strict {
            return left
                .find(|(_, entry)| is_of_lane(entry))
                .filter(|(_, entry)| is_call(entry))
                .map(|(place, _)| place);
        }
        let mut fitting = left.filter(|(_, entry)| is_of_lane(entry) && is_call(entry));
        let found = if self.has(Flaw::GivesTheLastFirst) { fitting.next_back() } else { fitting.next() };
        found.map(|(place, _)| place)
    }
}

impl ReplaySubject for Reference {
    type Recorder = Recorder;
    type Recording = Recording;
    type Player = Player;

    fn recorder(&self, live: LiveService, setup: &ReplaySetup, _env: Env) -> Recorder {
        Recorder { live, setup: setup.clone(), entries: RefCell::default() }
    }

    async fn record(&self, recorder: &Recorder, call: &ReplayCall) -> ReplayAnswer {
        let place = recorder.entries.borrow().len();
        let begun = (self.redacted_call(call, &recorder.setup), None);
        recorder.entries.borrow_mut().push(begun);
        let answer = recorder.live.call(call).await;
        let kept = self.redacted_answer(&answer, &recorder.setup);
        // One that takes the entry that was begun last for its own mixes what is recorded at once.
        let own = if self.has(Flaw::RecordsIntoTheLast) { recorder.entries.borrow().len() - 1 } else { place };
        recorder.entries.borrow_mut()[own].1 = Some(kept.clone());
        if self.has(Flaw::GivesWhatItKeeps) { changed(kept) } else { answer }
    }

    fn finish(&self, recorder: Recorder) -> Result<Recording, String> {
        let nothing = || self.has(Flaw::KeepsDroppedCalls).then_some(ReplayAnswer::Value(serde_json::Value::Null));
        let entries = recorder.entries.into_inner().into_iter();
        let mut entries: Vec<_> = entries.filter_map(|(call, answer)| Some((call, answer.or_else(nothing)?))).collect();
        if self.has(Flaw::LosesTheLast) && entries.len() > 2 {
            entries.pop();
        }
        Ok(Recording { entries, players: Default::default() })
    }

    fn bytes(&self, recording: &Recording) -> Vec<u8> {
        format!("{:?}", recording.entries).into_bytes()
    }

    fn player(&self, recording: &Recording, live: LiveService, setup: &ReplaySetup, _: Env) -> Result<Player, String> {
        let players = recording.players.replace(recording.players.get() + 1);
        if self.has(Flaw::PlaysOnce) && players > 0 {
            return Err("the recording is used up".to_owned());
        }
        let entries = recording.entries.iter().cloned().map(Some).collect();
        let state = State { entries, missed: 0, last: BTreeMap::new() };
        Ok(Player { live, setup: setup.clone(), state: RefCell::new(state) })
    }

    async fn replay(&self, player: &Player, call: &ReplayCall) -> Replayed {
        let asked = match self.0 {
            Some(Flaw::ComparesWithSecrets) => call.clone(),
            _ => self.redacted_call(call, &player.setup),
        };
        let found = self.find(&player.state.borrow().entries, &asked, player.setup.order);
        let missed = {
            let mut state = player.state.borrow_mut();
            if let Some((_, answer)) = found.and_then(|place| state.entries[place].take()) {
                state.last.insert(call.name.clone(), answer.clone());
                return Replayed::Answer(answer);
            }
            state.missed += 1;
            match self.0 {
                Some(Flaw::AnswersAgain) => state.last.get(&call.name).cloned(),
                Some(Flaw::UsesUpAtAMiss) => state.entries.iter_mut().find_map(Option::take).and(None),
                _ => None,
            }
        };
        if self.has(Flaw::AsksTheLiveSide) {
            return Replayed::Answer(player.live.call(call).await);
        }
        missed.map_or_else(|| Replayed::Miss("not recorded".to_owned()), Replayed::Answer)
    }

    fn rest(&self, player: Player) -> ReplayRest {
        let State { entries, missed, .. } = player.state.into_inner();
        let left = if self.has(Flaw::TellsNoRest) { 0 } else { entries.iter().flatten().count() };
        ReplayRest { left, missed }
    }
}

/// Not what the live side answered.
fn changed(answer: ReplayAnswer) -> ReplayAnswer {
    match answer {
        ReplayAnswer::Value(value) => ReplayAnswer::Value(value.to_string().into()),
        other => other,
    }
}
