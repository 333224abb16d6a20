//! The answers of tools.

use std::error::Error;

use serde_json::json;
use tokio::io::{AsyncRead, AsyncWrite};
use windtunnel_core::executor::{Executor, Outcome, ToolCall};
use windtunnel_core::tool::{CallError, ErrorKind, ToolError};

use super::error::ServiceError;
use super::message::{
    CALL_TOOL, FAILED, Outgoing, Refusal, UNANSWERABLE, UNKNOWN_METHOD, VALUE_BOUNDS, WRONG_PARAMETERS,
};
use super::remote_tool::{CallFailure, CallParams, CallValue};
use super::server::Asked;

/// Answers calls of the executor's tools on one stream, one after another, until the other side ends it. A call that has begun
/// is finished, also when nobody waits for its answer any more.
///
/// # Errors
/// [`ServiceError`] if the stream breaks, or what comes on it is not of this protocol; the other side is told so.
pub async fn answer_tools(
    executor: &Executor,
    stream: impl AsyncRead + AsyncWrite + Unpin,
) -> Result<(), ServiceError> {
    let mut asked = Asked::on(stream);
    while let Some((id, method, params)) = asked.next().await? {
        if method != CALL_TOOL {
            asked.refuse(id, &Refusal::new(UNKNOWN_METHOD, "tools are called by `tool.call`")).await?;
            continue;
        }
        let Ok(params) = serde_json::from_value(params) else {
            let expected = "a call has `name`, `arguments`, `call_id` and perhaps `idempotency_key`";
            asked.refuse(id, &Refusal::new(WRONG_PARAMETERS, expected)).await?;
            continue;
        };
        match call(executor, params).await {
            Ok(value) => {
                let answered = asked.answer(&Outgoing::result(id, value)).await;
                asked.settle(id, answered).await?;
            }
            Err(refusal) => asked.refuse(id, &refusal).await?,
        }
    }
    Ok(())
}

async fn call(executor: &Executor, params: CallParams) -> Result<CallValue, Refusal> {
    let executor = executor.clone().with_idempotency_key(params.idempotency_key);
    let call = ToolCall::new(params.name, (*params.arguments).clone()).with_id(params.call_id);
    match executor.run_call(call).await {
        Ok(result) => match result.outcome {
            Outcome::Ok(value) => match VALUE_BOUNDS.check(&value) {
                Ok(()) => Ok(CallValue { value }),
                Err(error) => Err(Refusal::new(UNANSWERABLE, format!("the answer cannot be written: {error}"))),
            },
            Outcome::Error(error) => Err(failed(&error)),
            Outcome::Pending { .. } => Err(failure("the service waits for an approval that nobody can give", false)),
        },
        Err(_interrupted) => Err(failure("the call was cancelled", true)),
    }
}

/// What the tool itself said of its failure goes on to the caller, who decides about attempts.
fn failed(error: &CallError) -> Refusal {
    let mut cause = error.source();
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<ToolError>() {
            return failure(error.message(), error.is_retryable());
        }
        cause = error.source();
    }
    failure(&error.message, matches!(error.kind, ErrorKind::ToolFailed | ErrorKind::ToolTimeout))
}

fn failure(message: &str, retryable: bool) -> Refusal {
    Refusal { data: json!(CallFailure { retryable }), ..Refusal::new(FAILED, message) }
}
