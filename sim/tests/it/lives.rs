//! What a task that a library spawned can do after the life of its host is over: nothing that counts.
#![expect(clippy::disallowed_methods, reason = "libraries call tokio themselves")]

use std::time::Duration;

use windtunnel_sim::{Host, World};

const SECOND: Duration = Duration::from_secs(1);

/// A host that ends after a second: what came of what its program has spawned with tokio for a second later.
fn spawned_beyond(end: fn(&Host)) {
    let run = World::new(7).run(|world| async move {
        let host = world.host("agent").unwrap();
        host.start(|process| async move {
            process.mark("alive").await;
            process.effects().happen("payment", Some("before")).await;
            let dead = process.clone();
            let _detached = tokio::spawn(async move {
                tokio::time::sleep(2 * SECOND).await;
                dead.assertions().always("nothing is asserted after the end", false);
                let marking = dead.clone();
                let _marks = tokio::spawn(async move { marking.mark("dead").await });
                let knowing = dead.clone();
                let _knows = tokio::spawn(async move { knowing.effects().happen_once("payment", "once").await });
                dead.effects().happen("payment", Some("after")).await;
            });
            std::future::pending().await
        });
        world.env().sleep(SECOND).await;
        end(&host);
        world.env().sleep(3 * SECOND).await;
        world.effects().all().iter().filter_map(|effect| effect.key.as_deref().map(str::to_owned)).collect::<Vec<_>>()
    });
    let marks = run.trace.iter().filter(|event| event.kind.name() == "mark").count();
    let happened = run.trace.iter().filter(|event| event.kind.name() == "effect.happened").count();
    assert_eq!((marks, happened), (1, 1));
    assert!(run.assertions.is_empty(), "{:?}", run.assertions);
    assert_eq!(run.outcome.unwrap(), ["before"]);
}

#[test]
fn nothing_of_a_life_happens_after_a_crash() {
    spawned_beyond(Host::crash);
}

#[test]
fn nothing_of_a_life_happens_after_a_power_cut() {
    spawned_beyond(Host::power_cut);
}

#[test]
fn nothing_of_a_life_happens_in_the_next_one() {
    spawned_beyond(|host| {
        let next = host.clone();
        host.crash();
        // The next life runs another program.
        next.start(|_process| async {});
        next.restart();
    });
}
