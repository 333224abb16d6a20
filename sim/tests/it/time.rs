//! Time: exact, jumping, and in step with tokio's.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::join_all;
use windtunnel_sim::{World, WorldError};

const DAY: Duration = Duration::from_secs(86_400);

#[test]
fn time_jumps_and_is_exact_to_the_nanosecond() {
    let waits = [1, 999, 1_000_000, 1_500_001, 3_600_000_000_007, 25_920_000_000_000_011].map(Duration::from_nanos);
    let run = World::new(1).run(|world| async move {
        for wait in waits {
            let before = world.env().now();
            world.env().sleep(wait).await;
            assert_eq!(world.env().now() - before, wait);
        }
    });
    run.outcome.unwrap();
    assert_eq!(run.elapsed, waits.iter().sum());
}

#[test]
fn fractions_of_a_millisecond_do_not_add_up() {
    let run = World::new(1).run(|world| async move {
        // From 0.6 ms to 2.2 ms: two ticks of tokio's clock away, but not two milliseconds.
        for (wait_us, now_us) in [(600, 600), (1_600, 2_200), (1_799, 3_999), (2, 4_001), (998, 4_999), (1, 5_000)] {
            world.env().sleep(Duration::from_micros(wait_us)).await;
            assert_eq!(world.env().now(), Duration::from_micros(now_us));
        }
    });
    run.outcome.unwrap();
}

#[test]
fn timers_fire_in_order_of_deadline_then_of_arming() {
    let order = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&order);
    let run = World::new(1).run(|world| async move {
        let waits = [("c", 30), ("a", 10), ("b1", 20), ("b2", 20), ("d", 1_000_030)];
        join_all(waits.map(|(name, nanos)| {
            let (env, seen) = (world.env(), Arc::clone(&seen));
            async move {
                env.sleep(Duration::from_nanos(nanos)).await;
                seen.lock().unwrap().push((name, env.now().as_nanos()));
            }
        }))
        .await;
    });
    run.outcome.unwrap();
    assert_eq!(*order.lock().unwrap(), [("a", 10), ("b1", 20), ("b2", 20), ("c", 30), ("d", 1_000_030)]);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "library code in a world may use tokio's timers")]
fn timers_of_tokio_keep_step_with_the_worlds() {
    let run = World::new(1).run(|world| async move {
        let env = world.env();
        let library = tokio::spawn({
            let env = env.clone();
            async move {
                tokio::time::sleep(Duration::from_millis(5)).await;
                let first = env.now();
                tokio::time::sleep(DAY).await;
                (first, env.now())
            }
        });
        env.sleep(Duration::from_nanos(4_999_999)).await;
        assert!(!library.is_finished());
        env.sleep(Duration::from_millis(2)).await;
        assert_eq!(env.now(), Duration::from_nanos(6_999_999));
        library.await.unwrap()
    });
    let (first, second) = run.outcome.unwrap();
    assert_eq!(first, Duration::from_millis(5));
    // tokio rounds a deadline up to its grain of 1 ms.
    assert_eq!(second, DAY + Duration::from_millis(5));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "library code in a world may use tokio's timers")]
fn a_timer_of_tokio_that_is_due_comes_before_what_the_world_does_next() {
    let run = World::new(1).run(|world| async move {
        let env = world.env();
        let library = tokio::spawn({
            let env = env.clone();
            async move {
                tokio::time::sleep(Duration::from_millis(3)).await;
                // Armed before the world goes on, so it must come in time.
                env.sleep(Duration::from_micros(100)).await;
                env.now()
            }
        });
        env.sleep(Duration::from_micros(2_200)).await;
        env.sleep(Duration::from_micros(1_799)).await;
        assert!(library.is_finished());
        library.await.unwrap()
    });
    assert_eq!(run.outcome.unwrap(), Duration::from_micros(3_100));
}

#[test]
fn a_cancelled_timer_does_not_hold_time_back_or_move_it() {
    let run = World::new(1).run(|world| async move {
        let env = world.env();
        assert!(env.timeout(Duration::from_secs(1), env.sleep(DAY)).await.is_err());
        assert_eq!(env.timeout(DAY, env.sleep(Duration::from_secs(1))).await, Ok(()));
    });
    run.outcome.unwrap();
    assert_eq!(run.elapsed, Duration::from_secs(2));
}

#[test]
fn a_timer_that_nobody_waits_for_any_more_does_not_stop_the_world() {
    let run = World::new(1).run(|world| async move {
        let env = world.env();
        let mut forgotten = Box::pin(env.sleep(Duration::from_micros(10)));
        assert!(forgotten.as_mut().now_or_never().is_none());
        env.sleep(DAY).await;
        forgotten.await;
        env.now()
    });
    assert_eq!(run.outcome.unwrap(), DAY);
}

#[test]
fn the_wall_clock_starts_at_the_epoch() {
    let epoch = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let run = World::new(1).epoch(epoch).run(|world| async move {
        world.env().sleep(DAY).await;
        world.env().wall()
    });
    assert_eq!(run.outcome.unwrap(), epoch + DAY);
    let default = World::new(1).run(|world| async move { world.env().wall() }).outcome.unwrap();
    assert_eq!(default.duration_since(std::time::SystemTime::UNIX_EPOCH).unwrap().as_secs(), 1_735_689_600);
}

#[test]
fn a_world_that_cannot_end_says_why() {
    let stuck = World::new(1).run(|_| std::future::pending::<()>());
    assert!(matches!(stuck.outcome, Err(WorldError::Stuck { .. })), "{:?}", stuck.outcome);

    let endless = World::new(1).time_limit(DAY).run(|world| async move {
        loop {
            world.env().sleep(Duration::from_secs(7)).await;
        }
    });
    let outcome: Result<(), _> = endless.outcome;
    assert!(matches!(outcome, Err(WorldError::TimeLimit { limit: DAY, .. })), "{outcome:?}");
    assert!(endless.elapsed <= DAY);

    let spinning = World::new(1).run(|_| async {
        loop {
            tokio::task::yield_now().await;
        }
    });
    let outcome: Result<(), _> = spinning.outcome;
    assert!(matches!(outcome, Err(WorldError::Spinning { .. })), "{outcome:?}");
}

#[test]
fn blocking_work_takes_no_time_in_a_world() {
    let run = World::new(1).run(|world| async move { world.env().run_blocking(|| 7).await });
    assert_eq!((run.outcome.unwrap().unwrap(), run.elapsed), (7, Duration::ZERO));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "library code in a world may spawn tasks")]
fn waits_of_no_time_let_others_run_and_do_not_hang_the_world() {
    let run = World::new(1).run(|world| async move {
        let env = world.env();
        let other = tokio::spawn(async { 7 });
        env.sleep(Duration::ZERO).await;
        env.sleep(Duration::ZERO).await;
        assert!(other.is_finished());
        loop {
            env.sleep(Duration::ZERO).await;
        }
    });
    let outcome: Result<(), _> = run.outcome;
    assert!(matches!(outcome, Err(WorldError::Spinning { .. })), "{outcome:?}");
}

#[test]
fn a_scenario_may_move_tokios_clock_itself() {
    let run = World::new(1).run(|world| async move {
        tokio::time::advance(Duration::from_millis(5_500)).await;
        world.env().sleep(Duration::from_secs(2)).await;
        world.env().now()
    });
    assert_eq!(run.outcome.unwrap(), Duration::from_millis(7_500));
}
