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
fn an_alarm_inside_another_one_leaves_it_armed() {
    let outer = Alarm::arm(Policy::Note, Zero, || false);
    let scope = guest();
    {
        let inner = Alarm::arm(Policy::Note, Zero, || false);
        let _worlds = Instant::now();
        let _guest = guest();
        let _noted_inside = (Instant::now(), Instant::now());
        assert_eq!(count(inner), 2);
    }
    let _noted = Instant::now();
    drop(scope);
    let _worlds = Instant::now();
    assert_eq!(count(outer), 1);
    let _unarmed = (guest(), Instant::now());
}

#[test]
fn alarms_may_be_disarmed_in_any_order() {
    let outer = Alarm::arm(Policy::Note, Zero, || false);
    let inner = Alarm::arm(Policy::Note, Zero, || false);
    assert_eq!(count(outer), 0);
    {
        let _guest = guest();
        let _noted = Instant::now();
    }
    assert_eq!(count(inner), 1);
    let _unarmed = (guest(), Instant::now());
    assert_eq!(count(Alarm::arm(Policy::Note, Zero, || false)), 0);
}

#[test]
fn a_forked_process_has_nobody_to_tell() {
    let alarm = Alarm::arm(Policy::Note, Zero, || false);
    let scope = guest();
    // SAFETY: the child reads a clock, disarms and ends.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let _unnoticed = Instant::now();
        let leaks = count(alarm);
        // SAFETY: nothing of the parent's is to be run here.
        unsafe { libc::_exit(i32::from(leaks != 0)) }
    }
    drop(scope);
    let mut status = 0;
    // SAFETY: there is a place for the status.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!((status, count(alarm)), (0, 0));
}

#[test]
fn many_threads_have_alarms_of_their_own() {
    let threads: Vec<_> = (0..32)
        .map(|reads| {
            std::thread::spawn(move || {
                let alarm = Alarm::arm(Policy::Note, Zero, || false);
                for _ in 0..reads {
                    let _worlds = Instant::now();
                    let _guest = guest();
                    let _noted = Instant::now();
                }
                count(alarm)
            })
        })
        .collect();
    let counts: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert_eq!(counts, (0..32).collect::<Vec<_>>());
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
