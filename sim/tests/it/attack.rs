//! What a hostile user tries.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use windtunnel_core::BoxError;
use windtunnel_sim::fault::{Fault, FaultAction, FaultKind, FaultPlan, RandomFaults};
use windtunnel_sim::{Campaign, EventPattern, ExploreError, Process, Recipe, World, WorldError, WorldHandle};

fn plan(faults: Value) -> FaultPlan {
    FaultPlan::from_json(&faults.to_string()).unwrap()
}

async fn pay_and_retry(world: WorldHandle) {
    let pay = || async {
        world.effects().happen("payment", None).await;
        Ok::<_, BoxError>(())
    };
    for _ in 0..3 {
        if world.faults().call("pay", pay).await.is_ok() {
            break;
        }
        world.env().sleep(Duration::from_secs(1)).await;
    }
    world.assertions().always("paid at most once", world.effects().count("payment") <= 1);
}

#[test]
fn a_campaign_keeps_the_faults_that_its_worlds_plan() {
    let duplicate = plan(json!([{"when": {"event": "tool.body"}, "do": {"fault": "tool.duplicate"}}]));
    let world = |seed| World::new(seed).faults(duplicate.clone());
    assert!(world(0).run(pay_and_retry).outcome.is_err());
    let found = Campaign::in_worlds(world).seeds(0..2).run(pay_and_retry);
    assert!(found.is_err(), "the plan was thrown away: {}", found.unwrap());
}

#[test]
fn a_campaign_keeps_the_inputs_that_its_worlds_give() {
    let world = |seed| World::new(seed).inputs([("amount".to_owned(), vec![3])].into());
    let scenario = |world: WorldHandle| async move { assert_eq!(world.input("amount", 1000), 3) };
    assert!(world(0).run(scenario).outcome.is_ok());
    Campaign::in_worlds(world).seeds(0..2).run(scenario).unwrap();
}

#[test]
fn a_recipe_repeats_what_its_world_drew() {
    let random = RandomFaults::of([FaultKind::ToolDuplicate, FaultKind::ToolError]).rate(0.6).faults_max(3);
    let world = |seed| World::new(seed).random_faults(random.clone());
    let found = Campaign::in_worlds(world).seeds(0..50).run(pay_and_retry).unwrap_err();
    let ExploreError::Failed(failure) = found else { panic!("{found}") };
    let again = failure.recipe.world(world).run(pay_and_retry);
    assert_eq!(again.faults.len(), failure.faults.len(), "what was drawn is planned, and drawn again");
    let minimal = failure.minimal.unwrap();
    assert_eq!(minimal.faults.len(), 1, "{:?}", minimal.recipe);
    assert!(!minimal.recipe.faults.faults.is_empty(), "{:?}", minimal.recipe);
}

#[test]
fn a_campaign_of_one_seed_tests_what_it_must() {
    let none = Campaign::new().seeds(7..8).expect_assertions(["never evaluated"]).run(|_| async {});
    assert!(none.is_err(), "an expected assertion was never evaluated");
    let none = Campaign::new().seeds(7..8).random_faults(RandomFaults::swarm()).run(|_| async {});
    assert!(none.is_err(), "no fault came");
}

#[test]
fn an_assertion_that_fails_at_the_last_event_fails_the_run() {
    for events_max in 0..5 {
        let run = World::new(7).events_max(events_max).run(|world| async move {
            let host = world.host("a").unwrap();
            host.crash();
            host.restart();
            host.crash();
            world.assertions().always("false", false);
        });
        assert!(matches!(run.outcome, Err(WorldError::AssertionFailed { .. })), "{events_max}: {:?}", run.outcome);
    }
}

#[test]
fn a_restart_at_every_start_comes_to_an_end() {
    let random = RandomFaults::of([FaultKind::HostRestart]).rate(1.0).faults_max(u32::MAX);
    let run = World::new(7).random_faults(random).heal_after(Duration::from_secs(1)).run(|world| async move {
        world.host("a").unwrap().start(|_| async {});
        world.env().sleep(Duration::from_secs(5)).await;
    });
    run.outcome.unwrap();
}

/// A client that asks a server every second, beside a third host that does so too: who was answered.
async fn two_clients(world: WorldHandle) -> [usize; 2] {
    world.host("server").unwrap().start(|process: Process| async move {
        let Ok(listener) = process.listen(80).await else { return };
        while let Ok((mut stream, _)) = listener.accept().await {
            let _running = process.spawn(async move {
                let _gone = stream.write_u8(7).await;
            });
        }
    });
    let heard = Arc::new(Mutex::new([0, 0]));
    for (place, name) in ["one", "other"].into_iter().enumerate() {
        let heard = Arc::clone(&heard);
        world.host(name).unwrap().start(move |process: Process| {
            let heard = Arc::clone(&heard);
            async move {
                process.env().until(Duration::from_millis(100 * place as u64)).await;
                for second in 1..=20 {
                    let asking = async {
                        let mut stream = process.connect("server", 80).await?;
                        stream.read_u8().await
                    };
                    if matches!(process.env().timeout(Duration::from_millis(500), asking).await, Ok(Ok(_))) {
                        heard.lock()[place] += 1;
                    }
                    process.env().until(Duration::from_secs(second)).await;
                }
            }
        });
    }
    world.env().until(Duration::from_secs(60)).await;
    *heard.lock()
}

