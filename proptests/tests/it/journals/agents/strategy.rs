//! Random agents.

use std::num::NonZeroU32;
use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use windtunnel_proptests::cases::WorkerCase;
use windtunnel_proptests::strategies::worker_cases;

use super::case::{AgentCase, AgentFaults, AgentTool, CallCase, Review, ReviewAnswer, ReviewTime, TurnCase};

const TIMEOUT: Duration = Duration::from_secs(100);
/// After every first wait of a turn is over.
const TOO_LATE: Duration = Duration::from_secs(150);

/// Up to four turns of up to four calls. Of 100 agents at least 60 ask for an approval, 10 meet a guard, 15 a budget, and 5
/// are as plain loops are.
pub(super) fn agents() -> impl Strategy<Value = AgentCase> {
    prop_oneof![4 => agents_of(tools().boxed()), 1 => agents_of(plain_tools().boxed())]
}

/// The agents that need no approval.
pub(super) fn plain_agents() -> impl Strategy<Value = AgentCase> {
    agents_of(plain_tools().boxed()).prop_map(|mut case| {
        case.turns.iter_mut().for_each(|turn| turn.failures = 0);
        AgentCase { calls_max: 64, ..case }
    })
}

fn agents_of(tools: BoxedStrategy<AgentTool>) -> impl Strategy<Value = AgentCase> {
    let failures = prop_oneof![5 => Just(0_usize), 1 => 1_usize..=2];
    let turn = (vec(calls(tools), 1..=4), failures).prop_map(|(calls, failures)| TurnCase { calls, failures });
    let turns_max = prop_oneof![3 => Just(16_u32), 1 => 1_u32..=4];
    let calls_max = prop_oneof![3 => Just(64_u32), 1 => 1_u32..=8];
    let run_calls_max = prop::option::weighted(0.3, 0_u64..=6);
    let timeout = prop::option::weighted(0.8, Just(TIMEOUT));
    (vec(turn, 0..=4), turns_max, calls_max, 1_u32..=4, run_calls_max, timeout).prop_map(
        |(mut turns, turns_max, calls_max, per_activation, run_calls_max, approval_timeout)| {
            turns.iter_mut().for_each(hear_late_ones_alone);
            let turns_per_activation = NonZeroU32::new(per_activation).unwrap();
            AgentCase { turns, turns_max, calls_max, turns_per_activation, run_calls_max, approval_timeout }
        },
    )
}

/// Where several wait, when the second begins to wait depends on when the first is heard.
fn hear_late_ones_alone(turn: &mut TurnCase) {
    let waiting = turn.calls.iter().filter(|call| call.tool.needs_approval()).count();
    for call in turn.calls.iter_mut().filter(|_| waiting > 1) {
        if call.review.when == ReviewTime::After(TOO_LATE) {
            call.review.when = ReviewTime::Never;
        }
    }
}

fn calls(tools: BoxedStrategy<AgentTool>) -> impl Strategy<Value = CallCase> {
    (ids(), tools, arguments(), reviews()).prop_map(|(id, tool, arguments, review)| CallCase {
        id,
        tool,
        arguments,
        review,
    })
}

/// Often the same, and some that cannot stand in keys.
fn ids() -> impl Strategy<Value = String> {
    let known = ["a", "b", "c", "call-1", "call-2", "call-2-1", "", "x\ny"].map(str::to_owned);
    let long = [64, 65, 200].map(|length| "i".repeat(length));
    let wide = ["\u{e9}".repeat(32), "\u{e9}".repeat(33)];
    let some = known.into_iter().chain(long).chain(wide).collect::<Vec<_>>();
    prop_oneof![1 => select(some), 1 => "[a-z]{8}"]
}

fn tools() -> impl Strategy<Value = AgentTool> {
    prop_oneof![
        4 => Just(AgentTool::LookUp),
        2 => Just(AgentTool::Open),
        4 => Just(AgentTool::Pay),
        1 => Just(AgentTool::Close),
        1 => Just(AgentTool::Unknown),
    ]
}

fn plain_tools() -> impl Strategy<Value = AgentTool> {
    prop_oneof![6 => Just(AgentTool::LookUp), 2 => Just(AgentTool::Open), 1 => Just(AgentTool::Unknown)]
}

/// They say what the tool does.
fn arguments() -> impl Strategy<Value = Value> {
    let ends = select(vec!["value", "value", "value", "value", "refused", "broken", "late"]);
    let valid = (0_u8..3, select(vec![0, 0, 1, 1000, 4000]), ends)
        .prop_map(|(n, takes_ms, ends)| json!({"n": n, "takes_ms": takes_ms, "ends": ends}));
    prop_oneof![12 => valid, 1 => Just(json!({"n": "one"}))]
}

fn reviews() -> impl Strategy<Value = Review> {
    let when = prop_oneof![
        2 => Just(ReviewTime::Early),
        4 => select(vec![0, 1, 30]).prop_map(|seconds| ReviewTime::After(Duration::from_secs(seconds))),
        1 => Just(ReviewTime::After(TOO_LATE)),
        1 => Just(ReviewTime::Never),
    ];
    let answer = prop_oneof![
        5 => Just(ReviewAnswer::Approves),
        2 => arguments().prop_map(ReviewAnswer::Edits),
        1 => Just(ReviewAnswer::Denies),
        1 => Just(ReviewAnswer::Mumbles),
    ];
    (when, answer).prop_map(|(when, answer)| Review { when, answer })
}

/// Crashes and losses.
pub(super) fn agent_faults() -> impl Strategy<Value = AgentFaults> {
    (worker_cases(), prop::bool::weighted(0.2)).prop_map(|(worker, replays_always)| {
        let WorkerCase { workers, faults, .. } = worker;
        AgentFaults { lives: workers.into_iter().flatten().collect(), faults, replays_always }
    })
}
