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

use super::shown::Shown;
use crate::canary::{Weakness, is_weakened};
use crate::env::WaitGuard;

/// A call, in the order of arrival.
type Ticket = u64;

/// A place in one queue. A nested call waits for no lock, so a cap's queue need not be in the order of tickets.
type Place = u64;

/// What a call needs before its attempts may run.
#[derive(Debug, Default)]
struct Needs {
    lock: Option<Share>,
    /// Its kind, if that has a cap.
    kind: Option<Arc<str>>,
    /// Who it is, for a world that asks who waits for whom.
    shown: Option<Shown>,
    /// What it says there now.
    claims: Vec<WaitGuard>,
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
    /// What a share of it is called in a world.
    name: Option<Arc<str>>,
    capacity: u32,
    in_use: u32,
    waiting: BTreeMap<Place, (Ticket, u32)>,
    next: Place,
}

impl FairShares {
    fn new(name: Option<String>, capacity: u32) -> Self {
        Self { name: name.map(Arc::from), capacity, in_use: 0, waiting: BTreeMap::new(), next: 0 }
    }

    /// Takes `weight`, at most the capacity, or joins the queue.
    fn request(&mut self, ticket: Ticket, weight: u32) -> Result<(), Place> {
        if self.waiting.is_empty() && weight <= self.capacity - self.in_use {
            self.in_use += weight;
            return Ok(());
        }
        let place = if is_weakened(Weakness::LockUnordered) { Place::MAX - self.next } else { self.next };
        self.next += 1;
        self.waiting.insert(place, (ticket, weight));
        Err(place)
    }

    /// Gives back what was granted; returns the tickets that are granted now, in order.
    fn release(&mut self, weight: u32) -> Vec<Ticket> {
        self.in_use -= weight;
        self.grant()
    }

    /// Leaves the queue; returns the tickets that are granted now, in order.
    fn withdraw(&mut self, place: Place) -> Vec<Ticket> {
        self.waiting.remove(&place);
        self.grant()
    }

    fn grant(&mut self) -> Vec<Ticket> {
        let mut granted = Vec::new();
        while let Some(head) = self.waiting.first_entry() {
            let (ticket, weight) = *head.get();
            if weight > self.capacity - self.in_use {
                break;
            }
            head.remove();
            self.in_use += weight;
            granted.push(ticket);
        }
        granted
    }
}

/// A run's lock and caps, and who waits for them.
#[derive(Debug)]
struct RunQueue {
    lock: FairShares,
    caps: BTreeMap<String, FairShares>,
    /// Those that wait, or were granted and do not know it yet. By ticket, and so in the order of arrival.
    waiting: VecDeque<Waiting>,
    next: Ticket,
}

#[derive(Debug)]
struct Waiting {
    ticket: Ticket,
    needs: Needs,
    stage: Stage,
    waker: Option<Waker>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    WaitsForLock(Place),
    WaitsForCap(Place),
    Granted,
}

impl RunQueue {
    fn new(caps: &BTreeMap<String, NonZeroU32>, shown_as: Option<&str>) -> Self {
        let cap = |(kind, cap): (&String, &NonZeroU32)| {
            let name = shown_as.map(|run| format!("a place of kind `{kind}` (cap {cap}) in {run}"));
            let cap = cap.get().saturating_add(is_weakened(Weakness::CapOneMore).into());
            (kind.clone(), FairShares::new(name, cap))
        };
        let lock = FairShares::new(shown_as.map(|run| format!("the lock of {run}")), u32::MAX);
        Self { lock, caps: caps.iter().map(cap).collect(), waiting: VecDeque::new(), next: 0 }
    }

    /// Takes what the call needs, or joins the queue.
    fn join(&mut self, mut needs: Needs) -> Result<Needs, Ticket> {
        let ticket = self.next;
        self.next += 1;
        let lock = needs.lock.map_or(Ok(()), |share| self.lock.request(ticket, share.weight()));
        let stage = match lock {
            Ok(()) => self.go_to_cap(ticket, needs.kind.as_deref()),
            Err(place) => Stage::WaitsForLock(place),
        };
        self.show(stage, &mut needs);
        if stage == Stage::Granted {
            return Ok(needs);
        }
        self.waiting.push_back(Waiting { ticket, needs, stage, waker: None });
        Err(ticket)
    }

    /// The lock is the call's, or it needs none.
    fn go_to_cap(&mut self, ticket: Ticket, kind: Option<&str>) -> Stage {
        let cap = kind.and_then(|kind| self.caps.get_mut(kind));
        match cap.map_or(Ok(()), |cap| cap.request(ticket, 1)) {
            Ok(()) => Stage::Granted,
            Err(place) => Stage::WaitsForCap(place),
        }
    }

