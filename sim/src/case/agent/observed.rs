//! What a trace says of activations and their operations.

use std::collections::BTreeMap;
use std::sync::Arc;

use windtunnel_core::durable::Fence;
use windtunnel_core::event::{Event, EventKind};

use super::crashes::Place;
use super::scene::Operations;

/// What was seen of workers that run on hosts.
#[derive(Debug, Default)]
pub(super) struct Observed {
    /// How many callables ran and how many requests were answered from the journal, by activation.
    pub(super) operations: BTreeMap<u64, Operations>,
    /// Where an idempotency key belongs.
    pub(super) places: BTreeMap<Arc<str>, Place>,
}

impl Observed {
    pub(super) fn of(trace: &[Event]) -> Self {
        let mut observed = Self::default();
        // The activations in the order in which they began.
        let mut known: Vec<&Arc<str>> = Vec::new();
        let mut number = |activation_id| {
            let index = known.iter().position(|known| *known == activation_id).unwrap_or_else(|| {
                known.push(activation_id);
                known.len() - 1
            });
            index as u64 + 1
        };
        for event in trace {
            match (&event.kind, &event.call_id, &event.parent_id) {
                (EventKind::ActivationStarted { .. }, Some(activation_id), _) => {
                    number(activation_id);
                }
                (EventKind::OperationStarted { operation, attempt, .. }, _, Some(activation_id)) => {
                    let activation = number(activation_id);
                    let fence = Fence {
                        workflow_id: Arc::clone(&event.run_id),
                        activation_id: Arc::clone(activation_id),
                        attempt: *attempt,
                    };
                    let place = Place { activation, operation: Some(Arc::clone(operation)) };
                    observed.places.insert(fence.idempotency_key(operation), place);
                    observed.operations.entry(activation).or_default().executed += 1;
                }
                (EventKind::OperationReplayed { .. }, _, Some(activation_id)) => {
                    observed.operations.entry(number(activation_id)).or_default().replayed += 1;
                }
                _ => {}
            }
        }
        observed
    }
}
