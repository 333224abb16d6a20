//! Secrets.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::schedule::scope;
use super::trial::{Seen, Trial, demand, is_same, needs, usual_order};
use super::{ReplayFeature, ReplaySetup, ReplaySubject, Replayed};
use crate::cases::{ReplayAnswer, ReplaySession};
use crate::played::HandClock;
use crate::strategies::{known_secrets, replay_sessions, told_secrets};
use crate::suites::driver::outcome;
use crate::suites::{Case, Point};

/// A session with secrets in some of its arguments and answers. Streams tell them in two pieces where there is an even
/// number of other ones.
#[derive(Clone, Debug, PartialEq)]
pub struct RedactionCase {
    /// What is recorded.
    pub session: ReplaySession,
    /// The secrets in it.
    pub secrets: Vec<String>,
    /// Whether whoever records is told them; else they look like what they are.
    pub is_told: bool,
}

impl Case for RedactionCase {}

pub(super) fn points<S: ReplaySubject>() -> Vec<Point<S>> {
    const TOLD: &[ReplayFeature] = &[ReplayFeature::Redaction];
    const IN_PIECES: &[ReplayFeature] = &[ReplayFeature::Redaction, ReplayFeature::Streams];
    const KNOWN: &[ReplayFeature] = &[ReplayFeature::KnownSecrets];
    vec![
        needs(TOLD, secret("redaction", "no secret that it is told is in the recording", true, absent)),
        needs(TOLD, secret("redaction_replays", "what was redacted still replays", true, replays)),
        needs(
            IN_PIECES,
            secret("redaction_in_pieces", "nor is half of a secret that a stream tells in two pieces", true, no_half),
        ),
        needs(KNOWN, secret("known_secrets", "no secret of a well-known form is in the recording", false, absent)),
        needs(KNOWN, secret("known_secrets_replay", "what was redacted by its form still replays", false, replays)),
    ]
}

fn secret<S: ReplaySubject>(
    id: &'static str,
    demand: &'static str,
    is_told: bool,
    check: impl AsyncFn(&Trial<'_, S>, &RedactionCase) -> Seen + Send + Sync + 'static,
) -> Point<S> {
    let cases = move |subject: &S| {
        let secrets = if is_told { told_secrets().boxed() } else { known_secrets().boxed() };
        (replay_sessions(scope(subject)), vec(secrets, 1..=3)).prop_map(move |(mut session, secrets)| {
            hide(&mut session, &secrets);
            RedactionCase { session, secrets, is_told }
        })
    };
    Point::property(id, demand, cases, move |subject: &S, case: &RedactionCase| {
        let secrets = if case.is_told { case.secrets.clone() } else { Vec::new() };
        let setup = ReplaySetup { order: usual_order(subject), secrets };
        let clock = HandClock::new();
        let trial = Trial::new(subject, &case.session, setup, &clock);
        outcome(id, check(&trial, case), |future| subject.drive(&clock, future))
    })
}

/// Puts the secrets, in turn, into the arguments of every second call, and into every third answer.
fn hide(session: &mut ReplaySession, secrets: &[String]) {
    let mut turns = secrets.iter().cycle();
    for (place, recorded) in session.calls.iter_mut().enumerate() {
        if let Some(secret) = turns.next().filter(|_| place % 2 == 0) {
            recorded.call.arguments = json!({"text": format!("use {secret} for it"), "rest": recorded.call.arguments});
        }
        let Some(secret) = turns.next().filter(|_| place % 3 == 0) else { continue };
        match &mut recorded.answer {
            ReplayAnswer::Value(value) => *value = json!({"seen": [secret], "value": value.take()}),
            ReplayAnswer::Failure(failure) => failure.message = format!("{} not for {secret} here", failure.message),
            ReplayAnswer::Stream { pieces, .. } if pieces.len() % 2 == 0 => {
                let (half, other) = halves(secret);
                pieces.extend([format!("with {half}"), format!("{other} now")]);
            }
            ReplayAnswer::Stream { pieces, .. } => pieces.push(format!("with {secret} now")),
        }
    }
}

fn halves(secret: &str) -> (&str, &str) {
    let middle = secret.char_indices().nth(secret.chars().count() / 2).map_or(0, |(middle, _)| middle);
    secret.split_at(middle)
}

async fn absent<S: ReplaySubject>(trial: &Trial<'_, S>, case: &RedactionCase) -> Seen {
    let bytes = trial.subject.bytes(&trial.recording().await?);
    case.secrets.iter().try_for_each(|secret| is_absent(&bytes, secret))
}

async fn no_half<S: ReplaySubject>(trial: &Trial<'_, S>, case: &RedactionCase) -> Seen {
    let bytes = trial.subject.bytes(&trial.recording().await?);
    let halves = case.secrets.iter().map(|secret| halves(secret));
    halves.flat_map(|(half, other)| [half, other]).try_for_each(|half| is_absent(&bytes, half))
}

fn is_absent(bytes: &[u8], text: &str) -> Seen {
    let is_there = bytes.windows(text.len().max(1)).any(|window| window == text.as_bytes());
    demand(!is_there, || format!("the recording has {text:?}"))
}

async fn replays<S: ReplaySubject>(trial: &Trial<'_, S>, case: &RedactionCase) -> Seen {
    let player = trial.player(&trial.recording().await?)?;
    for recorded in trial.calls() {
        let replayed = trial.subject.replay(&player, &recorded.call).await;
        // Where there was a secret, something else is.
        let had_secret = has_secret(&recorded.answer, &case.secrets);
        let is_so = match &replayed {
            Replayed::Answer(answer) => had_secret || is_same(answer, &recorded.answer),
            Replayed::Miss(_) => false,
        };
        demand(is_so, || format!("{} comes to {replayed:?}", recorded.call))?;
    }
    let _rest = trial.subject.rest(player);
    Ok(())
}

fn has_secret(answer: &ReplayAnswer, secrets: &[String]) -> bool {
    let text = match answer {
        ReplayAnswer::Value(value) => Value::to_string(value),
        ReplayAnswer::Failure(failure) => failure.message.clone(),
        ReplayAnswer::Stream { pieces, failure } => format!("{} {failure:?}", pieces.concat()),
    };
    secrets.iter().any(|secret| text.contains(secret))
}
