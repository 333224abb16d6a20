//! Who is a guest, and when.
#![expect(clippy::disallowed_methods, reason = "the guests here do what they must not")]

use std::time::{Duration, Instant, SystemTime};

use windtunnel_alarm::{Alarm, Policy, Simulated, guest, preparation};

struct Zero;

impl Simulated for Zero {
    fn wall(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }

    fn monotonic(&self) -> Duration {
        // The simulation itself may use the real thing, also while a guest asks.
        let _real = Instant::now();
        Duration::ZERO
    }

    fn fill(&mut self, bytes: &mut [u8]) {
        bytes.fill(0);
    }
}

fn count(alarm: Alarm) -> u64 {
    alarm.disarm().map_or(0, |leaks| leaks.count)
}

#[test]
fn only_a_guest_leaks() {
    let alarm = Alarm::arm(Policy::Note, Zero, || false);
    let _worlds = Instant::now();
    {
        let _preparation = preparation();
        let _worlds = Instant::now();
    }
    std::thread::spawn(|| {
        let _nobodys = (guest(), Instant::now());
    })
    .join()
    .unwrap();
    assert_eq!(count(alarm), 0);
    let _unarmed = (guest(), Instant::now());
}

#[test]
fn scopes_nest_and_end() {
    let alarm = Alarm::arm(Policy::Note, Zero, || false);
    {
        let _outer = guest();
        drop(guest());
        let _noted = Instant::now();
    }
    let _unnoticed = Instant::now();
    assert_eq!(count(alarm), 1);
}

#[test]
fn the_world_may_know_more_guests() {
    let alarm = Alarm::arm(Policy::Note, Zero, || true);
    let _noted = Instant::now();
    let _noted_again = Instant::now();
    assert_eq!(count(alarm), 2);
}

#[test]
fn an_alarm_that_is_dropped_or_replaced_leaves_nothing() {
    let alarm = Alarm::arm(Policy::Note, Zero, || false);
    let scope = guest();
    let _noted = Instant::now();
    drop(alarm);
    drop(scope);
    let _unnoticed = Instant::now();
    assert_eq!(count(Alarm::arm(Policy::Note, Zero, || false)), 0);
}

#[test]
fn served_clocks_stand_where_the_world_says() {
    let alarm = Alarm::arm(Policy::Serve, Zero, || false);
    let (first, second) = {
        let _guest = guest();
        (Instant::now(), Instant::now())
    };
    assert_eq!((first, count(alarm)), (second, 0));
    assert!(Instant::now() > first);
}
