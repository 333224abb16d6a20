//! Whether the alarm is armed on a thread, who runs there, and what becomes of a call.
#![cfg_attr(
    not(all(target_os = "linux", target_env = "gnu", any(target_arch = "x86_64", target_arch = "aarch64"))),
    expect(dead_code, reason = "nothing asks where no call is noticed")
)]

use std::cell::{Cell, RefCell};
use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use crate::{Ambient, Leak, Leaks, Place};

/// The number of the next alarm that is armed.
static NEXT: AtomicU64 = AtomicU64::new(1);

thread_local! {
    /// Never dropped, so that a call at any time of a thread's life may ask.
    static RUNNING: Cell<Running> = const { Cell::new(Running { role: Role::Outside, alarm: 0 }) };
    /// The alarms that are armed on this thread, the innermost last: it is the one that is asked.
    static STATES: RefCell<Vec<State>> = const { RefCell::new(Vec::new()) };
}

/// Who runs on this thread now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Code of no world.
    Outside,
    /// The world's own, or a guest that only [`State::is_guest`] knows.
    World,
    /// The world, while it makes what guests will use.
    Preparation,
    Guest,
}

/// Who runs on this thread now, and for which alarm that was said.
#[derive(Clone, Copy, Debug)]
struct Running {
    role: Role,
    alarm: u64,
}

/// What a world has instead of what the process has around it.
pub trait Simulated {
    /// The time of day.
    fn wall(&self) -> SystemTime;

    /// The clock that only goes on.
    fn monotonic(&self) -> Duration;

    /// Chance: fills all of `bytes`.
    fn fill(&mut self, bytes: &mut [u8]);
}

/// What becomes of a guest's call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// It is noted, and goes on to the real thing.
    Note,
    /// Clocks and entropy are simulated. What a world has none of is noted, and goes on to the real thing.
    Serve,
}

struct State {
    number: u64,
    /// Who ran when it was armed.
    before: Running,
    /// A process that is forked has nobody to tell, and the locks of threads that it does not have.
    process: u32,
    policy: Policy,
    simulated: Box<dyn Simulated>,
    is_guest: fn() -> bool,
    leaks: Option<Leaks>,
}

/// An alarm that is armed on this thread. Disarmed when dropped.
#[must_use = "dropped, it is disarmed"]
pub struct Alarm {
    number: u64,
    /// It belongs to its thread.
    _thread: PhantomData<*const ()>,
}

/// Until this is dropped, somebody else runs on this thread.
#[must_use = "dropped, it is over"]
#[derive(Debug)]
pub struct Scope {
    before: Running,
    _thread: PhantomData<*const ()>,
}

impl Alarm {
    /// Arms an alarm on this thread. One that is armed there already is asked again when this one is disarmed. Outside of the
    /// scopes of [`guest`], whoever runs is a guest if `is_guest` says so; it must not wait, or reach past the world itself.
    pub fn arm(policy: Policy, simulated: impl Simulated + 'static, is_guest: fn() -> bool) -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let before = RUNNING.replace(Running { role: Role::World, alarm: number });
        let process = std::process::id();
        let state = State { number, before, process, policy, simulated: Box::new(simulated), is_guest, leaks: None };
        STATES.with_borrow_mut(|states| states.push(state));
        Self { number, _thread: PhantomData }
    }

    /// Disarms it, and gives what was noted.
    pub fn disarm(self) -> Option<Leaks> {
        take(self.number).and_then(|state| state.leaks)
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        drop(take(self.number));
    }
}

/// Takes an alarm away, in whatever order. Whoever ran when it was armed runs again.
fn take(number: u64) -> Option<State> {
    let taken = STATES.try_with(|states| {
        let mut states = states.try_borrow_mut().ok()?;
        let place = states.iter().position(|state| state.number == number)?;
        let state = states.remove(place);
        match states.get_mut(place) {
            Some(inner) => inner.before = state.before,
            None => RUNNING.set(state.before),
        }
        Some(state)
    });
    taken.ok().flatten()
}

/// A guest runs on this thread from now on. Nothing, where no alarm is armed.
pub fn guest() -> Scope {
    Scope::enter(Role::Guest)
}

/// The world makes what guests will use: entropy is simulated, and with [`Policy::Serve`] the clocks too. Nothing is noted.
pub fn preparation() -> Scope {
    Scope::enter(Role::Preparation)
}

impl Scope {
    fn enter(role: Role) -> Self {
        let before = RUNNING.get();
        if before.role != Role::Outside {
            RUNNING.set(Running { role, ..before });
        }
        Self { before, _thread: PhantomData }
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        // The alarm may have been disarmed meanwhile.
        if RUNNING.get().alarm == self.before.alarm {
            RUNNING.set(self.before);
        }
    }
}

/// Whether an alarm is armed on this thread.
pub(crate) fn is_armed() -> bool {
    RUNNING.get().role != Role::Outside
}

/// What the wall clock shows to whoever asks; `None` if it is to be the real one.
pub(crate) fn wall(call: &'static str) -> Option<SystemTime> {
    ask(Ambient::WallClock, call, |simulated| simulated.wall())
}

/// What the monotonic clock shows to whoever asks; `None` if it is to be the real one.
pub(crate) fn monotonic(call: &'static str) -> Option<Duration> {
    ask(Ambient::MonotonicClock, call, |simulated| simulated.monotonic())
}

/// Fills `bytes` for whoever asks; `None` if they are to be real entropy.
pub(crate) fn entropy(call: &'static str, bytes: &mut [u8]) -> Option<()> {
    ask(Ambient::Entropy, call, |simulated| simulated.fill(bytes))
}

/// Somebody asks for what a world has none of.
pub(crate) fn unserved(ambient: Ambient, call: &'static str) {
    let _never: Option<()> = with_state(|role, state| {
        if role == Role::Guest {
            state.note(ambient, call);
        }
        None
    });
}

fn ask<T>(ambient: Ambient, call: &'static str, serve: impl FnOnce(&mut dyn Simulated) -> T) -> Option<T> {
    with_state(|role, state| match (role, state.policy) {
        (Role::Guest | Role::Preparation, Policy::Serve) => Some(serve(&mut *state.simulated)),
        (Role::Preparation, Policy::Note) if ambient == Ambient::Entropy => Some(serve(&mut *state.simulated)),
        (Role::Guest, Policy::Note) => {
            state.note(ambient, call);
            None
        }
        _ => None,
    })
}

/// Finds out who runs. What is called in here goes to the real thing: the state is taken.
fn with_state<T>(answer: impl FnOnce(Role, &mut State) -> Option<T>) -> Option<T> {
    let role = RUNNING.get().role;
    if role == Role::Outside {
        return None;
    }
    let answered = STATES.try_with(|states| {
        let mut states = states.try_borrow_mut().ok()?;
        let state = states.last_mut()?;
        let is_guest = role == Role::Guest || role == Role::World && (state.is_guest)();
        answer(if is_guest { Role::Guest } else { role }, state)
    });
    answered.ok().flatten()
}

impl State {
    fn note(&mut self, ambient: Ambient, call: &'static str) {
        if std::process::id() != self.process {
            return;
        }
        let Some(place) = Place::of_guest() else { return };
        let first = Leak { ambient, call, place };
        self.leaks.get_or_insert(Leaks { first, count: 0 }).count += 1;
    }
}

impl fmt::Debug for Alarm {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Alarm").finish_non_exhaustive()
    }
}
