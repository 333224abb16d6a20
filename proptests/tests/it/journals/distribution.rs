//! What the strategies of stores and workflows make, measured: the shares that their documentation promises.

use windtunnel_core::durable::{Claimed, Commit, Refusal, Wake};
use windtunnel_proptests::models::StoreAnswer;
use windtunnel_proptests::played::Exchange;
use windtunnel_proptests::properties::journals::{check_memory, memory, run};
use windtunnel_proptests::strategies::{store_operations, worker_cases};
use windtunnel_proptests::{Effect, EffectLine, invariants};

use crate::distribution::{check, some_cases};

#[test]
fn store_operations_come_to_everything() {
    let cases = some_cases(store_operations(), 200);
    let played: Vec<_> = cases.iter().map(|operations| check_memory(operations).unwrap()).collect();
    let answers = |name: &'static str, expected: Commit| {
        move |exchanges: &Vec<Exchange>| {
            exchanges.iter().any(|exchange| {
                let is_it = matches!(&exchange.answer, StoreAnswer::Commit(commit) if *commit == expected);
                exchange.call.name() == name && is_it
            })
        }
    };
    let refused = |refusal| {
        let expected = Commit::Refused(refusal);
        move |exchanges: &Vec<Exchange>| {
            let is_it =
                |exchange: &Exchange| matches!(&exchange.answer, StoreAnswer::Commit(commit) if *commit == expected);
            exchanges.iter().any(is_it)
        }
    };
    let woken = |name: &'static str| {
        move |exchanges: &Vec<Exchange>| exchanges.iter().filter_map(woken_by).any(|wake| wake.name() == name)
    };
    check(&played, "commit a record", 50, answers("commit_record", Commit::Acknowledged));
    check(&played, "commit a decision", 35, answers("commit_decision", Commit::Acknowledged));
    check(&played, "are refused for a superseded attempt", 15, refused(Refusal::Superseded));
    check(&played, "are refused for a closed activation", 10, refused(Refusal::Closed));
    check(&played, "come to a bound of the journal", 3, refused(Refusal::OverBound));
    check(&played, "begin an activation with an event", 5, woken("event"));
    check(&played, "begin an activation with a timeout", 2, woken("timeout"));
}

fn woken_by(exchange: &Exchange) -> Option<&Wake> {
    match &exchange.answer {
        StoreAnswer::Claimed(Claimed::Activation(claim)) => Some(&claim.wake),
        _ => None,
    }
}

#[test]
fn worker_cases_repeat_supersede_and_lose() {
    let cases = some_cases(worker_cases(), 100);
    let effects: Vec<Vec<EffectLine>> = cases.iter().map(|case| run(case, memory).outcome.unwrap().effects).collect();
    let repeats = |effects: &Vec<EffectLine>| !invariants::repeats_are_explained(effects).unwrap().is_empty();
    check(&effects, "run some callable more than once", 40, repeats);
    check(&effects, "lose the answer to a commit", 25, |effects| {
        effects.iter().any(|line| matches!(line.effect, Effect::RecordAnswered(_, Commit::Unknown)))
    });
    check(&effects, "supersede an attempt", 10, |effects| {
        effects.iter().any(|line| match &line.effect {
            Effect::RecordAnswered(_, commit) | Effect::ExtensionAnswered(commit) => {
                *commit == Commit::Refused(Refusal::Superseded)
            }
            _ => false,
        })
    });
}
