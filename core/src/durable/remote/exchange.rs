//! Which calls there are, and what becomes of them. Knows no stream and no time.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::Value;

use super::error::{ProtocolError, RemoteError};
use super::message::Response;

/// Requests of a client without an answer, those of calls that were dropped among them; and requests that a server runs or
/// answers at once for one stream. Each is at most a frame long.
pub const REQUESTS_IN_FLIGHT_MAX: usize = 64;
/// Calls of a client that wait until fewer requests are in flight.
pub const CALLS_WAITING_MAX: usize = 1024;

/// All calls of a client.
#[derive(Default)]
pub(super) struct Exchange {
    last_id: u64,
    /// Not yet in flight; the one that waits for longest comes first.
    waiting: BTreeSet<u64>,
    in_flight: BTreeMap<u64, Slot>,
    /// Of those in flight, those of which no byte was written, in order.
    outgoing: VecDeque<(u64, Vec<u8>)>,
    heard: u64,
    woken: Vec<u64>,
}

enum Slot {
    Awaited {
        /// How many messages had come when it was sent.
        heard_before: Option<u64>,
    },
    /// Its answer is waited for by nobody, and will come all the same.
    Abandoned,
    Answered(Result<Value, RemoteError>),
}

impl Exchange {
    /// One more call, with an identifier that no other one ever has.
    pub(super) fn enter(&mut self) -> Result<u64, RemoteError> {
        if self.waiting.len() >= CALLS_WAITING_MAX {
            return Err(RemoteError::Busy { waiting_max: CALLS_WAITING_MAX });
        }
        self.last_id += 1;
        self.waiting.insert(self.last_id);
        Ok(self.last_id)
    }

    /// Whether it is this call's turn to be put in flight.
    pub(super) fn may_submit(&self, id: u64) -> bool {
        self.in_flight.len() < REQUESTS_IN_FLIGHT_MAX && self.waiting.first() == Some(&id)
    }

    /// Puts a request in flight.
    pub(super) fn submit(&mut self, id: u64, frame: Vec<u8>) {
        self.waiting.remove(&id);
        self.in_flight.insert(id, Slot::Awaited { heard_before: None });
        self.outgoing.push_back((id, frame));
        self.wake_next();
    }

    /// The call is over, or nobody waits for it any more. What nothing was written of is not sent at all.
    pub(super) fn leave(&mut self, id: u64) {
        self.waiting.remove(&id);
        let is_unsent = self.is_outgoing(id);
        self.outgoing.retain(|(outgoing, _)| *outgoing != id);
        match self.in_flight.get_mut(&id) {
            Some(slot @ Slot::Awaited { .. }) if !is_unsent => *slot = Slot::Abandoned,
            _ => {
                self.in_flight.remove(&id);
            }
        }
        self.wake_next();
    }

    pub(super) fn has_outgoing(&self) -> bool {
        !self.outgoing.is_empty()
    }

    /// The next frame to be written. From here on it may have been sent.
    pub(super) fn next_frame(&mut self) -> Option<Vec<u8>> {
        let (id, frame) = self.outgoing.pop_front()?;
        if let Some(Slot::Awaited { heard_before }) = self.in_flight.get_mut(&id) {
            *heard_before = Some(self.heard);
        }
        Some(frame)
    }

    /// How many messages had come when this request was sent, if it was.
    pub(super) fn heard_before(&self, id: u64) -> Option<u64> {
        match self.in_flight.get(&id) {
            Some(Slot::Awaited { heard_before }) => *heard_before,
            _ => None,
        }
    }

    /// How many messages have come.
    pub(super) fn heard(&self) -> u64 {
        self.heard
    }

    pub(super) fn count_heard(&mut self) {
        self.heard += 1;
    }

    /// Takes a response, which must be one to a request that was sent and not yet answered.
    pub(super) fn hear(&mut self, response: Response) -> Result<(), RemoteError> {
        let outcome = response.outcome.map_err(|code| RemoteError::Refused { code });
        let Some(id) = response.id else {
            return Err(outcome.err().unwrap_or(ProtocolError::NotMessage.into()));
        };
        if self.is_outgoing(id) {
            return Err(ProtocolError::UnknownId.into());
        }
        match self.in_flight.get_mut(&id) {
            Some(slot @ Slot::Awaited { .. }) => {
                *slot = Slot::Answered(outcome);
                self.woken.push(id);
            }
            Some(Slot::Abandoned) => {
                self.in_flight.remove(&id);
                self.wake_next();
            }
            Some(Slot::Answered(_)) | None => return Err(ProtocolError::UnknownId.into()),
        }
        Ok(())
    }

    /// The stream is lost, and with it whatever was in flight.
    pub(super) fn fail(&mut self, error: &RemoteError) {
        self.outgoing.clear();
        self.in_flight.retain(|_, slot| !matches!(slot, Slot::Abandoned));
        for (id, slot) in &mut self.in_flight {
            if matches!(slot, Slot::Awaited { .. }) {
                *slot = Slot::Answered(Err(error.clone()));
                self.woken.push(*id);
            }
        }
        self.wake_next();
    }

    /// The answer, if it is there.
    pub(super) fn take(&mut self, id: u64) -> Option<Result<Value, RemoteError>> {
        if !matches!(self.in_flight.get(&id), Some(Slot::Answered(_))) {
            return None;
        }
        let slot = self.in_flight.remove(&id);
        self.wake_next();
        match slot {
            Some(Slot::Answered(answer)) => Some(answer),
            _ => None,
        }
    }

    /// Whose calls have something to do since this was last asked.
    pub(super) fn woken(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.woken)
    }

    fn is_outgoing(&self, id: u64) -> bool {
        self.outgoing.iter().any(|(outgoing, _)| *outgoing == id)
    }

    fn wake_next(&mut self) {
        if self.in_flight.len() < REQUESTS_IN_FLIGHT_MAX {
            self.woken.extend(self.waiting.first());
        }
    }
}
