//! A task as whoever spawned it sees it.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;
use windtunnel_core::env::Waits;

/// Awaits the value of a task. Dropped, it leaves the task running.
#[must_use = "a task that nobody awaits runs on"]
pub struct Task<T> {
    slot: Arc<Mutex<Slot<T>>>,
    /// None, if it never runs.
    pub(super) awaited: Option<Awaited>,
}

/// Where a task runs, and as what it was spawned.
#[derive(Clone, Debug)]
pub(crate) struct Label {
    pub(crate) host: Arc<str>,
    pub(crate) name: Option<Arc<str>>,
}

impl Label {
    /// The task of this number, to be read.
    pub(crate) fn of_task(&self, number: u64) -> String {
        match &self.name {
            Some(name) => format!("{}: {name} (task {number})", self.host),
            None => format!("{}: task {number}", self.host),
        }
    }
}

/// What whoever awaits a task says that it waits for.
pub(super) struct Awaited {
    pub(super) waits: Waits,
    pub(super) number: u64,
    pub(super) label: Label,
}

/// A task gave no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the task was lost with the process that it ran in")]
pub struct TaskError;

struct Slot<T> {
    state: State<T>,
    waker: Option<Waker>,
}

enum State<T> {
    Running,
    Ended(Result<T, TaskError>),
    Taken,
}

/// The other end: says how the task ended, also if it is dropped before.
pub(super) struct Ending<T> {
    slot: Arc<Mutex<Slot<T>>>,
}

impl<T> Task<T> {
    pub(super) fn new() -> (Self, Ending<T>) {
        let slot = Arc::new(Mutex::new(Slot { state: State::Running, waker: None }));
        (Self { slot: Arc::clone(&slot), awaited: None }, Ending { slot })
    }

    /// A task that never ran.
    pub(crate) fn lost() -> Self {
        let slot = Arc::new(Mutex::new(Slot { state: State::Ended(Err(TaskError)), waker: None }));
        Self { slot, awaited: None }
    }

    /// Whether it has ended.
    pub fn is_finished(&self) -> bool {
        !matches!(self.slot.lock().state, State::Running)
    }
}

impl<T> Ending<T> {
    pub(super) fn end(self, value: T) {
        self.settle(Ok(value));
    }

    fn settle(&self, result: Result<T, TaskError>) {
        let waker = {
            let mut slot = self.slot.lock();
            if matches!(slot.state, State::Running) {
                slot.state = State::Ended(result);
            }
            slot.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<T> Drop for Ending<T> {
    fn drop(&mut self) {
        self.settle(Err(TaskError));
    }
}

impl<T> Future for Task<T> {
    type Output = Result<T, TaskError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut slot = self.slot.lock();
        match std::mem::replace(&mut slot.state, State::Taken) {
            State::Ended(result) => Poll::Ready(result),
            State::Running => {
                slot.state = State::Running;
                slot.waker = Some(context.waker().clone());
                if let Some(Awaited { waits, number, label }) = &self.awaited {
                    waits.found_unready(format!("the end of {}", label.of_task(*number)));
                }
                Poll::Pending
            }
            State::Taken => Poll::Ready(Err(TaskError)),
        }
    }
}

impl<T> fmt::Debug for Task<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Task").field("is_finished", &self.is_finished()).finish_non_exhaustive()
    }
}
