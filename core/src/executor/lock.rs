//! The run's exclusive lock and the per-kind caps (E10): first come, first served.
//!
//! [`TicketQueue`] decides and knows no waker; [`FairLock`] drives it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;

/// A place in the queue.
pub(super) type Ticket = u64;

/// Shares `capacity` among requests of some weight, strictly in order: nobody overtakes the head of the queue, however
/// little it wants.
#[derive(Debug)]
pub(super) struct TicketQueue {
    capacity: u32,
    in_use: u32,
    waiting: VecDeque<(Ticket, u32)>,
    next: Ticket,
}

/// The answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Admission {
    /// Go on; release the weight afterwards.
    Granted,
    /// Wait until a release or a withdrawal grants this ticket.
    Waiting(Ticket),
}

impl TicketQueue {
    pub(super) fn new(capacity: u32) -> Self {
        Self { capacity, in_use: 0, waiting: VecDeque::new(), next: 0 }
    }

    /// Asks for `weight`, at most the capacity.
    pub(super) fn request(&mut self, weight: u32) -> Admission {
        debug_assert!(weight <= self.capacity, "a weight of {weight} can never be granted");
        if self.waiting.is_empty() && weight <= self.capacity - self.in_use {
            self.in_use += weight;
            return Admission::Granted;
        }
        let ticket = self.next;
        self.next += 1;
        self.waiting.push_back((ticket, weight));
        Admission::Waiting(ticket)
    }

    /// Gives back what was granted; returns the tickets that are granted now.
    pub(super) fn release(&mut self, weight: u32) -> Vec<Ticket> {
        debug_assert!(weight <= self.in_use, "more is released than was granted");
        self.in_use -= weight;
        self.grant()
    }

    /// Takes a waiting ticket out; returns the tickets that are granted now.
    pub(super) fn withdraw(&mut self, ticket: Ticket) -> Vec<Ticket> {
        self.waiting.retain(|(waiting, _)| *waiting != ticket);
        self.grant()
    }

    fn grant(&mut self) -> Vec<Ticket> {
        let mut granted = Vec::new();
        while let Some((ticket, weight)) = self.waiting.front().copied() {
            if weight > self.capacity - self.in_use {
                break;
            }
            self.waiting.pop_front();
            self.in_use += weight;
            granted.push(ticket);
        }
        granted
    }
}

/// A [`TicketQueue`] that tasks can wait on, from any thread and runtime.
#[derive(Debug)]
pub(super) struct FairLock {
    capacity: u32,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    queue: TicketQueue,
    wakers: BTreeMap<Ticket, Waker>,
    granted: BTreeSet<Ticket>,
}

impl FairLock {
    /// A cap of `capacity` at once, at least 1.
    pub(super) fn new(capacity: u32) -> Self {
        let state = State { queue: TicketQueue::new(capacity), wakers: BTreeMap::new(), granted: BTreeSet::new() };
        Self { capacity, state: Mutex::new(state) }
    }

    /// A lock that any number may share, or one hold alone.
    pub(super) fn shared_or_exclusive() -> Self {
        Self::new(u32::MAX)
    }

    /// One share.
    pub(super) fn acquire(&self) -> Acquire<'_> {
        Acquire { lock: self, weight: 1, ticket: None }
    }

    /// All shares.
    pub(super) fn acquire_alone(&self) -> Acquire<'_> {
        Acquire { lock: self, weight: self.capacity, ticket: None }
    }

    /// Changes the queue, then wakes whoever that granted, outside the lock.
    fn settle(&self, change: impl FnOnce(&mut TicketQueue) -> Vec<Ticket>) {
        let mut state = self.state.lock();
        let granted = change(&mut state.queue);
        let wakers: Vec<_> = granted.iter().filter_map(|ticket| state.wakers.remove(ticket)).collect();
        state.granted.extend(granted);
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }
}

