//! One request and the wait for its answer.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;
use serde_json::Value;

use super::error::RemoteError;
use super::frame::FrameError;
use super::line::{Connect, Line, Mark};
use super::message::request_frame;
use super::request::Request;
use super::wakers::Wakers;

/// What all calls of a client share. Whoever is polled drives the line, for all.
pub(super) struct Shared {
    line: Mutex<Line>,
    wakers: Arc<Wakers>,
}

impl Shared {
    pub(super) fn new(connect: Connect) -> Self {
        Self { line: Mutex::new(Line::new(connect)), wakers: Arc::default() }
    }

    /// Does something to the line, and wakes those who have to know. Never under the lock: what a waker does is not ours.
    fn with_line<T>(&self, act: impl FnOnce(&mut Line) -> T) -> T {
        let mut line = self.line.lock();
        let output = act(&mut line);
        let woken = line.exchange.woken();
        drop(line);
        self.wakers.wake(&woken);
        output
    }
}

/// A call. It may be dropped at any time: what is half written is finished by the next one, and an answer that nobody waits
/// for is passed over.
pub(super) struct Call {
    shared: Arc<Shared>,
    id: u64,
    /// Until it is in flight.
    frame: Option<Vec<u8>>,
    since: Option<Mark>,
}

impl Call {
    pub(super) fn new(shared: &Arc<Shared>, request: &Request) -> Result<Self, RemoteError> {
        let id = shared.with_line(|line| line.exchange.enter())?;
        let mut call = Self { shared: Arc::clone(shared), id, frame: None, since: None };
        call.frame = Some(request_frame(id, request).map_err(|error| match error {
            FrameError::TooLong { bytes, bytes_max } => RemoteError::TooLong { bytes, bytes_max },
            other => other.into(),
        })?);
        Ok(call)
    }

    /// The time is over. A stream on which nothing came since the request was sent is given up.
    pub(super) fn give_up(&self) {
        if let Some(since) = self.since {
            self.shared.with_line(|line| line.give_up(self.id, since));
        }
    }
}

impl Future for Call {
    type Output = Result<Value, RemoteError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { shared, id, frame, since } = &mut *self;
        shared.wakers.register(*id, context.waker());
        let all = Waker::from(Arc::clone(&shared.wakers));
        let all = &mut Context::from_waker(&all);
        let answer = shared.with_line(|line| {
            // A stream that was lost while nobody looked is found out before the request is put on it.
            line.drive(all);
            if let Some(frame) = frame.take_if(|_| line.exchange.may_submit(*id)) {
                line.exchange.submit(*id, frame);
                line.drive(all);
            }
            since.get_or_insert_with(|| line.mark());
            line.exchange.take(*id)
        });
        answer.map_or(Poll::Pending, Poll::Ready)
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.shared.wakers.forget(self.id);
        self.shared.with_line(|line| line.exchange.leave(self.id));
    }
}
