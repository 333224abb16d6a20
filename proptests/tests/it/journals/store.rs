//! Stores of journals answer as their contract says, whatever is asked of them and when.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::stream::{FuturesUnordered, StreamExt};
use parking_lot::Mutex;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::Config;
use serde_json::json;
use tempfile::TempDir;
use tokio::io::DuplexStream;
use windtunnel_core::durable::remote::{RemoteStore, ServeError, serve};
use windtunnel_core::durable::sqlite::{SqliteStore, verify};
use windtunnel_core::durable::{JournalStore, MemoryStore};
use windtunnel_core::env::Env;
use windtunnel_proptests::Violation;
use windtunnel_proptests::cases::{DecisionChoice, FenceChoice, OutputChoice, StoreOperation};
use windtunnel_proptests::models::StoreAnswer;
use windtunnel_proptests::played::{Exchange, check_journal_store};
use windtunnel_proptests::properties::journals::check_memory;
use windtunnel_proptests::strategies::store_operations;

use crate::settings::family;

/// A folder that is gone when this is dropped; in memory, where the system has such a place.
pub(crate) fn folder() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// The file is closed and opened again, and sound whenever it is closed.
fn check_sqlite(operations: &[StoreOperation]) -> Result<Vec<Exchange>, Violation> {
    let folder = folder();
    let path = folder.path().join("journals.db");
    let open = async |before: Option<SqliteStore>, env: Env| {
        let is_first = before.is_none();
        drop(before);
        if is_first {
            return SqliteStore::open(&path, env).await.unwrap();
        }
        assert!(verify(&path).unwrap().is_sound(), "a file that is closed is sound");
        SqliteStore::open_existing(&path, env).await.unwrap()
    };
    let exchanges = check_journal_store(open, operations).now_or_never().unwrap()?;
    assert!(verify(&path).unwrap().is_sound(), "the file is sound at last");
    Ok(exchanges)
}

/// The far ends of the streams that were connected, and are not served yet.
type FarEnds = Arc<Mutex<Vec<DuplexStream>>>;

/// A store in memory behind streams, which are new ones whenever it is opened. All futures are polled in turn, so that no
/// runtime is needed.
fn check_remote(operations: &[StoreOperation], stream_bytes: usize) -> Result<Vec<Exchange>, Violation> {
    let (far_ends, inner) = (FarEnds::default(), Mutex::new(None));
    let open = async |before: Option<RemoteStore>, env: Env| {
        drop(before);
        inner.lock().get_or_insert_with(|| MemoryStore::new(env.clone()));
        let far_ends = Arc::clone(&far_ends);
        RemoteStore::new(env, move || {
            let (near, far) = tokio::io::duplex(stream_bytes);
            far_ends.lock().push(far);
            async { io::Result::Ok(near) }
        })
    };
    let mut checking = pin!(check_journal_store(open, operations));
    let mut serving = FuturesUnordered::new();
    let context = &mut Context::from_waker(Waker::noop());
    let checked = loop {
        if let Poll::Ready(checked) = checking.as_mut().poll(context) {
            break checked;
        }
        for far in far_ends.lock().drain(..) {
            let store: Arc<dyn JournalStore> = Arc::new(inner.lock().clone().unwrap());
            serving.push(serve(store, far));
        }
        if let Poll::Ready(Some(served)) = serving.poll_next_unpin(context) {
            served.unwrap();
        }
    };
    // The client's end is closed by now, and nothing was wrong on the stream.
    while let Poll::Ready(Some(served)) = serving.poll_next_unpin(context) {
        let served: Result<(), ServeError> = served;
        served.unwrap();
    }
    checked
}

/// Fewer cases, for stores that do more for each.
fn config_of(config: Config, divisor: u32) -> Config {
    Config { cases: config.cases.div_ceil(divisor), ..config }
}

/// Without the causes of failures, which are a store's own.
fn told(checked: Result<Vec<Exchange>, Violation>) -> Result<String, Violation> {
    let exchange = |Exchange { at, call, answer }: Exchange| match answer {
        StoreAnswer::Failed(_) => format!("{at:?} {call:?}: failed\n"),
        answer => format!("{at:?} {call:?}: {answer:?}\n"),
    };
    checked.map(|exchanges| exchanges.into_iter().map(exchange).collect())
}

/// What random operations come to too seldom for the few cases that slow stores have: an event long before its timeout, a
/// failure that is told twice, and a history that fills several pages of an answer.
fn rare_operations() -> Vec<StoreOperation> {
    let (last, key) = (FenceChoice::Claimed { back: 0 }, "signature".to_owned());
    let claim = StoreOperation::Claim { workflows: vec!["refund".to_owned()], lease: Duration::ZERO };
    let decide = |decision| StoreOperation::CommitDecision { fence: last.clone(), decision };
    let fill = |key: &str| StoreOperation::CommitRecord {
        fence: last.clone(),
        key: key.to_owned(),
        output: OutputChoice::Fills,
    };
    let retry = StoreOperation::Retry { fence: last.clone(), after: Duration::ZERO, is_failure: true };
    let page = [claim.clone(), fill("a"), fill("b"), decide(DecisionChoice::Continue { state: json!(1) })];
    let start = ("order-1".to_owned(), "refund".to_owned(), json!(0));
    let mut operations =
        vec![StoreOperation::Start { workflow_id: start.0.clone(), workflow: start.1, state: start.2 }];
    operations.extend([claim.clone(), retry.clone(), retry, claim.clone()]);
    operations.push(decide(DecisionChoice::WaitEvent { key: key.clone(), timeout: Some(Duration::from_secs(60)) }));
    operations.push(StoreOperation::Deliver { workflow_id: start.0, key, payload: json!(2) });
    operations.push(claim);
    operations.push(decide(DecisionChoice::Continue { state: json!(0) }));
    operations.extend(page.iter().cycle().take(4 * page.len()).cloned());
    operations.push(StoreOperation::Reopen);
    operations
}

#[test]
fn what_is_rare_is_the_same_in_every_store() {
    let operations = rare_operations();
    let expected = told(check_memory(&operations)).unwrap();
    assert_eq!(expected.matches("Activation(").count(), 7, "{expected:.2000}");
    check_sqlite(&operations).unwrap();
    assert_eq!(told(check_remote(&operations, 65_536)).unwrap(), expected);
}

proptest! {
    #![proptest_config(config_of(family!("journal-store-sqlite"), 8))]

    #[test]
    fn the_store_in_a_file_keeps_the_contract(operations in store_operations()) {
        check_sqlite(&operations)?;
    }
}

proptest! {
    #![proptest_config(config_of(family!("journal-store-remote"), 12))]

    #[test]
    fn the_store_behind_a_stream_keeps_the_contract_and_answers_as_the_one_behind_it(
        operations in store_operations(), stream_bytes in select(vec![509_usize, 4096, 65_536]),
    ) {
        prop_assert_eq!(told(check_remote(&operations, stream_bytes))?, told(check_memory(&operations))?);
    }
}
