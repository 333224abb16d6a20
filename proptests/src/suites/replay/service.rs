//! What is recorded.

use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::cases::{ReplayAnswer, ReplayCall, ReplayFailure, ReplaySession};
use crate::models::ReplayModel;
use crate::suites::turns::pauses;

/// The live side: it answers as a [`ReplaySession`] says, and counts how often it is asked. Clones share that.
#[derive(Clone)]
pub struct LiveService {
    session: Arc<ReplaySession>,
    state: Arc<Mutex<State>>,
}

/// How many turns of others it takes to answer what nobody should ask.
const UNKNOWN_PAUSES: u8 = 3;

struct State {
    model: ReplayModel,
    asked: usize,
}

impl LiveService {
    /// A service that gives these answers, each once.
    pub fn new(session: &ReplaySession) -> Self {
        let model = ReplayModel::new(crate::cases::ReplayOrder::Keyed, session);
        Self { session: Arc::new(session.clone()), state: Arc::new(Mutex::new(State { model, asked: 0 })) }
    }

    /// How often it was asked.
    pub fn asked(&self) -> usize {
        self.state.lock().asked
    }

    /// Answers a call.
    pub async fn call(&self, call: &ReplayCall) -> ReplayAnswer {
        let place = {
            let mut state = self.state.lock();
            state.asked += 1;
            state.model.ask(call)
        };
        match place.and_then(|place| self.session.calls.get(place)) {
            Some(recorded) => {
                pauses(recorded.pauses).await;
                recorded.answer.clone()
            }
            None => {
                pauses(UNKNOWN_PAUSES).await;
                let message = "nobody should ask this".to_owned();
                ReplayAnswer::Failure(ReplayFailure { message, may_pass: false })
            }
        }
    }
}

impl fmt::Debug for LiveService {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("LiveService").field("asked", &self.asked()).finish_non_exhaustive()
    }
}
