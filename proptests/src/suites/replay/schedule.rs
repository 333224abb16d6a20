//! What is recorded, and then asked.

use proptest::prelude::*;

use super::ReplaySubject;
use super::subject::{ReplayFeature, has};
use crate::cases::{ReplayAsk, ReplaySession};
use crate::strategies::{ReplayScope, replay_asks, replay_sessions};
use crate::suites::Case;

/// A session that is recorded, and what the replay of it is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplaySchedule {
    /// What is recorded.
    pub session: ReplaySession,
    /// What is asked then, in order.
    pub asks: Vec<ReplayAsk>,
}

impl Case for ReplaySchedule {
    fn show(&self) -> String {
        let recorded = self.session.calls.iter().map(|recorded| {
            let pauses = recorded.pauses;
            format!("recorded: {} = {:?} after {pauses} turns\n", recorded.call, recorded.answer)
        });
        let asked = self.asks.iter().map(|ask| match self.session.call(*ask) {
            Some(call) => format!("asked: {call}\n"),
            None => "asked: nothing\n".to_owned(),
        });
        recorded.chain(asked).collect()
    }
}

/// Schedules of all that a subject has.
pub(super) fn schedules<S: ReplaySubject>(subject: &S) -> impl Strategy<Value = ReplaySchedule> + use<S> {
    let sessions = replay_sessions(scope(subject));
    (sessions, replay_asks()).prop_map(|(session, asks)| ReplaySchedule { session, asks })
}

/// What a subject has.
pub(super) fn scope<S: ReplaySubject>(subject: &S) -> ReplayScope {
    ReplayScope {
        lanes_max: if has(subject, ReplayFeature::Lanes) { 3 } else { 1 },
        has_streams: has(subject, ReplayFeature::Streams),
        has_failures: has(subject, ReplayFeature::Failures),
    }
}