    fn index(&self, ticket: Ticket) -> Option<usize> {
        self.waiting.binary_search_by_key(&ticket, |waiting| waiting.ticket).ok()
    }

    /// What was granted, if it was; else leaves the waker.
    fn collect(&mut self, ticket: Ticket, waker: &Waker) -> Option<Needs> {
        let index = self.index(ticket)?;
        if self.waiting[index].stage == Stage::Granted {
            return self.waiting.remove(index).map(|waiting| waiting.needs);
        }
        self.waiting[index].waker = Some(waker.clone());
        None
    }

    /// Leaves the queue, and gives back what the call got so far. Returns the wakers of those that are granted now.
    fn withdraw(&mut self, ticket: Ticket) -> Vec<Waker> {
        let waiting = self.index(ticket).and_then(|index| self.waiting.remove(index));
        waiting.map_or_else(Vec::new, |Waiting { stage, needs, .. }| self.give_up(stage, &needs))
    }

    /// Gives up what a call in this stage holds or waits for. Returns the wakers of those that are granted now.
    fn give_up(&mut self, stage: Stage, needs: &Needs) -> Vec<Waker> {
        let mut granted = Vec::new();
        if let Some(cap) = needs.kind.as_deref().and_then(|kind| self.caps.get_mut(kind)) {
            granted = match stage {
                Stage::WaitsForLock(_) => Vec::new(),
                Stage::WaitsForCap(place) => cap.withdraw(place),
                Stage::Granted => cap.release(1),
            };
        }
        for ticket in &granted {
            self.move_to(*ticket, Stage::Granted);
        }
        let has_lock = match (stage, needs.lock) {
            (_, None) => Vec::new(),
            (Stage::WaitsForLock(place), Some(_)) => self.lock.withdraw(place),
            (_, Some(share)) => self.lock.release(share.weight()),
        };
        for ticket in has_lock {
            let kind = self.index(ticket).and_then(|index| self.waiting[index].needs.kind.clone());
            let stage = self.go_to_cap(ticket, kind.as_deref());
            self.move_to(ticket, stage);
            if stage == Stage::Granted {
                granted.push(ticket);
            }
        }
        granted.into_iter().filter_map(|ticket| self.waker_of(ticket)).collect()
    }

    fn waker_of(&mut self, ticket: Ticket) -> Option<Waker> {
        let index = self.index(ticket)?;
        self.waiting[index].waker.take()
    }

    fn move_to(&mut self, ticket: Ticket, stage: Stage) {
        if let Some(index) = self.index(ticket) {
            let mut needs = std::mem::take(&mut self.waiting[index].needs);
            self.show(stage, &mut needs);
            self.waiting[index].needs = needs;
            self.waiting[index].stage = stage;
        }
    }

    /// Says in a world what a call in this stage holds and waits for.
    fn show(&self, stage: Stage, needs: &mut Needs) {
        let Some(shown) = &needs.shown else { return };
        let lock = needs.lock.and(self.lock.name.as_ref());
        let cap = needs.kind.as_deref().and_then(|kind| self.caps.get(kind)?.name.as_ref());
        let (lock_is_held, cap) = match stage {
            Stage::WaitsForLock(_) => (false, None),
            Stage::WaitsForCap(_) | Stage::Granted => (true, cap),
        };
        let lock = lock.map(|lock| shown.claim(lock, lock_is_held));
        let cap = cap.map(|cap| shown.claim(cap, stage == Stage::Granted));
        needs.claims = lock.into_iter().chain(cap).collect();
    }
}

/// A [`RunQueue`] that tasks can wait on, from any thread and runtime.
#[derive(Debug)]
pub(super) struct RunLock {
    queue: Mutex<RunQueue>,
}

impl RunLock {
    /// With caps for these kinds. In a world it is shown as that of this run.
    pub(super) fn new(caps: &BTreeMap<String, NonZeroU32>, shown_as: Option<&str>) -> Self {
        Self { queue: Mutex::new(RunQueue::new(caps, shown_as)) }
    }

    /// Waits for a share of the lock, and for a place under the cap of `kind` if it has one; a nested call may need
    /// neither. It joins the queue when first polled; dropping it leaves the queue.
    pub(super) fn acquire<'a>(
        &'a self,
        lock: Option<Share>,
        kind: Option<&'a Arc<str>>,
        shown: Option<Shown>,
    ) -> Acquire<'a> {
        Acquire { queue: &self.queue, state: AcquireState::Unpolled { lock, kind, shown } }
    }
}

/// The future of [`RunLock::acquire`].
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub(super) struct Acquire<'a> {
    queue: &'a Mutex<RunQueue>,
    state: AcquireState<'a>,
}