/// Waits for a share. It joins the queue when first polled; dropping it leaves the queue.
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub(super) struct Acquire<'a> {
    lock: &'a FairLock,
    weight: u32,
    ticket: Option<Ticket>,
}

impl<'a> Future for Acquire<'a> {
    type Output = Permit<'a>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Permit<'a>> {
        let (lock, weight) = (self.lock, self.weight);
        let mut state = lock.state.lock();
        let ticket = match self.ticket {
            Some(ticket) if state.granted.remove(&ticket) => {
                self.ticket = None;
                return Poll::Ready(Permit { lock, weight });
            }
            Some(ticket) => ticket,
            None => match state.queue.request(weight) {
                Admission::Granted => return Poll::Ready(Permit { lock, weight }),
                Admission::Waiting(ticket) => ticket,
            },
        };
        self.ticket = Some(ticket);
        state.wakers.insert(ticket, context.waker().clone());
        Poll::Pending
    }
}

impl Drop for Acquire<'_> {
    fn drop(&mut self) {
        let Some(ticket) = self.ticket else { return };
        let mut state = self.lock.state.lock();
        state.wakers.remove(&ticket);
        let was_granted = state.granted.remove(&ticket);
        drop(state);
        let weight = self.weight;
        self.lock.settle(|queue| if was_granted { queue.release(weight) } else { queue.withdraw(ticket) });
    }
}

/// A share, given back on drop.
#[derive(Debug)]
#[must_use = "dropping the permit gives the share back"]
pub(super) struct Permit<'a> {
    lock: &'a FairLock,
    weight: u32,
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.lock.settle(|queue| queue.release(self.weight));
    }
}

#[cfg(test)]
mod tests {
    use tokio_test::task::spawn;
    use tokio_test::{assert_pending, assert_ready};

    use super::*;

    #[test]
    fn nobody_overtakes_the_head_of_the_queue() {
        let mut queue = TicketQueue::new(3);
        assert_eq!(queue.request(2), Admission::Granted);
        assert_eq!(queue.request(3), Admission::Waiting(0));
        assert_eq!(queue.request(1), Admission::Waiting(1));
        assert_eq!(queue.release(2), [0]);
        assert_eq!(queue.release(3), [1]);
        assert_eq!(queue.request(2), Admission::Granted);
    }

    #[test]
    fn a_head_that_goes_away_lets_the_next_ones_in() {
        let lock = FairLock::shared_or_exclusive();
        let mut shared = spawn(lock.acquire());
        let held = assert_ready!(shared.poll());
        let mut alone = spawn(lock.acquire_alone());
        assert_pending!(alone.poll());
        let mut later = [spawn(lock.acquire()), spawn(lock.acquire())];
        for waiting in &mut later {
            assert_pending!(waiting.poll());
        }
        drop(alone);
        for waiting in &mut later {
            assert!(waiting.is_woken());
            drop(assert_ready!(waiting.poll()));
        }
        drop(held);
    }

    #[test]
    fn a_grant_that_nobody_collects_goes_to_the_next() {
        let lock = FairLock::new(1);
        let held = assert_ready!(spawn(lock.acquire()).poll());
        let mut first = spawn(lock.acquire());
        let mut second = spawn(lock.acquire());
        assert_pending!(first.poll());
        assert_pending!(second.poll());
        drop(held);
        assert!(first.is_woken() && !second.is_woken());
        drop(first);
        assert!(second.is_woken());
        let permit = assert_ready!(second.poll());
        drop(permit);
        drop(assert_ready!(spawn(lock.acquire()).poll()));
    }

    #[test]
    fn an_unpolled_request_is_not_in_the_queue() {
        let lock = FairLock::new(1);
        let unpolled = lock.acquire();
        let permit = assert_ready!(spawn(lock.acquire()).poll());
        drop(unpolled);
        drop(permit);
        assert_eq!(lock.state.lock().queue.in_use, 0);
    }
}
