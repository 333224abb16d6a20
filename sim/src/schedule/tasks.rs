//! All tasks of a world, and the scenario among them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use futures_core::future::BoxFuture;
use parking_lot::Mutex;
use rand_chacha::ChaCha8Rng;
use slab::Slab;
use windtunnel_core::env::Waits;

use super::dropping::drop_quietly;
use super::order::{Candidate, Choice, Chooser, Schedule};
use super::ready::{Owner, TaskId, Waking};
use super::task::{Awaited, Ending, Label, Task};

/// The tasks. Clones share them.
#[derive(Clone)]
pub(crate) struct Tasks {
    shared: Arc<Shared>,
    waits: Waits,
}

pub(super) struct Shared {
    inner: Mutex<Inner>,
}

struct Inner {
    slots: Slab<Slot>,
    numbers: u64,
    /// In the order in which they became ready. The scenario is none of the slots.
    ready: Vec<Option<TaskId>>,
    is_scenario_ready: bool,
    scenario_rank: u64,
    scenario_turns: u64,
    paused: BTreeSet<Owner>,
    chooser: Chooser,
    /// Wakes the driver, when it does not run.
    driver: Waker,
    is_driven: bool,
}

struct Slot {
    number: u64,
    owner: Owner,
    label: Label,
    /// Taken out while it is polled.
    future: Option<BoxFuture<'static, ()>>,
    waker: Waker,
    is_ready: bool,
    rank: u64,
    /// How often it went on.
    turns: u64,
}

/// What runs next.
pub(crate) enum Next {
    Scenario,
    Task(Running),
}

/// A task that is about to be polled.
pub(crate) struct Running {
    id: TaskId,
    future: BoxFuture<'static, ()>,
    waker: Waker,
}

impl Tasks {
    pub(crate) fn new(schedule: Schedule, generator: ChaCha8Rng, keeps_choices: bool, waits: Waits) -> Self {
        let mut chooser = Chooser::new(schedule, generator, keeps_choices);
        let inner = Inner {
            slots: Slab::new(),
            numbers: 0,
            ready: vec![None],
            is_scenario_ready: true,
            scenario_rank: chooser.rank(),
            scenario_turns: 0,
            paused: BTreeSet::new(),
            chooser,
            driver: Waker::noop().clone(),
            is_driven: false,
        };
        Self { shared: Arc::new(Shared { inner: Mutex::new(inner) }), waits }
    }

    /// Which task went on wherever several could, if that is kept.
    pub(crate) fn take_choices(&self) -> Option<Vec<u64>> {
        self.shared.inner.lock().chooser.take_chosen()
    }

    /// The scenario's own waker.
    pub(crate) fn scenario_waker(&self) -> Waker {
        Arc::new(Waking { task: None, shared: Arc::downgrade(&self.shared) }).into()
    }

