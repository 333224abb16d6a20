//! What the strategies make, measured: the shares that their documentation promises.

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use windtunnel_proptests::models::{
    BatchPrediction, CallEnd, GuardAnswer, GuardModel, QueuePrediction, RetryPrediction, delay_s,
};
use windtunnel_proptests::strategies;

const CASES: usize = 2_000;

fn cases<S: Strategy>(strategy: S) -> Vec<S::Value> {
    some_cases(strategy, CASES)
}

pub(crate) fn some_cases<S: Strategy>(strategy: S, count: usize) -> Vec<S::Value> {
    let mut runner = TestRunner::deterministic();
    (0..count).map(|_| strategy.new_tree(&mut runner).unwrap().current()).collect()
}

#[track_caller]
pub(crate) fn check<T>(cases: &[T], what: &str, at_least_percent: usize, is_so: impl Fn(&T) -> bool) {
    let percent = cases.iter().filter(|case| is_so(case)).count() * 100 / cases.len();
    assert!(percent >= at_least_percent, "{what}: {percent} in 100, and at least {at_least_percent} are promised");
}

#[test]
fn retry_cases_end_in_every_way() {
    let predictions: Vec<_> = cases(strategies::retry_cases()).iter().map(RetryPrediction::of).collect();
    let ends = |end, retried: bool| move |case: &RetryPrediction| case.end == end && (case.attempts() > 1) == retried;
    check(&predictions, "succeed at once", 10, ends(CallEnd::Value, false));
    check(&predictions, "succeed after retries", 15, ends(CallEnd::Value, true));
    check(&predictions, "exhaust their attempts", 25, |case| case.end == CallEnd::Failed);
    check(&predictions, "run out of time at last", 8, |case| case.end == CallEnd::TimedOut);
    check(&predictions, "are refused by the tool", 5, |case| case.end == CallEnd::Refused);
    check(&predictions, "are interrupted", 2, |case| case.end == CallEnd::Interrupted);
}

#[test]
fn guard_cases_repeat_and_refuse() {
    let cases = cases(strategies::guard_cases());
    let calls: Vec<_> = cases.iter().flat_map(|case| (0..case.calls.len()).map(move |index| (case, index))).collect();
    check(&calls, "are repeats", 10, |(case, index)| {
        case.calls[..*index].iter().any(|earlier| case.calls[*index].is_repeat_of(earlier))
    });
    let answers: Vec<Vec<_>> = cases
        .iter()
        .map(|case| {
            let mut model = GuardModel::new(case.policies.clone(), case.calls_max);
            case.calls.iter().map(|call| model.commit(call)).collect()
        })
        .collect();
    check(&answers, "refuse a call for its tool", 30, |answers| answers.contains(&GuardAnswer::OncePerRun));
    check(&answers, "refuse a call for the run's limit", 20, |answers| answers.contains(&GuardAnswer::MaxCalls));
}

#[test]
fn queue_cases_make_calls_wait() {
    let at_once = cases(strategies::queue_cases());
    check(&at_once, "make a call wait", 60, |case| {
        let turns = QueuePrediction::of(case).turns;
        case.calls.iter().zip(turns).any(|(call, turn)| turn.starts > call.arrives)
    });
    let staggered = cases(strategies::staggered_queue_cases());
    check(&staggered, "make a call wait", 50, |case| {
        let turns = QueuePrediction::of(case).turns;
        case.calls.iter().zip(turns).any(|(call, turn)| turn.starts > call.arrives)
    });
}

#[test]
fn batch_cases_meet_every_policy() {
    let cases = cases(strategies::batch_cases());
    let predictions: Vec<_> = cases.iter().map(BatchPrediction::of).collect();
    let results = |error: Option<&'static str>| {
        move |prediction: &BatchPrediction| prediction.results.iter().any(|result| result.error == error)
    };
    check(&predictions, "have a call that succeeds", 50, results(None));
    for (error, at_least_percent) in [
        ("tool-not-found", 10),
        ("once-per-run", 10),
        ("max-calls", 20),
        ("tool-error", 10),
        ("tool-timeout", 20),
        ("tool-failed", 50),
    ] {
        check(&predictions, error, at_least_percent, results(Some(error)));
    }
    check(&predictions, "make a call wait", 25, |prediction| {
        prediction.results.iter().any(|result| result.starts.is_some_and(|starts| !starts.is_zero()))
    });
}

#[test]
fn extreme_backoffs_reach_their_maximum_and_stay_below_it() {
    let settings = cases((strategies::extreme_backoff_settings(), strategies::attempt_numbers()));
    check(&settings, "are the maximum", 50, |(settings, attempt)| delay_s(settings, *attempt, 0.0) == settings.max_s);
    check(&settings, "stay below it", 5, |(settings, attempt)| {
        let reached_s = delay_s(settings, *attempt, 0.0);
        reached_s > settings.base_s && reached_s < settings.max_s
    });
}
