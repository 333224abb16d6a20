//! What the workers work on: workflows of a few activations, each with a call of a model and two of tools at once.

use std::sync::{Arc, Mutex};

use futures_util::future::join;
use serde::{Deserialize, Serialize};
use windtunnel::BoxError;
use windtunnel::durable::{Decision, DurableError, OperationCall, OperationKind, Workflow, WorkflowContext};

use crate::effects::Client;
use crate::points::{Point, Stops};

pub(crate) const WORKFLOWS: usize = 4;
pub(crate) const ROUNDS: u32 = 6;
pub(crate) const OPERATIONS_PER_ROUND: usize = 3;

/// What crosses from round to round.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Progress {
    pub(crate) round: u32,
    /// The answers so far, in the order of the operations.
    pub(crate) answers: Vec<u64>,
}

pub(crate) fn workflow_id(index: usize) -> String {
    format!("order-{index}")
}

pub(crate) fn keys(round: u32) -> [String; OPERATIONS_PER_ROUND] {
    [format!("model:turn:{round}"), format!("tool:turn:{round}:a"), format!("tool:turn:{round}:b")]
}

#[derive(Clone)]
pub(crate) struct Outside {
    pub(crate) client: Arc<Mutex<Client>>,
    pub(crate) stops: Stops,
}

pub(crate) fn order(outside: Outside) -> Workflow {
    Workflow::new("order").entry("round", move |context: WorkflowContext, progress: Progress| {
        let outside = outside.clone();
        async move { round(&context, &outside, progress).await }
    })
}

async fn round(context: &WorkflowContext, outside: &Outside, mut progress: Progress) -> Result<Decision, BoxError> {
    let [model, first, second] = keys(progress.round);
    progress.answers.push(operation(context, outside, &model, OperationKind::Model).await?);
    let tools = join(
        operation(context, outside, &first, OperationKind::Tool),
        operation(context, outside, &second, OperationKind::Tool),
    );
    let (first, second) = tools.await;
    progress.answers.extend([first?, second?]);
    progress.round += 1;
    if progress.round == ROUNDS {
        return Ok(context.complete(&progress.answers)?);
    }
    Ok(context.continue_("round", &progress)?)
}

async fn operation(
    context: &WorkflowContext,
    outside: &Outside,
    key: &str,
    kind: OperationKind,
) -> Result<u64, DurableError> {
    let (called, name) = (outside.clone(), key.to_owned());
    let body = move |_: serde_json::Value, call: OperationCall| async move {
        called.stops.pass(Point::BeforeCall);
        let answer = called.client.lock().unwrap().effect(&call.idempotency_key, &name);
        called.stops.pass(Point::AfterEffect);
        Ok::<_, BoxError>(answer)
    };
    let answer = context.operation(key, kind, "world:effect", "1", serde_json::json!({}), body).await?;
    let (workflow_id, activation_id) = (context.workflow_id(), context.activation_id());
    outside.client.lock().unwrap().released(workflow_id, activation_id, key, answer);
    Ok(answer)
}