#[derive(Debug)]
enum AcquireState<'a> {
    Unpolled { lock: Option<Share>, kind: Option<&'a Arc<str>>, shown: Option<Shown> },
    Waiting(Ticket),
    Done,
}

impl<'a> Future for Acquire<'a> {
    type Output = Permit<'a>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Permit<'a>> {
        let queue = self.queue;
        let mut locked = queue.lock();
        if let AcquireState::Unpolled { lock, kind, shown } = &mut self.state {
            let kind = kind.filter(|kind| locked.caps.contains_key(&***kind)).cloned();
            let needs = Needs { lock: *lock, kind, shown: shown.take(), claims: Vec::new() };
            match locked.join(needs) {
                Ok(granted) => {
                    self.state = AcquireState::Done;
                    return Poll::Ready(Permit { queue, granted });
                }
                Err(ticket) => self.state = AcquireState::Waiting(ticket),
            }
        }
        let AcquireState::Waiting(ticket) = self.state else { return Poll::Pending };
        match locked.collect(ticket, context.waker()) {
            Some(granted) => {
                self.state = AcquireState::Done;
                Poll::Ready(Permit { queue, granted })
            }
            None => Poll::Pending,
        }
    }
}

impl Drop for Acquire<'_> {
    fn drop(&mut self) {
        if let AcquireState::Waiting(ticket) = self.state {
            let wakers = self.queue.lock().withdraw(ticket);
            wakers.into_iter().for_each(Waker::wake);
        }
    }
}

/// What a call holds, given back on drop.
#[derive(Debug)]
#[must_use = "dropping the permit gives the lock and the cap back"]
pub(super) struct Permit<'a> {
    queue: &'a Mutex<RunQueue>,
    granted: Needs,
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        let wakers = self.queue.lock().give_up(Stage::Granted, &self.granted);
        // Outside the lock: a waker may run anything.
        wakers.into_iter().for_each(Waker::wake);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use tokio_test::task::{Spawn, spawn};
    use tokio_test::{assert_pending, assert_ready};

    use super::*;

    fn lock(caps: &[(&str, u32)]) -> RunLock {
        let caps = caps.iter().map(|(kind, cap)| ((*kind).to_owned(), NonZeroU32::new(*cap).unwrap()));
        RunLock::new(&caps.collect(), None)
    }

    /// Waits for a share, and for the cap of the kind "a" or "b".
    fn waits<'a>(lock: &'a RunLock, share: impl Into<Option<Share>>, kind: &str) -> Spawn<Acquire<'a>> {
        static KINDS: LazyLock<[Arc<str>; 2]> = LazyLock::new(|| ["a".into(), "b".into()]);
        spawn(lock.acquire(share.into(), KINDS.iter().find(|known| ***known == *kind), None))
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
    fn a_nested_call_that_gives_up_leaves_nothing_behind_whoever_came_before_it() {
        let lock = lock(&[("a", 1)]);
        let exclusive = assert_ready!(waits(&lock, Share::Exclusive, "b").poll());
        let held = assert_ready!(waits(&lock, None, "a").poll());
        // It arrives first, and joins the cap's queue last: only when the lock is its.
        let mut early = waits(&lock, Share::Shared, "a");
        assert_pending!(early.poll());
        let mut nested = waits(&lock, None, "a");
        assert_pending!(nested.poll());
        drop(exclusive);
        assert_pending!(early.poll());
        drop(nested);
        drop(held);
        drop(assert_ready!(early.poll()));
        let queue = lock.queue.lock();
        assert_eq!((queue.waiting.len(), queue.lock.in_use, queue.caps["a"].in_use), (0, 0, 0));
    }

    #[test]
    fn a_nested_call_needs_only_its_cap() {
        let lock = lock(&[("a", 1)]);
        let held = assert_ready!(waits(&lock, Share::Exclusive, "b").poll());
        let capped = assert_ready!(waits(&lock, None, "a").poll());
        drop(assert_ready!(waits(&lock, None, "b").poll()));
        assert_pending!(waits(&lock, None, "a").poll());
        drop((capped, held));
        let queue = lock.queue.lock();
        assert_eq!((queue.waiting.len(), queue.lock.in_use, queue.caps["a"].in_use), (0, 0, 0));
    }

    #[test]
    fn an_unpolled_request_is_not_in_the_queue() {
        let lock = lock(&[]);
        let unpolled = waits(&lock, Share::Exclusive, "a");
        drop(assert_ready!(waits(&lock, Share::Shared, "a").poll()));
        drop(unpolled);
        assert!(lock.queue.lock().waiting.is_empty());
    }
}
