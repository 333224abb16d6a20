//! The answers of a model.

use futures_util::StreamExt;
use serde_json::json;
use tokio::io::{AsyncRead, AsyncWrite};
use windtunnel_core::model::{ModelError, ModelRequest, ModelTransport};

use super::error::ServiceError;
use super::message::{COMPLETE, DELTA, FAILED, Outgoing, Refusal, STREAM, UNKNOWN_METHOD, WRONG_PARAMETERS};
use super::remote_model::ModelFailure;
use super::server::Asked;

/// Answers requests to the model on one stream, one after another, until the other side ends it. A response that is asked
/// for as a whole is waited for, also when nobody waits for it any more; one that comes in pieces ends with the connection.
///
/// # Errors
/// [`ServiceError`] if the stream breaks, or what comes on it is not of this protocol; the other side is told so.
pub async fn answer_model(
    model: &dyn ModelTransport,
    stream: impl AsyncRead + AsyncWrite + Unpin,
) -> Result<(), ServiceError> {
    let mut asked = Asked::on(stream);
    while let Some((id, method, params)) = asked.next().await? {
        if method != COMPLETE && method != STREAM {
            let known = "a model is asked by `model.complete` or `model.stream`";
            asked.refuse(id, &Refusal::new(UNKNOWN_METHOD, known)).await?;
            continue;
        }
        let Ok(request) = serde_json::from_value::<ModelRequest>(params) else {
            asked.refuse(id, &Refusal::new(WRONG_PARAMETERS, "this is no request to a model")).await?;
            continue;
        };
        let answered = if method == STREAM {
            stream_response(model, &request, id, &mut asked).await
        } else {
            match model.complete(&request).await {
                Ok(response) => Ok(asked.answer(&Outgoing::result(id, response)).await),
                Err(error) => Err(error),
            }
        };
        match answered {
            Ok(answered) => asked.settle(id, answered).await?,
            Err(error) => asked.refuse(id, &failure(&error)).await?,
        }
    }
    Ok(())
}

/// Every piece is a notification; after the last one comes an empty result.
async fn stream_response<S: AsyncRead + AsyncWrite + Unpin>(
    model: &dyn ModelTransport,
    request: &ModelRequest,
    id: u64,
    asked: &mut Asked<S>,
) -> Result<Result<(), ServiceError>, ModelError> {
    let mut deltas = model.stream(request).await?;
    while let Some(delta) = deltas.next().await {
        let answered = asked.answer(&Outgoing::notification(DELTA, delta?)).await;
        if answered.is_err() {
            return Ok(answered);
        }
    }
    Ok(asked.answer(&Outgoing::result(id, json!({}))).await)
}

fn failure(error: &ModelError) -> Refusal {
    let data = ModelFailure { kind: error.kind.as_str().to_owned(), retry_after: error.retry_after };
    Refusal { data: json!(data), ..Refusal::new(FAILED, error.message.as_str()) }
}
