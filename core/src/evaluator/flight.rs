//! The requests of an evaluation that are under way, each of which can be dropped on its own.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use futures_util::stream::FuturesUnordered;
use parking_lot::Mutex;

use super::attempt::Work;
use super::machine::{FrameId, Input};

type Slot<'p> = Arc<Mutex<Option<Work<'p>>>>;

/// Futures by the frame that asked for them. Dropped with it, all of them end.
#[derive(Default)]
pub(super) struct Flight<'p> {
    legs: FuturesUnordered<Leg<'p>>,
    slots: BTreeMap<FrameId, Slot<'p>>,
}

struct Leg<'p> {
    frame: FrameId,
    slot: Slot<'p>,
}

impl Future for Leg<'_> {
    /// Nothing, if it was cancelled.
    type Output = (FrameId, Option<Input>);

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut slot = self.slot.lock();
        let Some(work) = slot.as_mut() else { return Poll::Ready((self.frame, None)) };
        let Poll::Ready(input) = Pin::new(work).poll(context) else { return Poll::Pending };
        end(slot.take());
        Poll::Ready((self.frame, Some(input)))
    }
}

impl<'p> Flight<'p> {
    pub(super) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    pub(super) fn add(&mut self, frame: FrameId, work: Work<'p>) {
        let slot: Slot<'p> = Arc::new(Mutex::new(Some(work)));
        self.slots.insert(frame, Arc::clone(&slot));
        self.legs.push(Leg { frame, slot });
    }

    /// Drops the frame's work now, whatever it is doing.
    pub(super) fn cancel(&mut self, frame: FrameId) {
        if let Some(slot) = self.slots.remove(&frame) {
            let work = slot.lock().take();
            end(work);
        }
    }

    /// The next future that is done, in the order in which they say that they can go on.
    pub(super) fn poll_landed(&mut self, context: &mut Context<'_>) -> Poll<(FrameId, Input)> {
        loop {
            match Pin::new(&mut self.legs).poll_next(context) {
                Poll::Ready(Some((frame, Some(input)))) => {
                    self.slots.remove(&frame);
                    return Poll::Ready((frame, input));
                }
                Poll::Ready(Some((_, None))) => {}
                Poll::Ready(None) | Poll::Pending => return Poll::Pending,
            }
        }
    }
}

/// Drops what may be a tool's future, which may panic (E14): nobody is left to tell.
pub(super) fn end<T>(work: T) {
    let _panic = catch_unwind(AssertUnwindSafe(|| drop(work)));
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        for slot in self.slots.values() {
            end(slot.lock().take());
        }
    }
}
