//! One executor for many threads and several runtimes at once (E15). Nothing here depends on who is faster.
#![expect(clippy::disallowed_methods, reason = "these tests are about tasks and threads of the caller's own")]

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Waker};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use tokio::task::yield_now;
use windtunnel_core::env::{CountingIds, Env};
use windtunnel_core::event::EventLog;
use windtunnel_core::executor::{Executor, MemoryLedger, RunLimits, ToolCall, ToolResult};
use windtunnel_core::tool::FunctionTool;

use crate::rig::{finish_within, in_run, registry, tally, tool};

/// How many calls run now, and the most that ever did.
#[derive(Default)]
struct Crowd {
    now: AtomicU64,
    most: AtomicU64,
}

impl Crowd {
    fn enter(&self) -> u64 {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        now
    }

    fn leave(&self) {
        self.now.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The crowds of the whole run and of the kind `search`, and which exclusive calls had company.
#[derive(Default)]
struct Crowds {
    all: Crowd,
    search: Crowd,
    disturbed: AtomicU64,
}

/// A tool that stays for a few turns of its scheduler.
fn lingering(name: &str, crowds: &Arc<Crowds>) -> FunctionTool {
    let crowds = Arc::clone(crowds);
    let name_owned = name.to_owned();
    tool(name, move |arguments, _| {
        let (crowds, is_search, is_alone) = (Arc::clone(&crowds), name_owned == "search", name_owned == "alone");
        async move {
            let mut company = crowds.all.enter() - 1;
            if is_search {
                crowds.search.enter();
            }
            for _ in 0..arguments["turns"].as_u64().unwrap_or(1) {
                yield_now().await;
                company += crowds.all.now.load(Ordering::SeqCst) - 1;
            }
            if is_alone && company > 0 {
                crowds.disturbed.fetch_add(1, Ordering::SeqCst);
            }
            if is_search {
                crowds.search.leave();
            }
            crowds.all.leave();
            Ok(Value::Null)
        }
    })
}

const THREADS: usize = 4;
const CALLS: usize = 60;
const CALLS_MAX: u64 = 250;

fn call_of(thread: usize, n: usize) -> ToolCall {
    let tool = ["shared", "search", "shared", "search", "once", "alone"][n % 6];
    ToolCall::new(tool, json!({ "turns": n % 4 })).with_id(format!("{thread}-{n}"))
}

/// Makes its calls in batches of several sizes.
async fn work(executor: Executor, thread: usize) -> Vec<ToolResult> {
    let mut results = Vec::new();
    let calls: Vec<_> = (0..CALLS).map(|n| call_of(thread, n)).collect();
    for batch in calls.chunks(7 + thread) {
        results.extend(executor.run_many(batch.to_vec()).await.unwrap());
    }
    results
}

fn current_thread() -> Runtime {
    Builder::new_current_thread().enable_time().build().unwrap()
}

/// Works on [`THREADS`] threads with a runtime each, and on as many tasks of one runtime with two workers.
fn work_everywhere(executor: &Executor) -> Vec<ToolResult> {
    std::thread::scope(|scope| {
        let alone: Vec<_> = (0..THREADS)
            .map(|thread| scope.spawn(move || current_thread().block_on(work(executor.clone(), thread))))
            .collect();
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap();
        let together: Vec<_> =
            (THREADS..2 * THREADS).map(|thread| runtime.spawn(work(executor.clone(), thread))).collect();
        let mut results = Vec::new();
        for task in together {
            results.extend(runtime.block_on(task).unwrap());
        }
        for thread in alone {
            results.extend(thread.join().unwrap());
        }
        results
    })
}

#[test]
fn guards_locks_and_records_hold_across_threads_and_runtimes() {
    let crowds = Arc::new(Crowds::default());
    let [shared, search, once, alone] = ["shared", "search", "once", "alone"].map(|name| lingering(name, &crowds));
    let (log, ledger) = (EventLog::new(), MemoryLedger::new());
    let limits = RunLimits { calls_max: Some(CALLS_MAX), ..RunLimits::default() };
    let executor = Executor::builder(registry([shared, search, once.once_per_run(), alone.exclusive()]))
        .env(Env::system().with_ids(CountingIds::default()))
        .run_limits(limits.cap("search", NonZeroU32::new(2).unwrap()))
        .sink(log.clone())
        .ledger(ledger.clone())
        .build();
    let results = work_everywhere(&in_run(&executor, "run-a"));

    let calls = 2 * THREADS * CALLS;
    assert_eq!(results.len(), calls);
    let ran = tally(&results, "ok");
    let refused = tally(&results, "once-per-run") + tally(&results, "max-calls");
    assert_eq!((ran as u64, ran + refused), (CALLS_MAX, calls), "the guards are exact");
    let once_ran = results.iter().filter(|result| &*result.tool == "once" && result.status() == "ok").count();
    assert_eq!(once_ran, 1);

    assert!(crowds.search.most.load(Ordering::SeqCst) <= 2, "the cap holds");
    assert_eq!(crowds.disturbed.load(Ordering::SeqCst), 0, "exclusive calls are alone");
    assert_eq!(crowds.all.now.load(Ordering::SeqCst), 0);

    // E12: each call has one entry; E13: and one sequence orders all events.
    let entries: BTreeSet<_> = ledger.entries().iter().map(|entry| entry.entry_id.clone()).collect();
    assert_eq!((entries.len(), ledger.entries().len()), (calls, calls));
    let events = log.events();
    assert!(events.iter().enumerate().all(|(index, event)| event.sequence == index as u64));
    assert_eq!(log.of_type("tool.finished").len(), calls);
}

#[test]
fn calls_that_give_up_while_others_release_lose_no_place() {
    let crowds = Arc::new(Crowds::default());
    let executor = Executor::new(registry([lingering("alone", &crowds).exclusive()]));
    let executor = in_run(&executor, "run-a");
    const ROUNDS: usize = 3_000;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            current_thread().block_on(async {
                for _ in 0..ROUNDS {
                    // The limit is for a lock that lost a place: without it, this test would never end.
                    let steady = executor.env().timeout(Duration::from_secs(60), executor.run("alone", json!({})));
                    steady.await.unwrap().unwrap();
                }
            });
        });
        scope.spawn(|| {
            for round in 0..ROUNDS {
                // Queues up, and goes away just when its turn may come.
                let mut impatient = Box::pin(executor.run("alone", json!({"turns": 9})));
                let mut context = Context::from_waker(Waker::noop());
                for _ in 0..=round % 3 {
                    assert!(impatient.as_mut().poll(&mut context).is_pending());
                }
            }
        });
    });
    let after = finish_within(16, executor.run("alone", json!({})));
    assert!(matches!(after, Some(Ok(_))), "the lock is free");
}
