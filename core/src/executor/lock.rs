//! The run's exclusive lock and the per-kind caps (E10): first come, first served.
//!
//! [`RunQueue`] decides and knows no waker; [`RunLock`] drives it. A call has one ticket for both: once the lock is its,
//! it stands in the queue for its cap at once, in the order of arrival, however late its task is polled.

use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroU32;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;

/// The place of a call, in the order of arrival.
type Ticket = u64;

/// What a call needs before its attempts may run.
#[derive(Clone, Debug, Default)]
pub(super) struct Needs {
    /// The run's lock; not for a nested call.
    pub(super) lock: Option<Share>,
    /// A place under the cap of this kind, if it has one.
    pub(super) kind: Option<Arc<str>>,
}

/// How a call holds the run's lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Share {
    /// Beside others.
    Shared,
    /// Alone.
    Exclusive,
}

impl Share {
    fn weight(self) -> u32 {
        match self {
            Self::Shared => 1,
            Self::Exclusive => u32::MAX,
        }
    }
}

/// Shares `capacity` among tickets of some weight, strictly in order: nobody overtakes the head of the queue, however
/// little it wants.
#[derive(Debug)]
struct FairShares {
    capacity: u32,
    in_use: u32,
    waiting: VecDeque<(Ticket, u32)>,
}

impl FairShares {
    fn new(capacity: u32) -> Self {
        Self { capacity, in_use: 0, waiting: VecDeque::new() }
    }

    /// Asks for `weight`, at most the capacity. Whether it is granted at once.
    fn request(&mut self, ticket: Ticket, weight: u32) -> bool {
        let is_free = self.waiting.is_empty() && weight <= self.capacity - self.in_use;
        if is_free {
            self.in_use += weight;
        } else {
            self.waiting.push_back((ticket, weight));
        }
        is_free
    }

    /// Gives back what was granted; returns the tickets that are granted now, in order.
    fn release(&mut self, weight: u32) -> Vec<Ticket> {
        self.in_use -= weight;
        self.grant()
    }

