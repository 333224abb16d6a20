//! What is asked of a store of journals.

use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Value, json};

use crate::cases::{Advance, DecisionChoice, FenceChoice, OutputChoice, Side, StoreOperation};

pub(super) const WORKFLOW_IDS: [&str; 3] = ["order-1", "order-2", "_approval:order"];
pub(super) const WORKFLOWS: [&str; 2] = ["refund", "greet"];
const EVENT_KEYS: [&str; 3] = ["signature", "payment", "receipt"];
const RECORD_KEYS: [&str; 3] = ["tool:a", "tool:b", "model:\u{e9}"];
/// Names that no store may keep.
const REFUSED_NAMES: [&str; 2] = ["", "a\nb"];

/// Up to 50 operations on a few identifiers, keys, times and values, so that they meet.
///
/// Of 100 cases at least 50 commit a record and 35 a decision, 15 are refused for a superseded attempt and 10 for a closed
/// activation, 5 begin an activation with an event and 2 with its timeout, and 3 come to a bound of the journal.
pub fn store_operations() -> impl Strategy<Value = Vec<StoreOperation>> {
    let start = select(&WORKFLOW_IDS[..2]).prop_map(|workflow_id| StoreOperation::Start {
        workflow_id: workflow_id.to_owned(),
        workflow: WORKFLOWS[0].to_owned(),
        state: json!(0),
    });
    // A case that begins with a claimed workflow is one that goes somewhere.
    (start, vec(store_operation(), 0..=50)).prop_map(|(start, mut operations)| {
        operations.insert(0, start);
        operations
    })
}

fn store_operation() -> impl Strategy<Value = StoreOperation> {
    prop_oneof![
        3 => starts(),
        14 => claims(),
        3 => (fences(), spans()).prop_map(|(fence, lease)| StoreOperation::Extend { fence, lease }),
        12 => records(),
        1 => (fences(), 120_usize..=129).prop_map(|(fence, count)| StoreOperation::CommitMany { fence, count }),
        10 => (fences(), decisions()).prop_map(|(fence, decision)| StoreOperation::CommitDecision { fence, decision }),
        4 => (fences(), spans(), any::<bool>())
            .prop_map(|(fence, after, is_failure)| StoreOperation::Retry { fence, after, is_failure }),
        6 => deliveries(),
        1 => names(&WORKFLOW_IDS).prop_map(|workflow_id| StoreOperation::Read { workflow_id }),
        1 => Just(StoreOperation::WorkflowIds),
        5 => (0_usize..6).prop_map(|back| StoreOperation::Again { back }),
        12 => advances().prop_map(StoreOperation::Advance),
        2 => Just(StoreOperation::Reopen),
    ]
}

pub(super) fn starts() -> impl Strategy<Value = StoreOperation> {
    (names(&WORKFLOW_IDS), names(&WORKFLOWS), values())
        .prop_map(|(workflow_id, workflow, state)| StoreOperation::Start { workflow_id, workflow, state })
}

pub(super) fn claims() -> impl Strategy<Value = StoreOperation> {
    let all: Vec<String> = WORKFLOWS.iter().map(|name| (*name).to_owned()).collect();
    let workflows = prop_oneof![4 => Just(all.clone()), 1 => subsequence(all, 0..=1)];
    (workflows, spans()).prop_map(|(workflows, lease)| StoreOperation::Claim { workflows, lease })
}

pub(super) fn records() -> impl Strategy<Value = StoreOperation> {
    let output = prop_oneof![
        10 => values().prop_map(OutputChoice::Value),
        4 => Just(OutputChoice::Fills),
        3 => Just(OutputChoice::Overflows),
    ];
    (fences(), select(&RECORD_KEYS[..]), output).prop_map(|(fence, key, output)| StoreOperation::CommitRecord {
        fence,
        key: key.to_owned(),
        output,
    })
}

pub(super) fn deliveries() -> impl Strategy<Value = StoreOperation> {
    let payload = prop_oneof![
        12 => values(),
        // As large as an event may be, and a byte larger.
        1 => (0_usize..=1).prop_map(|over| json!("p".repeat(64 * 1024 - 2 + over))),
    ];
    (names(&WORKFLOW_IDS), names(&EVENT_KEYS), payload)
        .prop_map(|(workflow_id, key, payload)| StoreOperation::Deliver { workflow_id, key, payload })
}

/// One of these, and seldom one that is refused.
fn names(known: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop_oneof![30 => select(known), 1 => select(&REFUSED_NAMES[..])].prop_map(str::to_owned)
}

/// Values that are nearly the same, or the same in another order of members.
fn values() -> impl Strategy<Value = Value> {
    let values = [
        json!(1),
        json!(1.0),
        json!(0.0),
        json!(-0.0),
        json!({"a": 1, "b": ["\u{e9}", null]}),
        json!({"b": ["\u{e9}", null], "a": 1}),
    ];
    select(values.to_vec())
}

/// Lengths of time of which sums and differences often coincide.
pub(super) fn spans() -> impl Strategy<Value = Duration> {
    let spans = [0, 1, 1_000_000_000, 5_000_000_000, 60_000_000_000];
    select(spans.to_vec()).prop_map(Duration::from_nanos)
}

pub(super) fn fences() -> impl Strategy<Value = FenceChoice> {
    prop_oneof![
        12 => Just(FenceChoice::Claimed { back: 0 }),
        6 => (1_usize..5).prop_map(|back| FenceChoice::Claimed { back }),
        1 => (0_usize..3).prop_map(|back| FenceChoice::Unclaimed { back }),
        1 => (0_usize..3).prop_map(|back| FenceChoice::OtherActivation { back }),
        1 => Just(FenceChoice::Stranger),
    ]
}

pub(super) fn decisions() -> impl Strategy<Value = DecisionChoice> {
    let key = select(&EVENT_KEYS[..]).prop_map(str::to_owned);
    prop_oneof![
        4 => values().prop_map(|state| DecisionChoice::Continue { state }),
        3 => spans().prop_map(|duration| DecisionChoice::Sleep { duration }),
        6 => (key, prop::option::weighted(0.7, spans()))
            .prop_map(|(key, timeout)| DecisionChoice::WaitEvent { key, timeout }),
        1 => values().prop_map(|output| DecisionChoice::Complete { output }),
        1 => Just(DecisionChoice::Fail),
    ]
}

pub(super) fn advances() -> impl Strategy<Value = Advance> {
    let side = select(vec![Side::At, Side::Before, Side::After]);
    prop_oneof![
        2 => spans().prop_map(Advance::By),
        3 => (0_usize..3, side).prop_map(|(nth, side)| Advance::ToDue { nth, side }),
    ]
}
