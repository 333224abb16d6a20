//! Canaries: with a rule of ours broken on purpose, the properties that hold it must fail, and without they must hold.

use std::fs;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use serde_json::json;
use windtunnel_core::canary::{Weakness, weakened};
use windtunnel_core::env::Env;
use windtunnel_fixtures::cassette::{Exchange, Outcome, ToolExchange};
use windtunnel_fixtures::record::Recording;
use windtunnel_proptests::properties::{self, Property};
use windtunnel_proptests::suites::{Settings, Suite, journal_store_suite, replay_suite};

use crate::journals::store::folder;
use crate::properties::property;
use crate::suites::journal::ours::Memory;
use crate::suites::replay::ours::{Cassettes, Tools};

/// Tries a property, always on the same cases, and keeps no regression of what is broken on purpose.
fn holds(property: &Property) -> Result<(), String> {
    property.run(Config {
        cases: 64,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(0),
        max_shrink_iters: 64,
        ..Config::default()
    })
}

/// Holds what is ours to a suite.
fn keeps<S>(suite: &Suite<S>, subject: &S) -> Result<(), String> {
    let report = suite.run("ours", subject, &Settings { cases: 16, seed: 0 });
    if report.broken().is_empty() { Ok(()) } else { Err(report.to_string()) }
}

/// The property of the list that holds this rule, if one does.
fn property_of(weakness: Weakness) -> Option<&'static str> {
    match weakness {
        Weakness::RetriesOneMore | Weakness::DelayUncapped | Weakness::LedgerLacksFailures => Some("lone_calls"),
        Weakness::GuardsCheckedOnce => Some("reviewed_guards"),
        Weakness::CallsOneMore => Some("guards"),
        Weakness::LockUnordered => Some("staggered_queues"),
        Weakness::CapOneMore => Some("queues"),
        Weakness::ToolCallsOneMore => Some("exact_limits"),
        Weakness::AcknowledgmentPresumed => Some("workflows"),
        _ => None,
    }
}

/// Tries what holds this rule.
fn check(weakness: Weakness) -> Result<(), String> {
    match weakness {
        Weakness::FenceIgnored => keeps(&journal_store_suite().only(&["fences"]), &Memory),
        Weakness::RedactedAfterWrite => {
            let log_is_free = |rest: String| log_is_free_of(&format!("ghp_{rest}"));
            holds(&Property::new("log", "a log has no secret at any time", || "[A-Za-z0-9]{36}", log_is_free))
        }
        Weakness::EntryUsedAgain => keeps(&replay_suite().only(&["once"]), &Cassettes::<Tools>::new(false)),
        weakness => {
            let id = property_of(weakness).unwrap_or_else(|| panic!("{weakness:?} has no property"));
            holds(&property(id))
        }
    }
}

/// What is being recorded has no secret on the disk at any time.
fn log_is_free_of(secret: &str) -> Result<(), TestCaseError> {
    let folder = folder();
    let recording = Recording::create(folder.path().join("c.json"), Env::system()).unwrap();
    let (arguments, outcome) = (json!({"argument": secret}), Outcome::Output(json!("done")));
    let exchange = ToolExchange { name: "push".to_owned(), arguments, after_us: 0, outcome };
    recording.complete(recording.begin(None), Exchange::Tool(exchange)).unwrap();
    let log = fs::read_to_string(folder.path().join("c.json.partial")).unwrap();
    prop_assert!(!log.contains(secret), "{log}");
    recording.finish().unwrap();
    Ok(())
}

/// How many inputs a fuzzer without guidance may take to notice that a rule is broken.
const INPUTS_MAX: u64 = 200;

/// Bytes without any sense, always the same of the same number, the first of which chooses a property.
fn senseless_bytes(chosen: u8, number: u64) -> Vec<u8> {
    let mut state = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let rest = std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    });
    std::iter::once(chosen).chain(rest.take(24)).collect()
}

/// How many inputs it takes until one breaks the property that holds this rule; nothing, if none does.
fn inputs_until_noticed(id: &str, inputs: u64) -> Option<u64> {
    let place = properties::all().iter().position(|property| property.id() == id).unwrap();
    let chosen = u8::try_from(place).unwrap();
    (1..=inputs).find(|number| properties::try_bytes(&senseless_bytes(chosen, *number)).is_err())
}

#[test]
fn every_broken_rule_is_noticed_and_a_whole_one_is_not() {
    for weakness in Weakness::ALL {
        check(weakness).unwrap_or_else(|failure| panic!("{weakness:?} is not broken, and yet: {failure}"));
        let noticed = weakened(weakness, || check(weakness));
        assert!(noticed.is_err(), "{weakness:?} is broken, and nobody notices");
    }
}

#[test]
fn what_a_fuzzer_calls_notices_every_broken_rule_that_a_property_holds() {
    for weakness in Weakness::ALL {
        let Some(id) = property_of(weakness) else { continue };
        assert_eq!(inputs_until_noticed(id, 32), None, "{weakness:?} is not broken");
        let noticed = weakened(weakness, || inputs_until_noticed(id, INPUTS_MAX));
        assert!(noticed.is_some(), "{weakness:?} is broken, and {INPUTS_MAX} inputs do not show it");
    }
}
