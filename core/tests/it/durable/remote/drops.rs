//! Calls that are dropped, and the others that go on.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join;
use serde_json::json;
use tokio_test::task;
use windtunnel_core::BoxFuture;
use windtunnel_core::durable::remote::{REQUESTS_IN_FLIGHT_MAX, RemoteStore};
use windtunnel_core::durable::{Claimed, Commit, Fence, JournalStore, MemoryStore};

use super::network::{Fault, Network, TIMEOUT};
use super::talk::{checkpoint, record};
use super::wire::source;
use crate::durable::stage::{Crash, env, history};

async fn claimed(store: &MemoryStore) -> Fence {
    store.start("w", "test", checkpoint()).await.unwrap();
    let Claimed::Activation(claim) = store.claim(&["test".into()], TIMEOUT * 100).await.unwrap() else {
        panic!("nothing is due")
    };
    claim.fence
}

#[tokio::test(start_paused = true)]
async fn a_call_dropped_at_any_point_garbles_nothing() {
    for buffer_bytes in [4, 16, 100] {
        let (mut polls, mut stored, mut ended) = (0, 0, false);
        while !ended {
            let store = MemoryStore::new(env());
            let fence = claimed(&store).await;
            let network = Network::new(store.clone(), buffer_bytes);
            let remote = network.client();
            let dropped =
                async { Crash::new(remote.commit_record(&fence, record("a", json!(1))), polls).await.is_some() };
            ended = network.run(dropped).await;
            stored += usize::from(!history(&store).await.activations[0].records.is_empty());
            let others = join(remote.extend(&fence, TIMEOUT), remote.commit_record(&fence, record("b", json!(2))));
            assert_eq!(network.run(others).await, (Commit::Acknowledged, Commit::Acknowledged), "after {polls} polls");
            assert_eq!(network.run(remote.read("w")).await.unwrap().unwrap(), history(&store).await);
            let again = network.run(remote.commit_record(&fence, record("a", json!(1)))).await;
            assert_eq!(again, Commit::Acknowledged);
            assert_eq!(network.streams(), 1);
            polls += 1;
        }
        assert!(stored > 0 && stored < polls, "{stored} of {polls}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_dropped_beside_another_one_does_not_leave_it_behind() {
    for polls in 0..40 {
        let store = MemoryStore::new(env());
        let fence = claimed(&store).await;
        let network = Network::new(store, 16);
        let remote = network.client();
        let dropped = Crash::new(remote.extend(&fence, TIMEOUT), polls);
        let both = join(dropped, remote.commit_record(&fence, record("a", json!("x".repeat(500)))));
        assert_eq!(network.run(both).await.1, Commit::Acknowledged);
        assert_eq!(network.streams(), 1);
    }
}

/// Polls the server until it waits.
fn serve(network: &Network) {
    let mut server = task::spawn(std::future::poll_fn(|context| {
        network.poll_sessions(context);
        std::task::Poll::<()>::Pending
    }));
    for _ in 0..20 {
        assert!(server.poll().is_pending());
    }
}

#[tokio::test(start_paused = true)]
async fn the_one_whom_the_stream_knows_goes_and_the_others_are_woken() {
    type Read<'r> = BoxFuture<'r, Result<Vec<Arc<str>>, windtunnel_core::durable::StoreError>>;
    // Each of them is the last one to have polled the stream, and is dropped.
    for last in 0..3 {
        let network = Network::new(MemoryStore::new(env()), 1 << 16);
        let remote = network.client();
        let mut calls: Vec<Option<task::Spawn<Read<'_>>>> =
            (0..3).map(|_| Some(task::spawn(remote.workflow_ids()))).collect();
        for call in calls.iter_mut().flatten() {
            assert!(call.poll().is_pending());
        }
        serve(&network);
        // The answer to hello wakes all, and one of them sends all requests.
        assert!(calls.iter().flatten().all(task::Spawn::is_woken));
        assert!(calls[last].as_mut().unwrap().poll().is_pending());
        calls[last] = None;
        serve(&network);
        for call in calls.iter_mut().flatten() {
            assert!(call.is_woken(), "{last} took it with it");
            assert!(call.poll().is_ready());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_on_which_nothing_comes_is_given_up_for_all_at_once() {
    let clock = env();
    let network = Network::new(MemoryStore::new(env()), 64).with_faults([Fault {
        received_max: 70,
        is_silent: true,
        ..Fault::NONE
    }]);
    let remote = network.client();
    let begun = clock.now();
    let first = async {
        let error = remote.read("w").await.unwrap_err();
        (source(&error), clock.now() - begun)
    };
    let second = async {
        clock.until(begun + TIMEOUT / 2).await;
        let error = remote.read("w").await.unwrap_err();
        (source(&error), clock.now() - begun)
    };
    let (first, second) = network.run(join(first, second)).await;
    assert_eq!(first, ("no answer came within 10000 ms".to_owned(), TIMEOUT));
    let silent = "the stream was given up, since nothing came on it for as long as a call may take";
    assert_eq!(second, (silent.to_owned(), TIMEOUT));
    // The next call connects again.
    assert_eq!(network.run(remote.read("w")).await.unwrap(), None);
    assert_eq!(network.streams(), 2);
}

#[tokio::test(start_paused = true)]
async fn connecting_takes_no_longer_than_a_call_and_is_begun_anew() {
    let clock = env();
    let attempts = Arc::new(parking_lot::Mutex::new(0));
    let counted = Arc::clone(&attempts);
    let remote = RemoteStore::new(env(), move || {
        *counted.lock() += 1;
        std::future::pending::<std::io::Result<tokio::io::DuplexStream>>()
    })
    .timeout(Duration::from_secs(1));
    for attempt in 1..4 {
        let begun = clock.now();
        let error = remote.workflow_ids().await.unwrap_err();
        assert_eq!(source(&error), "no answer came within 1000 ms");
        assert_eq!((clock.now() - begun, *attempts.lock()), (Duration::from_secs(1), attempt));
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_stream_a_commit_is_unknown_and_all_else_fails_with_the_cause() {
    let remote = RemoteStore::new(env(), || {
        std::future::ready(Err::<tokio::io::DuplexStream, _>(std::io::Error::other("password=hunter2")))
    });
    let fence = Fence { workflow_id: "w".into(), activation_id: "a".into(), attempt: 1 };
    assert_eq!(remote.commit_record(&fence, record("a", json!(1))).await, Commit::Unknown);
    assert_eq!(remote.extend(&fence, TIMEOUT).await, Commit::Unknown);
    let error = remote.read("w").await.unwrap_err();
    assert_eq!(source(&error), "the store could not be reached; see the cause");
    assert!(!format!("{error} {error:?} {remote:?}").contains("hunter2"));
    let cause = std::error::Error::source(std::error::Error::source(&error).unwrap()).unwrap();
    assert_eq!(cause.to_string(), "password=hunter2");
}

/// A client whose stream is never there.
fn unconnected() -> RemoteStore {
    RemoteStore::new(env(), std::future::pending::<std::io::Result<tokio::io::DuplexStream>>)
}

#[tokio::test(start_paused = true)]
async fn whoever_gives_the_stream_up_wakes_the_others() {
    let patient = unconnected();
    let hasty = patient.clone().timeout(Duration::from_secs(1));
    let (mut first, mut other) = (task::spawn(hasty.workflow_ids()), task::spawn(patient.workflow_ids()));
    assert!(first.poll().is_pending() && other.poll().is_pending());
    tokio::time::advance(Duration::from_secs(1)).await;
    assert!(first.is_woken() && !other.is_woken());
    assert!(first.poll().is_ready());
    assert!(other.is_woken(), "it would wait in vain until its own time is over");
    assert!(other.poll().is_ready());
}

#[tokio::test(start_paused = true)]
async fn a_call_that_goes_lets_the_next_one_in() {
    let remote = unconnected();
    let mut calls: Vec<_> = (0..REQUESTS_IN_FLIGHT_MAX + 2).map(|_| Some(task::spawn(remote.workflow_ids()))).collect();
    for call in calls.iter_mut().flatten() {
        assert!(call.poll().is_pending());
    }
    assert!(!calls.iter().flatten().any(task::Spawn::is_woken));
    calls[3] = None;
    let woken = calls.iter().flatten().map(task::Spawn::is_woken);
    let expected = (0..=REQUESTS_IN_FLIGHT_MAX).map(|place| place + 1 == REQUESTS_IN_FLIGHT_MAX);
    assert!(woken.eq(expected), "the one that waits for longest");
}