#[test]
fn a_peer_that_is_not_named_is_the_other_host_of_the_event() {
    let run = |action: Value| {
        let when = json!({"event": "network.connect", "host": "one", "nth": 5});
        World::new(7).faults(plan(json!([{"when": when, "do": action}]))).run(two_clients).outcome
    };
    let from_server = run(json!({"fault": "network.partition", "host": "server"})).unwrap();
    assert!(from_server[0] == 4 && from_server[1] == 20, "only the way between the two is cut: {from_server:?}");
    let with_itself = run(json!({"fault": "network.partition", "host": "one", "peer": "one"}));
    assert!(matches!(with_itself, Err(WorldError::NoFaultDelivered { .. })), "{with_itself:?}");
}

#[test]
fn a_disk_that_is_healed_of_one_fault_has_the_other() {
    let both = plan(json!([
        {"when": {"event": "disk.write"}, "do": {"fault": "disk.full", "heal_after_s": 1}},
        {"when": {"event": "disk.write"}, "do": {"fault": "disk.error", "heal_after_s": 10}},
    ]));
    let run = World::new(7).faults(both).run(|world| async move {
        let process = world.host("a").unwrap().process();
        let _fails = process.disk().write("/f", b"text").await;
        process.env().until(Duration::from_secs(5)).await;
        process.disk().write("/f", b"text").await.is_err()
    });
    assert!(run.outcome.unwrap(), "the error lasts for ten seconds");
}

#[test]
fn what_is_no_recipe_is_refused() {
    for recipe in [json!({"seed": 1, "heal_after_s": -1}), json!({"seed": 1, "time_limit_s": -5})] {
        assert!(Recipe::from_json(&recipe.to_string()).is_err(), "{recipe}");
    }
}

#[test]
fn what_had_no_effect_was_not_delivered() {
    let none = |faults: Value| {
        let run = World::new(7).faults(plan(faults)).run(|world| async move {
            let (a, _b) = (world.host("a").unwrap(), world.host("b").unwrap());
            a.process().mark("one").await;
            a.process().mark("two").await;
        });
        run.faults.len()
    };
    let at = |nth: u64| json!({"event": "mark", "nth": nth});
    let counts = [
        none(json!([{"when": at(1), "do": {"fault": "network.reset"}}])),
        none(json!([{"when": at(1), "do": {"fault": "clock.jump", "by_s": 0}}])),
        none(
            json!([{"when": at(1), "do": {"fault": "network.partition"}}, {"when": at(2), "do": {"fault": "network.partition"}}]),
        ) - 1,
        none(
            json!([{"when": at(1), "do": {"fault": "clock.skew", "ahead_s": 5}}, {"when": at(2), "do": {"fault": "clock.skew", "ahead_s": 5}}]),
        ) - 1,
    ];
    assert_eq!(counts, [0; 4], "reset without connections, jump by 0, partition again, skew again");
}

#[test]
fn nobody_hears_of_a_power_cut_whatever_comes_at_its_event() {
    let heard = |is_restarted: bool| {
        let run = World::new(7).run(move |world| async move {
            let server = world.host("server").unwrap();
            server.start(|process: Process| async move {
                let Ok(listener) = process.listen(80).await else { return };
                let mut kept = Vec::new();
                while let Ok((stream, _)) = listener.accept().await {
                    kept.push(stream);
                }
            });
            let client = world.host("client").unwrap().process();
            let mut stream = client.connect("server", 80).await.unwrap();
            world.env().sleep(Duration::from_secs(1)).await;
            if is_restarted {
                let again = server.clone();
                world.at(EventPattern::named("host.power_cut"), move |_| again.restart());
                server.power_cut();
            } else {
                server.power_cut();
                server.restart();
            }
            let mut text = String::new();
            let read = client.env().timeout(Duration::from_secs(60), stream.read_to_string(&mut text)).await;
            // A second connection, to a server that is up again.
            let again = client.connect("server", 80).await.is_ok();
            (format!("{read:?}"), again)
        });
        run.outcome.unwrap()
    };
    assert_eq!(heard(true), heard(false));
}

