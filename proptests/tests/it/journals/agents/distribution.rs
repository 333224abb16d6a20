//! What the strategies of agents make, measured.

use windtunnel_core::durable::ToolLoopEnd;
use windtunnel_proptests::Effect;

use super::case::AgentFaults;
use super::scene::run_durably;
use super::strategy::{agent_faults, agents, plain_agents};
use crate::distribution::{check, some_cases};

#[test]
fn agents_meet_approvals_guards_and_budgets() {
    let cases = some_cases(agents(), 60);
    let histories: Vec<_> = cases
        .iter()
        .map(|case| {
            let ended = run_durably(case, &AgentFaults::NONE).unwrap();
            let activations = ended.history.activations.iter();
            let records = activations.flat_map(|activation| &activation.records).map(|committed| &committed.record);
            records.map(|record| serde_json::to_string(&**record).unwrap()).collect::<String>()
        })
        .collect();
    let told = |text: &'static str| move |history: &String| history.contains(text);
    check(&histories, "ask for an approval", 40, told(r#""pending":{"#));
    check(&histories, "run what was approved", 20, told(r#""decision":{"approve""#));
    check(&histories, "hear that nobody decided in time", 5, told("nobody decided in time"));
    check(&histories, "meet the guard of a tool", 5, told("once-per-run"));
    check(&histories, "meet the guard of a run", 5, told("max-calls"));
    check(&cases, "use up their calls", 5, |case| case.budgeted().end == ToolLoopEnd::CallLimit);
    check(&cases, "use up their turns", 5, |case| case.budgeted().end == ToolLoopEnd::TurnLimit);
    check(&some_cases(plain_agents(), 200), "are as plain loops are", 40, |case| case.is_plain());
}

#[test]
fn troubled_agents_repeat() {
    let cases = some_cases((agents(), agent_faults()), 50);
    check(&cases, "run something more than once", 20, |(case, faults)| {
        let calm = run_durably(case, &AgentFaults::NONE).unwrap();
        let troubled = run_durably(case, faults).unwrap();
        let runs = |ended: &super::scene::Ended| {
            ended.effects.iter().filter(|line| matches!(line.effect, Effect::CallableStarted { .. })).count()
        };
        runs(&troubled) > runs(&calm)
    });
}