    /// Adds a task, which can go on at once.
    pub(crate) fn spawn<T, F>(&self, owner: Owner, label: Label, future: F) -> Task<T>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let (mut task, ending): (Task<T>, Ending<T>) = Task::new();
        let future: BoxFuture<'static, ()> = Box::pin(async move { ending.end(future.await) });
        let (waker, number) = {
            let mut inner = self.shared.inner.lock();
            inner.numbers += 1;
            let (number, rank) = (inner.numbers, inner.chooser.rank());
            let entry = inner.slots.vacant_entry();
            let id = TaskId { place: entry.key(), number };
            let waker: Waker = Arc::new(Waking { task: Some(id), shared: Arc::downgrade(&self.shared) }).into();
            let label = label.clone();
            let (future, waker_of_slot) = (Some(future), waker.clone());
            entry.insert(Slot { number, owner, label, future, waker: waker_of_slot, is_ready: false, rank, turns: 0 });
            (waker, number)
        };
        waker.wake();
        task.awaited = Some(Awaited { waits: self.waits.clone(), number, label });
        task
    }

    /// Takes out what the owner has, in the order of spawning, for the caller to drop.
    pub(crate) fn take_all(&self, owner: Owner) -> Vec<BoxFuture<'static, ()>> {
        let mut inner = self.shared.inner.lock();
        let of_owner = |(place, slot): (usize, &Slot)| (slot.owner == owner).then_some((slot.number, place));
        let mut places: Vec<_> = inner.slots.iter().filter_map(of_owner).collect();
        places.sort_unstable();
        places.iter().for_each(|(number, _)| self.waits.forget(*number));
        let taken = places.into_iter().filter_map(|(_, place)| inner.slots.remove(place).future).collect();
        let Inner { slots, ready, .. } = &mut *inner;
        ready.retain(|task| task.is_none_or(|id| slots.get(id.place).is_some_and(|slot| slot.number == id.number)));
        taken
    }

    /// Lets the owner's tasks stand still, or go on.
    pub(crate) fn pause(&self, owner: Owner, is_paused: bool) {
        let driver = {
            let mut inner = self.shared.inner.lock();
            if is_paused {
                inner.paused.insert(owner)
            } else {
                inner.paused.remove(&owner)
            };
            inner.driver.clone()
        };
        driver.wake();
    }

    /// Says who is to be woken for tasks, and that tasks are run now.
    pub(crate) fn begin(&self, driver: &Waker) {
        let mut inner = self.shared.inner.lock();
        inner.driver.clone_from(driver);
        inner.is_driven = true;
    }

    /// Tasks are not run any more.
    pub(crate) fn end(&self) {
        self.shared.inner.lock().is_driven = false;
    }

    /// Chooses what runs next.
    pub(crate) fn next(&self) -> Option<Next> {
        let mut inner = self.shared.inner.lock();
        loop {
            let place = inner.choose()?;
            let taken =
                if inner.chooser.is_fair() { inner.ready.swap_remove(place) } else { inner.ready.remove(place) };
            let Some(id) = taken else {
                inner.is_scenario_ready = false;
                inner.scenario_turns += 1;
                return Some(Next::Scenario);
            };
            let Some(slot) = inner.slots.get_mut(id.place) else { continue };
            slot.is_ready = false;
            slot.turns += 1;
            if let Some(future) = slot.future.take() {
                return Some(Next::Task(Running { id, future, waker: slot.waker.clone() }));
            }
        }
    }

    /// Whether any can go on that does not stand still.
    pub(crate) fn can_go_on(&self) -> bool {
        let inner = self.shared.inner.lock();
        let stands_still = |task: &Option<TaskId>| {
            let slot = task.and_then(|id| inner.slots.get(id.place));
            slot.is_some_and(|slot| inner.paused.contains(&slot.owner))
        };
        !inner.ready.iter().all(stands_still)
    }

    /// Drops all tasks, in the order of spawning. Gives the text of the first panic of a destructor.
    pub(crate) fn drop_all(&self) -> Option<String> {
        let mut slots: Vec<_> = {
            let mut inner = self.shared.inner.lock();
            inner.ready.clear();
            inner.driver = Waker::noop().clone();
            std::mem::take(&mut inner.slots).into_iter().map(|(_, slot)| slot).collect()
        };
        slots.sort_by_key(|slot| slot.number);
        let mut panics: Vec<_> = slots.into_iter().map(drop_quietly).collect();
        // A destructor may have spawned.
        let spawned = std::mem::take(&mut self.shared.inner.lock().slots);
        panics.extend(spawned.into_iter().map(drop_quietly));
        panics.into_iter().flatten().next()
    }

    /// Those that there are, by number.
    pub(crate) fn list(&self) -> BTreeMap<u64, (Owner, Label)> {
        let inner = self.shared.inner.lock();
        inner.slots.iter().map(|(_, slot)| (slot.number, (slot.owner, slot.label.clone()))).collect()
    }

    /// How often each went on, by number; the scenario, which has no label, is the first.
    pub(crate) fn turns(&self) -> Vec<(u64, Option<Label>, u64)> {
        let inner = self.shared.inner.lock();
        let of_slot = |(_, slot): (usize, &Slot)| (slot.number, Some(slot.label.clone()), slot.turns);
        let mut turns: Vec<_> = inner.slots.iter().map(of_slot).collect();
        turns.push((0, None, inner.scenario_turns));
        turns.sort_unstable_by_key(|(number, ..)| *number);
        turns
    }

    /// How many could go on now.
    pub(crate) fn count_ready(&self) -> usize {
        self.shared.inner.lock().ready.len()
    }

    /// Polls a task once. Gives back what is to be dropped: a future that has ended, or whose owner is gone meanwhile.
    #[must_use = "it is to be dropped outside"]
    pub(crate) fn poll(&self, mut running: Running) -> Option<BoxFuture<'static, ()>> {
        self.waits.begin_turn(running.id.number);
        let polled = running.future.as_mut().poll(&mut Context::from_waker(&running.waker));
        self.waits.end_turn();
        let Running { id, future, .. } = running;
        let mut inner = self.shared.inner.lock();
        let slot = inner.slots.get_mut(id.place).filter(|slot| slot.number == id.number);
        match (polled, slot) {
            (Poll::Pending, Some(slot)) => {
                slot.future = Some(future);
                None
            }
            (Poll::Ready(()), Some(_)) => {
                inner.slots.remove(id.place);
                inner.ready.retain(|task| *task != Some(id));
                self.waits.forget(id.number);
                Some(future)
            }
            (_, None) => {
                self.waits.forget(id.number);
                Some(future)
            }
        }
    }
}