#[test]
fn a_latency_of_centuries_breaks_nothing() {
    for seconds in [1e9, 9.2e9, 1e10] {
        let slow = plan(
            json!([{"when": {"event": "network.connect", "host": "one", "nth": 3}, "do": {"fault": "network.latency", "latency_s": seconds, "heal_after_s": 3}}]),
        );
        let run = World::new(7).faults(slow).run(two_clients);
        assert!(run.outcome.is_ok(), "{seconds}: {:?}", run.outcome);
    }
    let odd = FaultPlan::new([
        Fault::new(
            EventPattern::named("network.connect"),
            FaultAction::NetworkLatency {
                host: None,
                peer: None,
                latency_s: f64::NAN,
                heal_after_s: Some(f64::INFINITY),
            },
        ),
        Fault::new(
            EventPattern::named("network.connect").nth(2),
            FaultAction::NetworkLoss { host: None, peer: None, loss: f64::NAN, heal_after_s: Some(-1.0) },
        ),
        Fault::new(
            EventPattern::named("network.connect").nth(3),
            FaultAction::ClockJump { host: None, by_s: f64::NEG_INFINITY },
        ),
        Fault::new(
            EventPattern::named("network.connect").nth(0),
            FaultAction::HostCrash { host: None, restart_after_s: Some(f64::NAN) },
        ),
        Fault::new(
            EventPattern::named("network.connect").nth(4),
            FaultAction::ClockSkew { host: None, ahead_s: 1e300 },
        ),
    ]);
    assert!(World::new(7).faults(odd).run(two_clients).outcome.is_ok());
}

#[test]
fn a_sweep_tries_all_pairs_of_few_faults() {
    let kinds = [FaultKind::ToolError];
    let both = |world: WorldHandle| async move {
        let first = world.faults().call("one", || async { Ok::<_, BoxError>(()) }).await;
        let second = world.faults().call("other", || async { Ok::<_, BoxError>(()) }).await;
        world.assertions().always("one of two works", first.is_ok() || second.is_ok());
    };
    let found = Campaign::new().kinds(kinds).sweep(both);
    assert!(found.is_err(), "two faults, one pair: {}", found.unwrap());
}

#[test]
fn a_long_row_of_waits_is_told() {
    let count = 400;
    let run = World::new(7).run(move |world| async move {
        let host = world.host("a").unwrap();
        let lock = |number| (Arc::new(tokio::sync::Mutex::new(())), world.env().resource(&format!("lock {number}")));
        let locks: Vec<_> = (0..=count).map(lock).collect();
        for place in 0..count {
            let (mine, next) = (locks[place].clone(), locks[place + 1].clone());
            let env = world.env();
            let _running = host.spawn(async move {
                let _mine = mine.1.hold(mine.0.lock()).await;
                env.sleep(Duration::from_secs(1)).await;
                let _next = next.1.hold(next.0.lock()).await;
                std::future::pending::<()>().await
            });
        }
        std::future::pending::<()>().await
    });
    assert!(run.outcome.unwrap_err().to_string().contains("and 381 more"));
}

#[test]
fn a_destructor_that_panics_at_a_crash_by_a_fault_fails_the_run() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            assert!(std::thread::panicking(), "boom");
        }
    }
    let crash = plan(json!([{"when": {"event": "mark"}, "do": {"fault": "host.restart"}}]));
    let run = World::new(7).faults(crash).run(|world| async move {
        world.host("a").unwrap().start(|process: Process| async move {
            let _bomb = Bomb;
            process.mark("here").await;
            std::mem::forget(_bomb);
        });
        world.env().sleep(Duration::from_secs(1)).await;
    });
    assert!(matches!(run.outcome, Err(WorldError::Panicked { .. })), "{:?}", run.outcome);
}

#[test]
fn a_sweep_is_the_same_on_one_thread_and_on_eight() {
    let sweep = |jobs| {
        let kinds = [FaultKind::DiskTornWrite, FaultKind::DiskError];
        let jobs = std::num::NonZeroUsize::new(jobs).unwrap();
        let swept = Campaign::new()
            .kinds(kinds)
            .jobs(jobs)
            .pairs_max(10)
            .shrink_runs_max(5)
            .sweep(super::attack_all::everything);
        swept.map_or_else(|error| error.to_string(), |report| report.to_string())
    };
    let (one, eight) = (sweep(1), sweep(8));
    assert_eq!(one, eight);
}

#[test]
fn a_plan_of_many_restarts_at_starts_comes_to_an_end() {
    let restart =
        |nth: u64| Fault::new(EventPattern::named("host.started").nth(nth), FaultAction::HostRestart { host: None });
    let run = World::new(7).faults(FaultPlan::new((1..20_000).map(restart))).run(|world| async move {
        world.host("a").unwrap().start(|_| async {});
        world.env().sleep(Duration::from_secs(5)).await;
    });
    assert!(run.outcome.is_ok() && run.faults.len() == 1, "{:?}", run.outcome);
}
