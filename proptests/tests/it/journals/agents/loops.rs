//! Durable tool loops come to the same end whatever goes wrong, and to that of a plain loop.

use proptest::prelude::*;
use proptest::test_runner::Config;
use windtunnel_core::durable::{Decision, ToolLoopEnd, ToolLoopOutput};
use windtunnel_core::executor::LoopEnd;
use windtunnel_proptests::invariants;

use super::case::{AgentCase, AgentFaults};
use super::check::{by_places, calls_made, check, essence};
use super::scene::{Ended, run_durably, run_plainly};
use super::strategy::{agent_faults, agents, plain_agents};
use crate::settings::family;

fn check_faults(case: &AgentCase, faults: &AgentFaults) -> Result<(), TestCaseError> {
    let calm = run_durably(case, &AgentFaults::NONE)?;
    check(case, &calm)?;
    check_calm(&calm)?;
    let troubled = run_durably(case, faults)?;
    check(case, &troubled)?;
    if !faults.replays_always {
        invariants::repeats_are_explained(&troubled.effects)?;
    }
    prop_assert_eq!(essence(&troubled), essence(&calm));
    Ok(())
}

/// Where nothing goes wrong, only a model that failed is asked again.
fn check_calm(calm: &Ended) -> Result<(), TestCaseError> {
    let repeats = invariants::repeats_are_explained(&calm.effects)?;
    prop_assert!(repeats.keys().all(|reason| *reason == "it failed"), "{:?}", repeats);
    Ok(())
}

fn check_plain(case: &AgentCase) -> Result<(), TestCaseError> {
    let durable = run_durably(case, &AgentFaults::NONE)?;
    check(case, &durable)?;
    if !case.is_plain() {
        return Ok(());
    }
    let (plain, runs) = run_plainly(case)?;
    let Some(Decision::Complete(output)) = durable.history.outcome() else { panic!("nothing waits") };
    let output: ToolLoopOutput = serde_json::from_value((**output).clone()).unwrap();
    let end = if plain.end == LoopEnd::Answer { ToolLoopEnd::Answer } else { ToolLoopEnd::TurnLimit };
    prop_assert_eq!((output.end, output.turns, output.usage), (end, plain.turns, plain.usage));
    // What the model read last, and what came after.
    let read = by_places(&durable.requests.last().unwrap().messages);
    let conversation = by_places(&plain.messages);
    prop_assert_eq!(&read[..], &conversation[..read.len()]);
    prop_assert_eq!(calls_made(&durable.runs), calls_made(&runs));
    Ok(())
}

/// Each case is played twice at least.
fn config() -> Config {
    let config = family!("journal-agent");
    Config { cases: config.cases.div_ceil(2), max_shrink_iters: 2048, ..config }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn agents_come_to_the_same_end_whatever_goes_wrong(case in agents(), faults in agent_faults()) {
        check_faults(&case, &faults)?;
    }

    #[test]
    fn agents_do_what_plain_loops_do(case in plain_agents()) {
        check_plain(&case)?;
    }
}