    /// Takes a waiting ticket out; returns the tickets that are granted now, in order.
    fn withdraw(&mut self, ticket: Ticket) -> Vec<Ticket> {
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

/// Who waits for, and who holds, a run's lock and caps.
#[derive(Debug)]
struct RunQueue {
    lock: FairShares,
    caps: BTreeMap<String, FairShares>,
    /// By ticket, and so in the order of arrival.
    calls: VecDeque<Call>,
    next: Ticket,
}

#[derive(Debug)]
struct Call {
    ticket: Ticket,
    needs: Needs,
    stage: Stage,
    waker: Option<Waker>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    WaitsForLock,
    WaitsForCap,
    Granted,
}

impl RunQueue {
    fn new(caps: &BTreeMap<String, NonZeroU32>) -> Self {
        let caps = caps.iter().map(|(kind, cap)| (kind.clone(), FairShares::new(cap.get()))).collect();
        Self { lock: FairShares::new(u32::MAX), caps, calls: VecDeque::new(), next: 0 }
    }

    /// Joins the queue.
    fn join(&mut self, needs: Needs) -> Ticket {
        let ticket = self.next;
        self.next += 1;
        let has_lock = needs.lock.is_none_or(|share| self.lock.request(ticket, share.weight()));
        self.calls.push_back(Call { ticket, needs, stage: Stage::WaitsForLock, waker: None });
        if has_lock {
            self.go_to_cap(ticket);
        }
        ticket
    }

    fn place(&self, ticket: Ticket) -> Option<usize> {
        self.calls.binary_search_by_key(&ticket, |call| call.ticket).ok()
    }

    fn call_mut(&mut self, ticket: Ticket) -> Option<&mut Call> {
        let place = self.place(ticket)?;
        self.calls.get_mut(place)
    }

    fn is_granted(&self, ticket: Ticket) -> bool {
        self.place(ticket).is_some_and(|place| self.calls[place].stage == Stage::Granted)
    }

    /// The lock is the call's, or it needs none.
    fn go_to_cap(&mut self, ticket: Ticket) {
        let Some(place) = self.place(ticket) else { return };
        let call = &mut self.calls[place];
        let cap = call.needs.kind.as_deref().and_then(|kind| self.caps.get_mut(kind));
        let is_granted = cap.is_none_or(|cap| cap.request(ticket, 1));
        call.stage = if is_granted { Stage::Granted } else { Stage::WaitsForCap };
    }

    /// Gives up whatever the call holds or waits for. Returns the wakers of those that are granted now.
    fn leave(&mut self, ticket: Ticket) -> Vec<Waker> {
        let call = self.place(ticket).and_then(|place| self.calls.remove(place));
        let Some(Call { needs, stage, .. }) = call else { return Vec::new() };
        let mut granted = Vec::new();
        let cap = needs.kind.as_deref().and_then(|kind| self.caps.get_mut(kind));
        match (stage, cap) {
            (Stage::Granted, Some(cap)) => granted = cap.release(1),
            (Stage::WaitsForCap, Some(cap)) => granted = cap.withdraw(ticket),
            _ => {}
        }
        for ticket in &granted {
            if let Some(call) = self.call_mut(*ticket) {
                call.stage = Stage::Granted;
            }
        }
        let has_lock = match (stage, needs.lock) {
            (_, None) => Vec::new(),
            (Stage::WaitsForLock, Some(_)) => self.lock.withdraw(ticket),
            (_, Some(share)) => self.lock.release(share.weight()),
        };
        for ticket in has_lock {
            self.go_to_cap(ticket);
            granted.push(ticket);
        }
        // One that got the lock and waits for its cap is woken in vain, and waits on.
        granted.into_iter().filter_map(|ticket| self.call_mut(ticket)?.waker.take()).collect()
    }
}

/// A [`RunQueue`] that tasks can wait on, from any thread and runtime.
#[derive(Debug)]
pub(super) struct RunLock {
    queue: Mutex<RunQueue>,
}

impl RunLock {
    /// With caps for these kinds.
    pub(super) fn new(caps: &BTreeMap<String, NonZeroU32>) -> Self {
        Self { queue: Mutex::new(RunQueue::new(caps)) }
    }

    /// Waits until the call has what it needs. It joins the queue when first polled; dropping it leaves the queue.
    pub(super) fn acquire(&self, needs: Needs) -> Acquire<'_> {
        Acquire { needs: Some(needs), place: None, lock: self }
    }
}

/// The future of [`RunLock::acquire`].
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub(super) struct Acquire<'a> {
    lock: &'a RunLock,
    needs: Option<Needs>,
    place: Option<Permit<'a>>,
}

impl<'a> Future for Acquire<'a> {
    type Output = Permit<'a>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Permit<'a>> {
        let this = &mut *self;
        let lock = this.lock;
        let mut queue = lock.queue.lock();
        if let Some(needs) = this.needs.take() {
            this.place = Some(Permit { lock, ticket: queue.join(needs) });
        }
        match this.place.take() {
            Some(permit) if queue.is_granted(permit.ticket) => Poll::Ready(permit),
            Some(place) => {
                if let Some(call) = queue.call_mut(place.ticket) {
                    call.waker = Some(context.waker().clone());
                }
                this.place = Some(place);
                Poll::Pending
            }
            // Polled again after it was ready.
            None => Poll::Pending,
        }
    }
}

/// The place of a call: while it waits, and then while it runs. Given up on drop.
#[derive(Debug)]
#[must_use = "dropping the permit gives the lock and the cap back"]
pub(super) struct Permit<'a> {
    lock: &'a RunLock,
    ticket: Ticket,
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        let wakers = self.lock.queue.lock().leave(self.ticket);
        // Outside the lock: a waker may run anything.
        wakers.into_iter().for_each(Waker::wake);
    }
}

#[cfg(test)]
mod tests {
    use tokio_test::task::{Spawn, spawn};
    use tokio_test::{assert_pending, assert_ready};

    use super::*;

    fn lock(caps: &[(&str, u32)]) -> RunLock {
        let caps = caps.iter().map(|(kind, cap)| ((*kind).to_owned(), NonZeroU32::new(*cap).unwrap()));
        RunLock::new(&caps.collect())
    }

