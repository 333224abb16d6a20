//! Canaries: with a rule of ours broken on purpose, the properties that hold it must fail, and without they must hold.

use std::fs;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngSeed, TestError, TestRunner};
use serde_json::json;
use windtunnel_core::canary::{Weakness, weakened};
use windtunnel_core::env::Env;
use windtunnel_core::evaluator::Resource;
use windtunnel_fixtures::cassette::{Cassette, Entry, Exchange, MAIN_LANE, Outcome, ToolExchange};
use windtunnel_fixtures::matching::{Matcher, Rules};
use windtunnel_fixtures::record::Recording;
use windtunnel_proptests::cases::ProgramCase;
use windtunnel_proptests::strategies::{
    guard_cases, programs, queue_cases, retry_cases, slow_tools, staggered_queue_cases, store_operations, worker_cases,
};

use crate::journals::{store, workers::StoreKind, workflows};
use crate::programs::limits;
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
        Weakness::FenceIgnored => holds(store_operations(), |operations| {
            store::check_memory(&operations)?;
            Ok(())
        }),
        Weakness::RedactedAfterWrite => holds("[A-Za-z0-9]{36}", |rest| log_is_free_of(&format!("ghp_{rest}"))),
        Weakness::EntryUsedAgain => {
            holds(prop::collection::vec(select(vec!["a", "b"]), 1..6), |names| answers_as_often_as_recorded(&names))
        }
        weakness => panic!("{weakness:?} has no property"),
    }
}

fn exchange(name: &str, argument: &str) -> Exchange {
    let (arguments, outcome) = (json!({"argument": argument}), Outcome::Output(json!("done")));
    Exchange::Tool(ToolExchange { name: name.to_owned(), arguments, after_us: 0, outcome })
}

/// What is being recorded has no secret on the disk at any time.
fn log_is_free_of(secret: &str) -> Result<(), TestCaseError> {
    let folder = store::folder();
    let recording = Recording::create(folder.path().join("c.json"), Env::system()).unwrap();
    recording.complete(recording.begin(None), exchange("push", secret)).unwrap();
    let log = fs::read_to_string(folder.path().join("c.json.partial")).unwrap();
    prop_assert!(!log.contains(secret), "{log}");
    recording.finish().unwrap();
    Ok(())
}

/// Each entry answers one call, and one call more is a miss.
fn answers_as_often_as_recorded(names: &[&str]) -> Result<(), TestCaseError> {
    let entry = |name: &&str| Entry { lane: MAIN_LANE.to_owned(), started_us: 0, exchange: exchange(name, "") };
    let cassette = Cassette { entries: names.iter().map(entry).collect(), ..Cassette::default() };
    let mut matcher = Matcher::new(Arc::new(cassette), Rules::default());
    for (index, name) in names.iter().enumerate() {
        prop_assert_eq!(matcher.take(None, (&exchange(name, "")).into()).ok(), Some(index));
    }
    prop_assert!(matcher.finish().is_ok());
    prop_assert!(matcher.take(None, (&exchange(names[0], "")).into()).is_err(), "an entry answers twice");
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
