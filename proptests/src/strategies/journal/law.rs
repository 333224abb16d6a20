//! What is asked of a store of journals about one law.

use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::Union;
use serde_json::json;

use super::operation::{
    WORKFLOW_IDS, WORKFLOWS, advances, claims, decisions, deliveries, fences, records, spans, starts,
};
use crate::cases::{DecisionChoice, FenceChoice, OutputChoice, StoreLaw, StoreOperation};

/// Up to 24 operations that are about one law: those that it is kept or broken by, and those that they need. Each case
/// begins with a workflow that is started and claimed.
///
/// Of 100 cases at least 30 come to what the law is about: several records for [`Order`](StoreLaw::Order), a commit of
/// an overtaken attempt for [`Fences`](StoreLaw::Fences), a request that is made again for
/// [`Repeats`](StoreLaw::Repeats), a refusal after a decision for [`OneDecision`](StoreLaw::OneDecision), a second
/// claim for [`Leases`](StoreLaw::Leases), a begin by an event or its timeout for [`Events`](StoreLaw::Events), a
/// refusal over a bound for [`Bounds`](StoreLaw::Bounds), and a record in a store that is opened again for
/// [`Reopening`](StoreLaw::Reopening).
pub fn store_operations_about(law: StoreLaw) -> impl Strategy<Value = Vec<StoreOperation>> {
    let lease = match law {
        StoreLaw::Fences => Just(Duration::ZERO).boxed(),
        StoreLaw::Leases => spans().boxed(),
        _ => Just(Duration::from_secs(60)).boxed(),
    };
    let begin = lease.prop_map(|lease| {
        let start = StoreOperation::Start {
            workflow_id: WORKFLOW_IDS[0].to_owned(),
            workflow: WORKFLOWS[0].to_owned(),
            state: json!(0),
        };
        let claim = StoreOperation::Claim { workflows: vec![WORKFLOWS[0].to_owned()], lease };
        vec![start, claim]
    });
    (begin, vec(Union::new_weighted(operations(law)), 0..=24)).prop_map(|(mut operations, more)| {
        operations.extend(more);
        operations
    })
}

fn operations(law: StoreLaw) -> Vec<(u32, BoxedStrategy<StoreOperation>)> {
    let last = || FenceChoice::Claimed { back: 0 };
    let decided = || decisions().prop_map(move |decision| StoreOperation::CommitDecision { fence: last(), decision });
    let any_decision = (fences(), decisions());
    let any_decision = any_decision.prop_map(|(fence, decision)| StoreOperation::CommitDecision { fence, decision });
    let again = (0_usize..4).prop_map(|back| StoreOperation::Again { back }).boxed();
    let advanced = advances().prop_map(StoreOperation::Advance).boxed();
    let extended = (fences(), spans()).prop_map(|(fence, lease)| StoreOperation::Extend { fence, lease });
    let given_up = (fences(), spans(), any::<bool>());
    let given_up = given_up.prop_map(|(fence, after, is_failure)| StoreOperation::Retry { fence, after, is_failure });
    match law {
        StoreLaw::Order => vec![
            (6, records().boxed()),
            (1, decided().boxed()),
            (1, claims().boxed()),
            (1, starts().boxed()),
            (1, Just(StoreOperation::WorkflowIds).boxed()),
        ],
        StoreLaw::Fences => vec![
            (4, records().boxed()),
            (3, any_decision.boxed()),
            (2, extended.boxed()),
            (2, given_up.boxed()),
            (4, claims_without_lease().boxed()),
        ],
        StoreLaw::Repeats => vec![
            (3, records().boxed()),
            (6, again),
            (2, decided().boxed()),
            (2, deliveries().boxed()),
            (2, starts().boxed()),
            (1, given_up.boxed()),
            (1, claims().boxed()),
        ],
        StoreLaw::OneDecision => {
            vec![(5, any_decision.boxed()), (3, records().boxed()), (2, extended.boxed()), (2, claims().boxed())]
        }
        StoreLaw::Leases => vec![(5, claims().boxed()), (4, advanced), (2, extended.boxed()), (2, given_up.boxed())],
        StoreLaw::Events => {
            vec![(5, waits().boxed()), (5, deliveries().boxed()), (5, claims().boxed()), (3, advanced), (1, again)]
        }
        StoreLaw::Bounds => vec![
            (4, filling().boxed()),
            (2, (118_usize..=129).prop_map(move |count| StoreOperation::CommitMany { fence: last(), count }).boxed()),
            (2, records().boxed()),
            (1, deliveries().boxed()),
            (1, starts().boxed()),
        ],
        StoreLaw::Reopening => vec![
            (4, Just(StoreOperation::Reopen).boxed()),
            (4, records().boxed()),
            (2, decided().boxed()),
            (2, deliveries().boxed()),
            (2, claims().boxed()),
            (1, starts().boxed()),
            (1, advanced),
        ],
    }
}

fn claims_without_lease() -> impl Strategy<Value = StoreOperation> {
    let workflows = WORKFLOWS.map(str::to_owned).to_vec();
    Just(StoreOperation::Claim { workflows, lease: Duration::ZERO })
}

fn waits() -> impl Strategy<Value = StoreOperation> {
    let waits = decisions().prop_filter("it waits", |decision| matches!(decision, DecisionChoice::WaitEvent { .. }));
    waits.prop_map(|decision| StoreOperation::CommitDecision { fence: FenceChoice::Claimed { back: 0 }, decision })
}

fn filling() -> impl Strategy<Value = StoreOperation> {
    let outputs = prop_oneof![Just(OutputChoice::Fills), Just(OutputChoice::Overflows)];
    (0_usize..6, outputs).prop_map(|(key, output)| StoreOperation::CommitRecord {
        fence: FenceChoice::Claimed { back: 0 },
        key: format!("tool:{key}"),
        output,
    })
}
