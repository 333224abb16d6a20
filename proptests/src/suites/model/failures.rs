//! What is no response.

use windtunnel_core::model::{ModelError, ModelTransport};

use super::reading::Reading;
use super::trial::{Seen, Trial, demand, drawn, needs};
use super::{ModelFeature, ModelTransportSubject};
use crate::cases::{ModelAnswer, ModelExchangeCase};
use crate::strategies::model_failures;
use crate::suites::Point;

pub(super) fn points<S: ModelTransportSubject>() -> Vec<Point<S>> {
    vec![
        drawn("broken_stream", "a stream that breaks or is cut has no end of a response", model_failures, broken),
        drawn("error_kind", "an error says what kind it is of", model_failures, kind),
        needs(
            ModelFeature::RetryAfter,
            drawn("retry_after", "an error says when to come again, if the model does", model_failures, retry_after),
        ),
    ]
}

async fn broken<T: ModelTransport>(trial: &Trial<T>) -> Seen {
    for exchange in trial.exchanges() {
        let Ok(reading) = Reading::of(&trial.transport, &exchange.request).await? else { continue };
        demand(reading.ends() == 0, || format!("the stream is {:?}", reading.deltas))?;
        let due = match exchange.pieces() {
            Ok(pieces) => pieces.iter().any(Result::is_err),
            Err(_) => return Err("a stream begins where there is none".to_owned()),
        };
        demand(!due || reading.failure.is_some(), || "nothing says that the stream breaks".to_owned())?;
    }
    Ok(())
}

/// The errors that came of an exchange, each with the one that was due.
async fn errors<T: ModelTransport>(
    trial: &Trial<T>,
    exchange: &ModelExchangeCase,
) -> Result<Vec<(ModelError, ModelError)>, String> {
    let mut errors = Vec::new();
    let whole = trial.transport.complete(&exchange.request).await.err();
    let whole = whole.ok_or("a whole response comes where there is none")?;
    // How a connection that is closed looks is the transport's to say.
    let is_closed = matches!(exchange.answer, ModelAnswer::Broken { failure: None, .. });
    errors.extend(exchange.whole().err().filter(|_| !is_closed).map(|due| (whole, due)));
    let streamed = match Reading::of(&trial.transport, &exchange.request).await? {
        Ok(reading) => reading.failure,
        Err(error) => Some(error),
    };
    let due = match &exchange.answer {
        ModelAnswer::Failure(failure) | ModelAnswer::Broken { failure: Some(failure), .. } => Some(failure.clone()),
        ModelAnswer::Broken { failure: None, .. } | ModelAnswer::Response(_) => None,
    };
    if let Some(due) = due {
        errors.push((streamed.ok_or("a stream should fail, and does not")?, due));
    }
    Ok(errors)
}

async fn kind<T: ModelTransport>(trial: &Trial<T>) -> Seen {
    for exchange in trial.exchanges() {
        for (error, due) in errors(trial, exchange).await? {
            demand(error.kind == due.kind, || format!("{error:?} came of {due:?}"))?;
        }
    }
    Ok(())
}

async fn retry_after<T: ModelTransport>(trial: &Trial<T>) -> Seen {
    for exchange in trial.exchanges() {
        for (error, due) in errors(trial, exchange).await? {
            demand(error.retry_after == due.retry_after, || format!("{error:?} came of {due:?}"))?;
        }
    }
    Ok(())
}
