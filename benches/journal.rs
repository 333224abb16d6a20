//! What a durable record costs: a commit to a SQLite file against a bare insert of `rusqlite` with the same durability, to
//! the store in memory, and what reading a record back costs the next attempt.
//!
//! These machines are noisy, so contestants take turns within one run, and the ratios are of medians. A folder on a real
//! disk is used, where a commit waits for the disk: set `WINDTUNNEL_BENCH_DIR` to choose it.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a benchmark reports and stops at the first surprise"
)]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the real clock")]

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use rusqlite::{Connection, TransactionBehavior};
use serde_json::{Value, json};
use windtunnel::BoxError;
use windtunnel::durable::sqlite::SqliteStore;
use windtunnel::durable::{
    ActivationRetry, Binding, Checkpoint, Claim, Claimed, Commit, Decision, JournalStore, MemoryStore, OperationKind,
    RECORDS_MAX, Record, Worker, Workflow, WorkflowContext,
};
use windtunnel::env::Env;
use windtunnel::executor::{Backoff, BackoffSettings};

const ROUNDS: usize = 15;
/// Of about 600 bytes each, so that a journal holds them.
const RECORDS: usize = 100;
/// How many workflows commit at once.
const AT_ONCE: usize = 8;
const LEASE: Duration = Duration::from_secs(600);

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let folder = std::env::var_os("WINDTUNNEL_BENCH_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    let folder = tempfile::tempdir_in(folder).unwrap();
    commits(&runtime, folder.path());
    replays(&runtime);
}

fn record(number: usize) -> Arc<Record> {
    let arguments = json!({"order_id": format!("ORD-{number}"), "note": "n".repeat(300)});
    let binding = Binding::new(&format!("tool:turn:{number}"), OperationKind::Tool, "orders:look_up", "1", arguments);
    Arc::new(Record::new(binding.unwrap(), json!({"total": number, "lines": "l".repeat(100)})).unwrap())
}

/// An insert of the same text, in a transaction of its own.
struct Bare(Connection);

impl Bare {
    fn new(path: &Path) -> Self {
        let connection = Connection::open(path).unwrap();
        connection
            .execute_batch(
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
                 CREATE TABLE records (workflow INTEGER, key TEXT, text TEXT, PRIMARY KEY (workflow, key)) STRICT",
            )
            .unwrap();
        Self(connection)
    }

    fn insert(&mut self, workflow: usize, key: &str, text: &str) {
        let transaction = self.0.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
        transaction
            .prepare_cached("INSERT INTO records VALUES (?, ?, ?)")
            .unwrap()
            .execute((workflow as i64, key, text))
            .unwrap();
        transaction.commit().unwrap();
    }
}

/// Microseconds an insert on a thread that may wait, as an async store has to make it.
async fn insert_all(bare: &Arc<Mutex<Bare>>, round: usize, records: &[Arc<Record>], texts: &[String]) -> f64 {
    let env = Env::system();
    let began = Instant::now();
    for (record, text) in records.iter().zip(texts) {
        let (bare, key, text) = (Arc::clone(bare), Arc::clone(record.key()), text.clone());
        env.run_blocking(move || bare.lock().unwrap().insert(round, &key, &text)).await.unwrap();
    }
    began.elapsed().as_secs_f64() * 1e6 / records.len() as f64
}

async fn claim(store: &impl JournalStore, workflow_id: &str) -> Claim {
    store.start(workflow_id, "bench", Checkpoint::new("start", json!(1)).unwrap()).await.unwrap();
    match store.claim(&["bench".into()], LEASE).await.unwrap() {
        Claimed::Activation(claim) => *claim,
        Claimed::Nothing { .. } => panic!("nothing is due"),
    }
}

/// Microseconds a commit, where so many workflows commit at once.
async fn commit_at_once(store: &impl JournalStore, round: usize, records: &[Arc<Record>]) -> f64 {
    let ids: Vec<_> = (0..AT_ONCE).map(|number| format!("at-once-{round}-{number}")).collect();
    let each: f64 = join_all(ids.iter().map(|id| commit_all(store, id, records))).await.into_iter().sum();
    each / (AT_ONCE * AT_ONCE) as f64
}

/// Microseconds a commit.
async fn commit_all(store: &impl JournalStore, workflow_id: &str, records: &[Arc<Record>]) -> f64 {
    let claim = claim(store, workflow_id).await;
    let began = Instant::now();
    for record in records {
        assert_eq!(store.commit_record(&claim.fence, Arc::clone(record)).await, Commit::Acknowledged);
    }
    let elapsed = began.elapsed().as_secs_f64() * 1e6 / records.len() as f64;
    let done = Decision::complete(json!(1)).unwrap();
    assert_eq!(store.commit_decision(&claim.fence, done).await, Commit::Acknowledged);
    elapsed
}

