//! What the strategies of parts make, measured: the shares that their documentation promises.

use std::time::Duration;

use windtunnel_core::evaluator::RetryPolicy;
use windtunnel_proptests::cases::{Answer, Ending, StepCase};
use windtunnel_proptests::strategies;

use crate::distribution::{check, some_cases};

const CASES: usize = 2_000;
const LIMIT: Duration = Duration::from_secs(1);

#[test]
fn scripts_keep_and_pass_their_limit_and_end_in_every_way() {
    let endings = some_cases(strategies::endings(), CASES);
    check(&endings, "give a value", 50, |ending| *ending == Ending::Value);
    check(&endings, "are control flow", 3, |ending| *ending == Ending::Cancelled);
    let steps = some_cases(strategies::steps(Some(LIMIT)), CASES);
    check(&steps, "keep the limit", 70, |step| step.takes <= LIMIT);
    check(&steps, "pass the limit", 15, |step| step.takes > LIMIT);
    check(&steps, "take exactly as long", 10, |step| step.takes == LIMIT);
    let scripts = some_cases(strategies::scripts(Some(LIMIT)), CASES);
    check(&scripts, "have one attempt", 30, |script| script.steps.len() == 1);
    check(&scripts, "have over two attempts", 20, |script| script.steps.len() > 2);
    check(&scripts, "end with a value", 45, |script| {
        script.steps.last().is_some_and(|step| step.ending == Ending::Value)
    });
    check(&scripts, "pass the limit", 25, |script| script.steps.iter().any(|step| step.takes > LIMIT));
}

#[test]
fn reviewers_answer_in_every_way() {
    let steps = some_cases(strategies::approval_steps(), CASES);
    check(&steps, "say later", 15, |step| step.answer == Answer::Pending);
    let scripts = some_cases(strategies::approval_scripts(), CASES);
    check(&scripts, "say later first", 60, |script| script.steps[0].answer == Answer::Pending);
    for (answer, at_least_percent) in
        [(Answer::Approve, 30), (Answer::Deny, 10), (Answer::Edit, 5), (Answer::EditBadly, 5), (Answer::Fail, 5)]
    {
        check(&scripts, &format!("end with {answer:?}"), at_least_percent, |script| {
            script.steps.last().is_some_and(|step| step.answer == answer)
        });
    }
}

#[test]
fn backoffs_grow_and_are_exact() {
    let usual = some_cases(strategies::backoff_settings(), CASES);
    check(&usual, "are the default", 8, |settings| *settings == Default::default());
    check(&usual, "grow", 70, |settings| settings.multiplier >= 1.5);
    check(&usual, "begin below their maximum", 60, |settings| settings.base_s < settings.max_s);
    let exact = some_cases(strategies::exact_backoff_settings(), CASES);
    check(&exact, "do not grow", 20, |settings| settings.multiplier <= 1.0);
    check(&exact, "have no jitter", 20, |settings| settings.jitter == 0.0);
}

#[test]
fn limits_of_runs_are_few_and_sometimes_none() {
    let calls = some_cases(strategies::call_limits(), CASES);
    check(&calls, "have no limit", 40, Option::is_none);
    check(&calls, "allow none", 4, |limit| *limit == Some(0));
    let caps = some_cases(strategies::caps(&["a", "b"]), CASES);
    check(&caps, "cap none", 20, |caps| caps.is_empty());
    check(&caps, "cap both", 12, |caps| caps.len() == 2);
    check(&caps, "have a cap of one", 22, |caps| caps.values().any(|cap| *cap == 1));
}

#[test]
fn policies_of_tools_are_of_every_kind() {
    let policies = some_cases(strategies::tool_policies(&["a", "b"]), CASES);
    check(&policies, "are exclusive", 15, |policy| policy.is_exclusive);
    check(&policies, "run once", 15, |policy| policy.once_per_run);
    check(&policies, "have a time limit", 45, |policy| policy.timeout.is_some());
    check(&policies, "share a kind", 70, |policy| policy.kind.is_some());
    let several = some_cases(strategies::policies(&["a", "b"]), CASES);
    check(&several, "have several tools", 60, |policies| policies.len() > 1);
}

#[test]
fn policies_and_limits_of_programs_are_of_every_kind() {
    let retries = some_cases(strategies::retry_policies(), CASES);
    check(&retries, "try again", 70, |policy| policy.max_attempts.get() > 1);
    check(&retries, "try again at once", 40, |policy| policy.delay.is_zero());
    check(&retries, "know all tools", 55, |policy| policy.idempotent_tools.len() == 13);
    check(&retries, "are for other kinds", 10, |policy| policy.retryable != RetryPolicy::default().retryable);
    let limits = some_cases(strategies::program_limits(), CASES);
    let counts: Vec<[bool; 6]> = limits
        .iter()
        .map(|limits| {
            let (nodes, depth, calls) = (limits.max_nodes, limits.max_depth, limits.max_call_depth);
            let (tools, concurrency) = (limits.max_tool_calls.is_some(), limits.max_concurrency.is_some());
            [nodes.is_some(), depth.is_some(), calls.is_some(), tools, concurrency, limits.timeout.is_some()]
        })
        .collect();
    let set = |limits: &[bool; 6]| limits.iter().filter(|is_set| **is_set).count();
    check(&counts, "have no limit", 15, |limits| set(limits) == 0);
    check(&counts, "have several", 28, |limits| set(limits) > 1);
    for (place, at_least_percent) in [5, 5, 15, 10, 20, 15].into_iter().enumerate() {
        check(&counts, &format!("have limit {place}"), at_least_percent, |limits| limits[place]);
    }
}

#[test]
fn workflows_do_several_things_and_are_replayed() {
    let workflows = some_cases(strategies::workflow_cases(), CASES);
    let steps = |is_it: fn(&StepCase) -> bool| {
        move |case: &windtunnel_proptests::cases::WorkflowCase| {
            case.activations.iter().flat_map(|activation| &activation.steps).any(is_it)
        }
    };
    check(&workflows, "have several activations", 40, |case| case.activations.len() > 1);
    check(
        &workflows,
        "do several things at once",
        70,
        steps(|step| matches!(step, StepCase::AtOnce(all) if all.len() > 1)),
    );
    check(&workflows, "drop an operation", 20, steps(|step| matches!(step, StepCase::Dropped { .. })));
    check(&workflows, "end with a failure", 5, |case| !case.completes);
    let replayed = some_cases(strategies::replayed_worker_cases(), 300);
    check(&replayed, "compare the order", 55, |case| case.replay.is_strict);
    check(&replayed, "enter again", 55, |case| case.replay.is_constant);
    let calm = some_cases(strategies::calm_worker_cases(), 500);
    check(&calm, "have two workflows", 40, |case| case.workflows.len() == 2);
    check(&calm, "have several workers", 55, |case| case.workers.len() > 1);
    check(&calm, "deliver events", 60, |case| !case.deliveries.is_empty());
}