    fn waits<'a>(lock: &'a RunLock, share: Share, kind: &str) -> Spawn<Acquire<'a>> {
        spawn(lock.acquire(Needs { lock: Some(share), kind: Some(kind.into()) }))
    }

    #[test]
    fn nobody_overtakes_the_head_of_the_queue() {
        let lock = lock(&[]);
        let mut first = waits(&lock, Share::Shared, "a");
        let held = assert_ready!(first.poll());
        let mut alone = waits(&lock, Share::Exclusive, "a");
        assert_pending!(alone.poll());
        let mut late = waits(&lock, Share::Shared, "a");
        assert_pending!(late.poll());
        drop(held);
        assert!(alone.is_woken() && !late.is_woken());
        let held = assert_ready!(alone.poll());
        assert_pending!(late.poll());
        drop(held);
        drop(assert_ready!(late.poll()));
    }

    #[test]
    fn a_head_that_goes_away_lets_the_next_ones_in() {
        let lock = lock(&[]);
        let held = assert_ready!(waits(&lock, Share::Shared, "a").poll());
        let mut alone = waits(&lock, Share::Exclusive, "a");
        assert_pending!(alone.poll());
        let mut late = [waits(&lock, Share::Shared, "a"), waits(&lock, Share::Shared, "b")];
        for waiting in &mut late {
            assert_pending!(waiting.poll());
        }
        drop(alone);
        for waiting in &mut late {
            assert!(waiting.is_woken());
            drop(assert_ready!(waiting.poll()));
        }
        drop(held);
    }

    #[test]
    fn the_order_of_arrival_holds_at_the_cap_however_late_one_is_polled() {
        let lock = lock(&[("a", 1)]);
        let held = assert_ready!(waits(&lock, Share::Exclusive, "b").poll());
        let (mut first, mut second) = (waits(&lock, Share::Shared, "a"), waits(&lock, Share::Shared, "a"));
        assert_pending!(first.poll());
        assert_pending!(second.poll());
        drop(held);
        assert_pending!(second.poll());
        let permit = assert_ready!(first.poll());
        assert_pending!(second.poll());
        drop(permit);
        drop(assert_ready!(second.poll()));
    }

    #[test]
    fn a_grant_that_nobody_collects_goes_to_the_next() {
        let lock = lock(&[("a", 1)]);
        let held = assert_ready!(waits(&lock, Share::Shared, "a").poll());
        let (mut first, mut second) = (waits(&lock, Share::Shared, "a"), waits(&lock, Share::Shared, "a"));
        assert_pending!(first.poll());
        assert_pending!(second.poll());
        drop(held);
        assert!(first.is_woken() && !second.is_woken());
        drop(first);
        assert!(second.is_woken());
        drop(assert_ready!(second.poll()));
    }

    #[test]
    fn one_that_waits_for_a_cap_holds_the_lock() {
        let lock = lock(&[("a", 1)]);
        let held = assert_ready!(waits(&lock, Share::Shared, "a").poll());
        let mut capped = waits(&lock, Share::Shared, "a");
        assert_pending!(capped.poll());
        let mut alone = waits(&lock, Share::Exclusive, "b");
        assert_pending!(alone.poll());
        drop(held);
        assert_pending!(alone.poll());
        drop(capped);
        drop(assert_ready!(alone.poll()));
    }

    #[test]
    fn a_nested_call_needs_only_its_cap() {
        let lock = lock(&[("a", 1)]);
        let held = assert_ready!(waits(&lock, Share::Exclusive, "b").poll());
        let nested = |kind: &str| spawn(lock.acquire(Needs { lock: None, kind: Some(kind.into()) }));
        let capped = assert_ready!(nested("a").poll());
        drop(assert_ready!(nested("c").poll()));
        assert_pending!(nested("a").poll());
        drop((capped, held));
        assert!(lock.queue.lock().calls.is_empty());
        assert_eq!(lock.queue.lock().lock.in_use, 0);
    }

    #[test]
    fn an_unpolled_request_is_not_in_the_queue() {
        let lock = lock(&[]);
        let unpolled = waits(&lock, Share::Exclusive, "a");
        drop(assert_ready!(waits(&lock, Share::Shared, "a").poll()));
        drop(unpolled);
        assert!(lock.queue.lock().calls.is_empty());
    }
}
