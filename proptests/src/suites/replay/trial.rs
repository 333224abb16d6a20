//! One case, tried.

use windtunnel_core::env::Env;
use windtunnel_core::json::canonical;

use super::schedule::schedules;
use super::subject::has;
use super::{LiveService, ReplayFeature, ReplaySchedule, ReplaySetup, ReplaySubject, Replayed};
use crate::cases::{RecordedCall, ReplayAnswer, ReplayCall, ReplayOrder, ReplaySession};
use crate::played::HandClock;
use crate::suites::Point;
use crate::suites::driver::outcome;

/// What was seen that should not be.
pub(super) type Seen = Result<(), String>;

/// A subject, and what it is to record.
pub(super) struct Trial<'t, S> {
    pub(super) subject: &'t S,
    pub(super) session: &'t ReplaySession,
    pub(super) setup: ReplaySetup,
    pub(super) live: LiveService,
    pub(super) env: Env,
}

impl<'t, S: ReplaySubject> Trial<'t, S> {
    pub(super) fn new(subject: &'t S, session: &'t ReplaySession, setup: ReplaySetup, clock: &HandClock) -> Self {
        Self { subject, session, setup, live: LiveService::new(session), env: clock.env() }
    }

    /// The calls, in their order.
    pub(super) fn calls(&self) -> impl Iterator<Item = &RecordedCall> {
        self.session.calls.iter()
    }

    /// Records all calls one after another. Whether their callers were answered right is another point.
    pub(super) async fn recording(&self) -> Result<S::Recording, String> {
        let recorder = self.recorder();
        for recorded in self.calls() {
            let _answer = self.subject.record(&recorder, &recorded.call).await;
        }
        self.finish(recorder)
    }

    pub(super) fn recorder(&self) -> S::Recorder {
        self.subject.recorder(self.live.clone(), &self.setup, self.env.clone())
    }

    pub(super) fn finish(&self, recorder: S::Recorder) -> Result<S::Recording, String> {
        self.subject.finish(recorder).map_err(|problem| format!("the recording comes to nothing: {problem}"))
    }

    pub(super) fn player(&self, recording: &S::Recording) -> Result<S::Player, String> {
        let player = self.subject.player(recording, self.live.clone(), &self.setup, self.env.clone());
        player.map_err(|problem| format!("it cannot be replayed: {problem}"))
    }

    /// Makes a call of a replay that is to be answered with the entry at `place`, or to be a miss.
    pub(super) async fn expect(&self, player: &S::Player, call: &ReplayCall, place: Option<usize>) -> Seen {
        let replayed = self.subject.replay(player, call).await;
        let due = place.and_then(|place| self.session.calls.get(place)).map(|recorded| &recorded.answer);
        match (&replayed, due) {
            (Replayed::Answer(answer), Some(due)) if is_same(answer, due) => Ok(()),
            (Replayed::Miss(_), None) => Ok(()),
            (_, Some(due)) => Err(format!("{call} comes to {replayed:?}, and {due:?} was recorded")),
            (_, None) => Err(format!("{call} should be a miss, and comes to {replayed:?}")),
        }
    }
}

/// Whether two answers are the same, with numbers that keep their identity.
pub(super) fn is_same(one: &ReplayAnswer, other: &ReplayAnswer) -> bool {
    match (one, other) {
        (ReplayAnswer::Value(one), ReplayAnswer::Value(other)) => canonical(one) == canonical(other),
        _ => one == other,
    }
}

/// The order of a subject that points about something else use.
pub(super) fn usual_order<S: ReplaySubject>(subject: &S) -> ReplayOrder {
    if has(subject, ReplayFeature::StrictOrder) { ReplayOrder::Strict } else { ReplayOrder::Keyed }
}

/// A point that is tried with schedules, for those that have the features.
pub(super) fn drawn<S: ReplaySubject>(
    id: &'static str,
    demand: &'static str,
    features: &'static [ReplayFeature],
    order: Option<ReplayOrder>,
    check: impl AsyncFn(&Trial<'_, S>, &ReplaySchedule) -> Seen + Send + Sync + 'static,
) -> Point<S> {
    let point = Point::property(id, demand, schedules, move |subject: &S, schedule: &ReplaySchedule| {
        let order = order.unwrap_or_else(|| usual_order(subject));
        let setup = ReplaySetup { order, secrets: Vec::new() };
        let clock = HandClock::new();
        let trial = Trial::new(subject, &schedule.session, setup, &clock);
        outcome(id, check(&trial, schedule), |future| subject.drive(&clock, future))
    });
    needs(features, point)
}

/// Not for those that lack a feature.
pub(super) fn needs<S: ReplaySubject>(features: &'static [ReplayFeature], point: Point<S>) -> Point<S> {
    point.unless(move |subject| {
        let lacks = features.iter().find(|feature| !has(subject, **feature));
        lacks.map(|feature| feature.name().to_owned())
    })
}

/// Nothing, if it is as it should be.
pub(super) fn demand(holds: bool, seen: impl FnOnce() -> String) -> Seen {
    if holds { Ok(()) } else { Err(seen()) }
}