impl Inner {
    /// The place of the next in `ready`, of those that do not stand still.
    fn choose(&mut self) -> Option<usize> {
        if self.paused.is_empty() && self.ready.len() <= 1 {
            return (!self.ready.is_empty()).then_some(0);
        }
        if self.paused.is_empty() && self.chooser.is_fair() {
            let place = self.chooser.choose_of(self.ready.len());
            self.chooser.keep(|| self.ready[place].map_or(0, |id| id.number));
            return Some(place);
        }
        loop {
            let Self { slots, ready, paused, chooser, scenario_rank, .. } = self;
            let candidates: Vec<(usize, Candidate)> = ready
                .iter()
                .enumerate()
                .filter_map(|(place, task)| {
                    let candidate = match task {
                        None => Candidate { number: 0, rank: *scenario_rank },
                        Some(id) => {
                            let slot = slots.get(id.place)?;
                            if paused.contains(&slot.owner) {
                                return None;
                            }
                            Candidate { number: id.number, rank: slot.rank }
                        }
                    };
                    Some((place, candidate))
                })
                .collect();
            if candidates.is_empty() {
                return None;
            }
            match chooser.choose(candidates.iter().map(|(_, candidate)| *candidate)) {
                Choice::At(chosen) => {
                    let (place, candidate) = candidates[chosen];
                    if candidates.len() > 1 {
                        chooser.keep(|| candidate.number);
                    }
                    return Some(place);
                }
                Choice::Demote(chosen, rank) => match ready[candidates[chosen].0] {
                    None => *scenario_rank = rank,
                    Some(id) => slots[id.place].rank = rank,
                },
            }
        }
    }
}

impl Shared {
    pub(super) fn wake(&self, task: Option<TaskId>) {
        let mut inner = self.inner.lock();
        let is_ready = match task {
            None => Some(&mut inner.is_scenario_ready),
            Some(id) => {
                inner.slots.get_mut(id.place).filter(|slot| slot.number == id.number).map(|slot| &mut slot.is_ready)
            }
        };
        let Some(is_ready) = is_ready else { return };
        if std::mem::replace(is_ready, true) {
            return;
        }
        inner.ready.push(task);
        if !inner.is_driven {
            let driver = inner.driver.clone();
            drop(inner);
            driver.wake();
        }
    }
}
