//! Canaries: with a rule of ours broken on purpose, the properties that hold it must fail, and without they must hold.

use std::fs;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestError, TestRunner};
use serde_json::json;
use windtunnel_core::canary::{Weakness, weakened};
use windtunnel_core::env::Env;
use windtunnel_core::evaluator::Resource;
use windtunnel_fixtures::cassette::{Exchange, Outcome, ToolExchange};
use windtunnel_fixtures::record::Recording;
use windtunnel_proptests::cases::ProgramCase;
use windtunnel_proptests::strategies::{
    guard_cases, programs, queue_cases, retry_cases, slow_tools, staggered_queue_cases, worker_cases,
};
use windtunnel_proptests::suites::{Settings, Suite, journal_store_suite, replay_suite};

use crate::journals::{store, workers::StoreKind, workflows};
use crate::programs::limits;
use crate::suites::journal::ours::Memory;
use crate::suites::replay::ours::{Cassettes, Tools};
use crate::{guards, queues, retry};

/// Tries a property, always on the same cases, and keeps no regression of what is broken on purpose.
fn holds<S>(strategy: S, property: impl Fn(S::Value) -> Result<(), TestCaseError>) -> Result<(), String>
where
    S: Strategy,
    S::Value: Clone,
{
    let config = Config {
        cases: 64,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(0),
        max_shrink_iters: 64,
        ..Config::default()
    };
    TestRunner::new(config).run(&strategy, property).map_err(|error| match error {
        TestError::Fail(reason, case) => format!("{reason}\n{case:?}"),
        TestError::Abort(reason) => panic!("nothing was tried: {reason}"),
    })
}

/// Holds what is ours to a suite.
fn keeps<S>(suite: &Suite<S>, subject: &S) -> Result<(), String> {
    let report = suite.run("ours", subject, &Settings { cases: 16, seed: 0 });
    if report.broken().is_empty() { Ok(()) } else { Err(report.to_string()) }
}

/// Tries the property that holds this rule.
fn check(weakness: Weakness) -> Result<(), String> {
    match weakness {
        Weakness::RetriesOneMore | Weakness::DelayUncapped | Weakness::LedgerLacksFailures => {
            holds(retry_cases(), |case| retry::check(&case))
        }
        Weakness::GuardsCheckedOnce => {
            holds((guard_cases(), guards::decisions()), |(case, decisions)| guards::check_reviewed(&case, &decisions))
        }
        Weakness::CallsOneMore => holds(guard_cases(), |case| guards::check_sequence(&case)),
        Weakness::LockUnordered => {
            holds((staggered_queue_cases(), queues::pollings()), |(case, polling)| queues::check(&case, polling))
        }
        Weakness::CapOneMore => {
            holds((queue_cases(), queues::pollings()), |(case, polling)| queues::check(&case, polling))
        }
        Weakness::ToolCallsOneMore => holds((programs(), slow_tools()), |(program, tools)| {
            limits::check_exact(&ProgramCase { tools, ..ProgramCase::plain(program) }, Resource::ToolCalls)
        }),
        Weakness::AcknowledgmentPresumed => {
            holds(worker_cases(), |case| workflows::check_any(&case, StoreKind::Memory))
        }
        Weakness::FenceIgnored => keeps(&journal_store_suite().only(&["fences"]), &Memory),
        Weakness::RedactedAfterWrite => holds("[A-Za-z0-9]{36}", |rest| log_is_free_of(&format!("ghp_{rest}"))),
        Weakness::EntryUsedAgain => keeps(&replay_suite().only(&["once"]), &Cassettes::<Tools>::new(false)),
        weakness => panic!("{weakness:?} has no property"),
    }
}

/// What is being recorded has no secret on the disk at any time.
fn log_is_free_of(secret: &str) -> Result<(), TestCaseError> {
    let folder = store::folder();
    let recording = Recording::create(folder.path().join("c.json"), Env::system()).unwrap();
    let (arguments, outcome) = (json!({"argument": secret}), Outcome::Output(json!("done")));
    let exchange = ToolExchange { name: "push".to_owned(), arguments, after_us: 0, outcome };
    recording.complete(recording.begin(None), Exchange::Tool(exchange)).unwrap();
    let log = fs::read_to_string(folder.path().join("c.json.partial")).unwrap();
    prop_assert!(!log.contains(secret), "{log}");
    recording.finish().unwrap();
    Ok(())
}

#[test]
fn every_broken_rule_is_noticed_and_a_whole_one_is_not() {
    for weakness in Weakness::ALL {
        check(weakness).unwrap_or_else(|failure| panic!("{weakness:?} is not broken, and yet: {failure}"));
        let noticed = weakened(weakness, || check(weakness));
        assert!(noticed.is_err(), "{weakness:?} is broken, and nobody notices");
    }
}
