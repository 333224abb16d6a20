//! A limiter that has every feature and keeps every point, unless it is given a flaw.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Duration;

use parking_lot::Mutex;
use windtunnel_core::env::Env;
use windtunnel_proptests::suites::{LimitFeature, LimitPolicy, LimitRefusal, LimitSubject, Limiter, Work, WorkError};

use super::flaws::Flaw;

#[derive(Default)]
pub(crate) struct Reference(pub(crate) Option<Flaw>);

pub(crate) struct ReferenceLimiter {
    limits: LimitPolicy,
    env: Env,
    flaw: Option<Flaw>,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    calls: u64,
    cost: u64,
    /// Which window `calls` are of.
    window: u128,
    under_way: u32,
    tickets: u64,
    /// Those who wait, in order.
    waiting: Vec<(u64, Option<Waker>)>,
    is_stuck: bool,
}

impl LimitSubject for Reference {
    type Limiter = ReferenceLimiter;

    fn features(&self) -> Vec<LimitFeature> {
        use LimitFeature::*;
        vec![CallsMax, AtOnce, Waits, CostMax, Window]
    }

    fn limiter(&self, limits: &LimitPolicy, env: Env) -> Result<ReferenceLimiter, String> {
        Ok(ReferenceLimiter { limits: *limits, env, flaw: self.0, state: Arc::default() })
    }
}

impl Limiter for ReferenceLimiter {
    async fn call(&self, work: Work) -> Result<(), LimitRefusal> {
        let cost = work.cost();
        self.count(cost)?;
        let mut place = self.place().await;
        let ended = work.run().await;
        place.end(&ended);
        let mut state = self.state.lock();
        if self.has(Flaw::CountsWhenDone) {
            state.calls += 1;
        }
        if self.has(Flaw::CountsCostsWhenDone) {
            state.cost += cost;
        }
        Ok(())
    }
}

impl ReferenceLimiter {
    fn has(&self, flaw: Flaw) -> bool {
        self.flaw == Some(flaw)
    }

    fn count(&self, cost: u64) -> Result<(), LimitRefusal> {
        let mut state = self.state.lock();
        let window = self.window();
        if window > state.window && !self.has(Flaw::NeverOpensAWindow) {
            (state.window, state.calls) = (window, 0);
        }
        let calls_max = match self.flaw {
            Some(Flaw::AllowsOneCallMore | Flaw::AllowsOneMoreInAWindow) => self.limits.calls_max.map(|max| max + 1),
            _ => self.limits.calls_max,
        };
        if calls_max.is_some_and(|max| state.calls >= max) {
            return Err(LimitRefusal("all calls are made".to_owned()));
        }
        let sum = match self.flaw {
            Some(Flaw::WrapsCosts) => Some(state.cost.wrapping_add(cost)),
            Some(Flaw::RefusesWhatJustFits) => state.cost.checked_add(cost + 1),
            _ => state.cost.checked_add(cost),
        };
        let fits = self.limits.cost_max.is_none_or(|max| sum.is_some_and(|sum| sum <= max));
        if !self.has(Flaw::CountsWhenDone) && (fits || self.has(Flaw::CountsRefusedCalls)) {
            state.calls += 1;
        }
        if !self.has(Flaw::CountsCostsWhenDone) && (fits || self.has(Flaw::CountsRefusedCosts)) {
            state.cost = sum.unwrap_or(u64::MAX);
        }
        if fits { Ok(()) } else { Err(LimitRefusal("it costs too much".to_owned())) }
    }

    fn window(&self) -> u128 {
        let Some(window) = self.limits.window else { return 0 };
        let late = if self.has(Flaw::OpensWindowsLate) { Duration::from_millis(1) } else { Duration::ZERO };
        self.env.now().saturating_sub(late).as_nanos() / window.as_nanos()
    }

    /// A place among those at once, as soon as there is one.
    async fn place(&self) -> Place {
        let at_once = match (self.limits.at_once, self.flaw) {
            (None, _) => u32::MAX,
            (Some(max), Some(Flaw::AllowsOneMoreAtOnce)) => max + 1,
            (Some(max), Some(Flaw::AllowsOneLessAtOnce)) => (max - 1).max(1),
            (Some(max), _) => max,
        };
        let ticket = {
            let mut state = self.state.lock();
            state.tickets += 1;
            let ticket = state.tickets;
            match self.flaw {
                Some(Flaw::ServesTheLastFirst) => state.waiting.insert(0, (ticket, None)),
                _ => state.waiting.push((ticket, None)),
            }
            ticket
        };
        let mut waiting = Waiting { state: Arc::clone(&self.state), ticket, flaw: self.flaw, is_served: false };
        poll_fn(|context| {
            let mut state = self.state.lock();
            let is_first = state.waiting.first().is_some_and(|(first, _)| *first == ticket);
            if is_first && state.under_way < at_once && !state.is_stuck {
                state.waiting.remove(0);
                state.under_way += 1;
                return Poll::Ready(());
            }
            if let Some(own) = state.waiting.iter_mut().find(|(other, _)| *other == ticket) {
                own.1 = Some(context.waker().clone());
            }
            Poll::Pending
        })
        .await;
        waiting.is_served = true;
        // The next one may have room too.
        self.state.lock().wake_first();
        Place { state: Arc::clone(&self.state), flaw: self.flaw, ended: None }
    }
}

impl State {
    fn wake_first(&mut self) {
        if let Some((_, Some(waker))) = self.waiting.first() {
            waker.wake_by_ref();
        }
    }
}

/// Waits for its turn.
struct Waiting {
    state: Arc<Mutex<State>>,
    ticket: u64,
    flaw: Option<Flaw>,
    is_served: bool,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if self.is_served {
            return;
        }
        let mut state = self.state.lock();
        match self.flaw {
            Some(Flaw::KeepsPlacesOfWaiting) => state.under_way += 1,
            Some(Flaw::ServesNobodyAfterADrop) => state.is_stuck = true,
            _ => {}
        }
        state.waiting.retain(|(ticket, _)| *ticket != self.ticket);
        state.wake_first();
    }
}

/// One of those at once.
struct Place {
    state: Arc<Mutex<State>>,
    flaw: Option<Flaw>,
    ended: Option<Result<(), WorkError>>,
}

impl Place {
    fn end(&mut self, ended: &Result<(), WorkError>) {
        self.ended = Some(*ended);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let is_kept = match (self.flaw, self.ended) {
            (Some(Flaw::KeepsPlacesOfAllButErrors), ended) => ended != Some(Err(WorkError)),
            (Some(Flaw::KeepsPlacesOfErrors), ended) => ended == Some(Err(WorkError)),
            (Some(Flaw::KeepsPlacesOfPanics), None) => std::thread::panicking(),
            (Some(Flaw::KeepsPlacesOfDropped), None) => !std::thread::panicking(),
            _ => false,
        };
        if !is_kept {
            let mut state = self.state.lock();
            state.under_way -= 1;
            state.wake_first();
        }
    }
}
