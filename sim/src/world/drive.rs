//! The driver: polls the scenario, and moves time when nothing else can run.
//!
//! The world's own timers are exact; tokio's have a grain of 1 ms and cannot be asked for the next one. So time moves in
//! two steps: tokio moves its paused clock to the last whole millisecond before the next own deadline, which gives
//! timers of library code their turn, and the driver goes the rest itself. tokio calls a hook before it parks, when
//! nothing is left to run: only there does time move.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Sleep;
use windtunnel_core::env::Waits;

use super::activity::Activity;
use super::clock::Time;
use super::error::WorldError;
use super::waiting::{SCENARIO, Waiting};
use super::watch::Watch;
use crate::host::Hosts;
use crate::schedule::{Next, drop_quietly};

const NANOS_PER_MILLI: u64 = 1_000_000;

/// How often the scenario may be polled without time moving: it spins if it never waits for anything.
const POLLS_AT_ONE_INSTANT_MAX: u64 = 1_000_000;

/// Moves time. Shared by the park hook, which calls it, and the driver, which sees what came of it.
#[derive(Debug)]
pub(super) struct TimeMover {
    time: Arc<Time>,
    limit_ns: u64,
    /// Brings tokio's clock to a whole millisecond. There is none before the driver began.
    sleep: Option<Pin<Box<Sleep>>>,
    heading_for_ns: u64,
    root: Waker,
    ended: Option<WorldError>,
}

impl TimeMover {
    /// The world's time runs out at `limit_ns`.
    pub(super) fn new(time: Arc<Time>, limit_ns: u64) -> Self {
        let root = Waker::noop().clone();
        Self { time, limit_ns, sleep: None, heading_for_ns: 0, root, ended: None }
    }

    /// Nothing is left to run: moves time towards the next deadline, or fires the timers that are due.
    pub(super) fn nothing_to_run(&mut self) {
        if self.sleep.is_none() || self.ended.is_some() {
            return;
        }
        if let Err(error) = self.move_time() {
            self.ended = Some(error);
            self.root.wake_by_ref();
        }
    }

    fn move_time(&mut self) -> Result<(), WorldError> {
        if let Some(error) = self.time.take_end() {
            return Err(error);
        }
        // The scenario may have moved tokio's clock itself.
        self.time.follow_tokio();
        let next_ns = self.time.timers.lock().next_deadline_ns();
        let target_ns = next_ns.unwrap_or(u64::MAX).min(self.limit_ns);
        let now_ns = self.time.now_ns();
        let tick_ns = target_ns - target_ns % NANOS_PER_MILLI;
        if tick_ns > now_ns {
            // tokio counts whole milliseconds from wherever its clock stands: put it on one first. Its timers that are
            // due there come before those of the world.
            let whole_ns = now_ns.next_multiple_of(NANOS_PER_MILLI);
            self.advance_tokio(whole_ns - now_ns);
            self.head_for(if whole_ns > now_ns { whole_ns } else { tick_ns });
            return Ok(());
        }
        match next_ns {
            Some(next_ns) if next_ns < self.limit_ns => {
                self.advance_tokio(next_ns.saturating_sub(now_ns));
                let due = self.time.timers.lock().fire(next_ns);
                due.into_iter().for_each(Waker::wake);
                // Whoever armed them may have lost interest: then this keeps tokio from parking for good.
                self.root.wake_by_ref();
                Ok(())
            }
            Some(_) => {
                let limit = Duration::from_nanos(self.limit_ns);
                Err(WorldError::TimeLimit { limit, activity: Activity::default(), waiting: Waiting::default() })
            }
            None => Err(WorldError::Stuck { waiting: Waiting::default() }),
        }
    }

    /// Lets tokio move its clock to a whole millisecond, or to the first of its own timers before that.
    fn head_for(&mut self, tick_ns: u64) {
        if self.heading_for_ns == tick_ns {
            return;
        }
        self.heading_for_ns = tick_ns;
        if let Some(sleep) = &mut self.sleep {
            sleep.as_mut().reset(self.time.began() + Duration::from_nanos(tick_ns));
            // tokio parks no longer than to this timer, whomever it wakes.
            if sleep.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready() {
                self.root.wake_by_ref();
            }
        }
    }

    /// Moves tokio's paused clock, and the world's with it, by exactly this much.
    fn advance_tokio(&self, by_ns: u64) {
        if by_ns == 0 {
            return;
        }
        let advance = std::pin::pin!(tokio::time::advance(Duration::from_nanos(by_ns)));
        // The first poll moves the clock; the rest only yields.
        let _yielded = advance.poll(&mut Context::from_waker(Waker::noop()));
        self.time.follow_tokio();
    }
}

