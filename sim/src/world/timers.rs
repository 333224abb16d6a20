//! The world's timers: by deadline in nanoseconds, then by the order of arming.

use std::collections::BTreeMap;
use std::task::Waker;

/// A timer's place.
pub(crate) type TimerKey = (u64, u64);

/// Which timers are armed. Knows no clock.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    armed: BTreeMap<TimerKey, Waker>,
    order: u64,
}

impl Timers {
    pub(crate) fn arm(&mut self, deadline_ns: u64, waker: Waker) -> TimerKey {
        let key = (deadline_ns, self.order);
        self.order += 1;
        self.armed.insert(key, waker);
        key
    }

    /// Gives an armed timer another waker, and returns the old one. A timer that has fired stays so.
    pub(super) fn rewake(&mut self, key: TimerKey, waker: &Waker) -> Option<Waker> {
        let armed = self.armed.get_mut(&key).filter(|armed| !armed.will_wake(waker))?;
        Some(std::mem::replace(armed, waker.clone()))
    }

    pub(crate) fn disarm(&mut self, key: TimerKey) -> Option<Waker> {
        self.armed.remove(&key)
    }

    pub(super) fn next_deadline_ns(&self) -> Option<u64> {
        self.armed.first_key_value().map(|((deadline_ns, _), _)| *deadline_ns)
    }

    /// Takes out the timers that are due, in order.
    pub(super) fn fire(&mut self, now_ns: u64) -> Vec<Waker> {
        let mut due = Vec::new();
        while let Some(first) = self.armed.first_entry().filter(|first| first.key().0 <= now_ns) {
            due.push(first.remove());
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_fire_by_deadline_and_then_by_order_of_arming() {
        let mut timers = Timers::default();
        let waker = Waker::noop();
        let late = timers.arm(2, waker.clone());
        let early = timers.arm(1, waker.clone());
        let also_late = timers.arm(2, waker.clone());
        assert!(early < late && late < also_late);
        assert!(timers.fire(0).is_empty());
        assert_eq!(timers.fire(1).len(), 1);
        assert!(timers.fire(1).is_empty());
        assert_eq!(timers.next_deadline_ns(), Some(2));
        timers.arm(3, waker.clone());
        timers.disarm(late);
        assert_eq!(timers.fire(2).len(), 1);
        assert_eq!(timers.fire(5).len(), 1);
        assert_eq!(timers.next_deadline_ns(), None);
    }
}