fn commits(runtime: &tokio::runtime::Runtime, folder: &Path) {
    let records: Vec<_> = (0..RECORDS).map(record).collect();
    let texts: Vec<_> = records.iter().map(|record| serde_json::to_string(record).unwrap()).collect();
    let mut bare = Bare::new(&folder.join("bare.db"));
    let away = Arc::new(Mutex::new(Bare::new(&folder.join("away.db"))));
    let memory = MemoryStore::new(Env::system());
    let file = runtime.block_on(SqliteStore::open(folder.join("journal.db"), Env::system())).unwrap();
    let mut micros: [Vec<f64>; 5] = Default::default();
    for round in 0..ROUNDS {
        let began = Instant::now();
        for (record, text) in records.iter().zip(&texts) {
            bare.insert(round, record.key(), text);
        }
        micros[0].push(began.elapsed().as_secs_f64() * 1e6 / RECORDS as f64);
        let id = format!("workflow-{round}");
        micros[1].push(runtime.block_on(insert_all(&away, round, &records, &texts)));
        micros[2].push(runtime.block_on(commit_all(&file, &id, &records)));
        micros[3].push(runtime.block_on(commit_at_once(&file, round, &records)));
        micros[4].push(runtime.block_on(commit_all(&memory, &id, &records)));
    }
    let bare = median(&mut micros[0]);
    println!("a commit of a record of {} bytes, median of {ROUNDS} rounds of {RECORDS}:", records[0].bytes());
    for (name, micros) in
        ["bare insert", "bare, on another thread", "SQLite store", "SQLite store, 8 at once", "store in memory"]
            .iter()
            .zip(&mut micros)
    {
        let median = median(micros);
        println!("  {name:24} {median:8.1} µs {:9.0} commits/s   {:6.2} of the bare rate", 1e6 / median, bare / median);
    }
}

/// A workflow whose attempt asks for so many operations and fails: each attempt after the first reads all of them back.
fn replaying(count: usize) -> Workflow {
    Workflow::new("bench").entry("start", move |context: WorkflowContext, _: Value| async move {
        for number in 0..count {
            let body = |_: Value, _| async { Ok::<_, BoxError>(json!({"total": 1, "lines": "l".repeat(100)})) };
            let arguments = json!({"order_id": "ORD-7", "note": "n".repeat(300)});
            let key = format!("tool:turn:{number}");
            let _output: Value = context.operation(&key, OperationKind::Tool, "look_up", "1", arguments, body).await?;
        }
        Err::<Decision, _>(BoxError::from("again"))
    })
}

fn replays(runtime: &tokio::runtime::Runtime) {
    let mut nanos: [Vec<f64>; 2] = Default::default();
    for _ in 0..ROUNDS {
        for (index, count) in [0, RECORDS_MAX].into_iter().enumerate() {
            nanos[index].push(runtime.block_on(replay(count)));
        }
    }
    let [none, all] = nanos.map(|mut nanos| median(&mut nanos));
    println!("an attempt that reads {RECORDS_MAX} records back from memory: {:.0} µs", all / 1e3);
    println!("  an attempt that reads none                    {none:8.0} ns");
    println!("  a record that is read back                    {:8.0} ns", (all - none) / RECORDS_MAX as f64);
}

/// Nanoseconds an attempt, of many after the first.
async fn replay(count: usize) -> f64 {
    const ATTEMPTS: u32 = 50;
    let env = Env::system().with_rng(|| 0.0);
    let store = MemoryStore::new(env.clone());
    let forever = ActivationRetry { failures_max: NonZeroU32::MAX, ..ActivationRetry::default() };
    let retry = ActivationRetry { backoff: no_wait(), ..forever };
    let worker = Worker::new(store).env(env).retry(retry).workflow(replaying(count));
    worker.start("w", "bench", "start", &1).await.unwrap();
    drop(worker.turn().await.unwrap());
    let began = Instant::now();
    for _ in 0..ATTEMPTS {
        drop(worker.turn().await.unwrap());
    }
    began.elapsed().as_secs_f64() * 1e9 / f64::from(ATTEMPTS)
}

fn no_wait() -> Backoff {
    let settings = BackoffSettings { base_s: 0.0, ..Default::default() };
    Backoff::new(settings).unwrap()
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