/// Drives one scenario, and the tasks of its hosts, to its end.
pub(super) struct Drive<F> {
    scenario: Pin<Box<F>>,
    scenario_waker: Waker,
    mover: Arc<Mutex<TimeMover>>,
    hosts: Arc<Hosts>,
    waits: Waits,
    polls: Polls,
}

/// How often the scenario was polled since time moved.
#[derive(Default)]
struct Polls {
    now_ns: u64,
    count: u64,
}

impl<F: Future> Drive<F> {
    /// Must be made inside the world's runtime.
    #[expect(clippy::disallowed_methods, reason = "the driver moves tokio's paused clock")]
    pub(super) fn new(scenario: F, mover: Arc<Mutex<TimeMover>>, hosts: Arc<Hosts>, waits: Waits) -> Self {
        {
            let mut mover = mover.lock();
            mover.sleep = Some(Box::pin(tokio::time::sleep_until(mover.time.began())));
        }
        let scenario_waker = hosts.tasks().scenario_waker();
        Self { scenario: Box::pin(scenario), scenario_waker, mover, hosts, waits, polls: Polls::default() }
    }

    /// The error, with who waits for what, and what went on.
    fn explained(&self, error: WorldError) -> WorldError {
        let waiting = |has_timers| Waiting::now(&self.waits, &self.hosts, has_timers);
        let activity = || Activity::now(&self.hosts);
        match error {
            WorldError::Stuck { .. } => WorldError::Stuck { waiting: waiting(false) },
            WorldError::TimeLimit { limit, .. } => {
                WorldError::TimeLimit { limit, activity: activity(), waiting: waiting(true) }
            }
            WorldError::TooManyEvents { events_max, .. } => {
                WorldError::TooManyEvents { events_max, activity: activity() }
            }
            error => error,
        }
    }

    /// Gives each of those that can go on now one turn, in an order that is drawn; then what runs outside has its turn.
    fn take_turns(&mut self, now_ns: u64) -> Poll<Result<F::Output, WorldError>> {
        self.hosts.fabric().turn();
        for _ in 0..self.hosts.tasks().count_ready() {
            let Some(next) = self.hosts.tasks().next() else { break };
            match next {
                Next::Scenario => {
                    let mut context = Context::from_waker(&self.scenario_waker);
                    self.waits.begin_turn(SCENARIO);
                    let polled = {
                        let _guest = Watch::guest();
                        self.scenario.as_mut().poll(&mut context)
                    };
                    self.waits.end_turn();
                    if let Poll::Ready(output) = polled {
                        return Poll::Ready(Ok(output));
                    }
                }
                Next::Task(running) => {
                    let _guest = Watch::guest();
                    let ended = self.hosts.tasks().poll(running);
                    if let Some(message) = drop_quietly(ended) {
                        self.hosts.parts().panicked(message);
                    }
                }
            }
            self.hosts.fabric().turn();
            let polls = self.polls.count(now_ns);
            if polls > POLLS_AT_ONE_INSTANT_MAX {
                return Poll::Ready(Err(WorldError::Spinning { polls, activity: Activity::now(&self.hosts) }));
            }
        }
        Poll::Pending
    }
}

impl<F> Drop for Drive<F> {
    fn drop(&mut self) {
        // What runs on hosts ends in the order in which it was begun, and before its network.
        self.hosts.close();
        // Both hold on to the runtime, whose park hook holds on to the mover.
        let mut mover = self.mover.lock();
        mover.sleep = None;
        mover.root = Waker::noop().clone();
        let timers = std::mem::take(&mut *mover.time.timers.lock());
        drop(mover);
        drop(timers);
    }
}

impl Polls {
    fn count(&mut self, now_ns: u64) -> u64 {
        if now_ns > self.now_ns {
            *self = Self { now_ns, count: 0 };
        }
        self.count += 1;
        self.count
    }
}

impl<F: Future> Future for Drive<F> {
    type Output = Result<F::Output, WorldError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let now_ns = {
            let mut mover = this.mover.lock();
            if let Some(error) = mover.ended.take() {
                return Poll::Ready(Err(this.explained(error)));
            }
            mover.root.clone_from(context.waker());
            mover.time.follow_tokio();
            mover.time.now_ns()
        };
        this.hosts.tasks().begin(context.waker());
        this.hosts.fabric().begin(context.waker());
        let turns = this.take_turns(now_ns);
        this.hosts.tasks().end();
        this.hosts.fabric().end();
        if turns.is_pending() && this.hosts.tasks().can_go_on() {
            context.waker().wake_by_ref();
        }
        turns
    }
}
