//! Tasks of hosts: their order, and how they end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use windtunnel_sim::{Schedule, TaskError, World, WorldError};

#[test]
fn a_process_may_end_itself_at_any_step() {
    let run = World::new(7).run(|world| async move {
        let host = world.host("a").unwrap();
        let (own, passed) = (host.clone(), Arc::new(AtomicBool::new(false)));
        let pass = Arc::clone(&passed);
        let task = host.spawn(async move {
            own.crash();
            own.env().pause().await;
            pass.store(true, Ordering::Relaxed);
        });
        (task.await, passed.load(Ordering::Relaxed))
    });
    assert_eq!(run.outcome.unwrap(), (Err(TaskError), false));
}

#[test]
fn a_panic_on_a_host_is_the_scenarios() {
    let run = World::new(7).run(|world| async move {
        let host = world.host("a").unwrap();
        let task = host.spawn(async { panic!("broken") });
        task.await
    });
    assert!(matches!(run.outcome, Err(WorldError::Panicked { message }) if message == "on host a: broken"));
}

/// The order in which three tasks that are ready at once take three turns each.
fn order(seed: u64, schedule: Schedule) -> String {
    let run = World::new(seed).schedule(schedule).run(|world| async move {
        let host = world.host("a").unwrap();
        let turns = Arc::new(Mutex::new(String::new()));
        let tasks: Vec<_> = ["a", "b", "c"]
            .map(|name| {
                let (turns, env) = (Arc::clone(&turns), host.env());
                host.spawn(async move {
                    for _ in 0..3 {
                        turns.lock().push_str(name);
                        env.pause().await;
                    }
                })
            })
            .into();
        for task in tasks {
            task.await.unwrap();
        }
        turns.lock().clone()
    });
    run.outcome.unwrap()
}

#[test]
fn the_seed_orders_what_is_ready_at_once() {
    let orders = |schedule: Schedule| {
        (0..200).map(|seed| order(seed, schedule.clone())).collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(orders(Schedule::Arrival).len(), 1);
    assert!(orders(Schedule::Fair).len() > 100, "{}", orders(Schedule::Fair).len());
    let ranked = orders(Schedule::Ranked { changes: 1, steps: 9 });
    assert!(ranked.iter().any(|order| order.starts_with("ccc")), "one may go far while others stand still: {ranked:?}");
    assert_eq!(order(3, Schedule::Fair), order(3, Schedule::Fair));
}

#[test]
fn a_destructor_that_panics_is_the_worlds_end_and_not_the_process_s() {
    struct Fragile;
    impl Drop for Fragile {
        fn drop(&mut self) {
            panic!("shattered");
        }
    }
    for is_crashed in [false, true] {
        let run = World::new(7).run(|world| async move {
            let host = world.host("a").unwrap();
            for _ in 0..3 {
                let fragile = Fragile;
                let _task = host.spawn(async move {
                    let _kept = fragile;
                    std::future::pending::<()>().await;
                });
            }
            world.env().sleep(Duration::from_millis(1)).await;
            if is_crashed {
                host.crash();
            }
        });
        assert!(matches!(run.outcome, Err(WorldError::Panicked { message }) if message.contains("shattered")));
    }
}
