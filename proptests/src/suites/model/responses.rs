//! Responses, whole and in pieces.

use futures_util::future::{join, join_all};
use windtunnel_core::json::canonical;
use windtunnel_core::model::{Delta, Message, ModelTransport, Usage};

use super::reading::Reading;
use super::trial::{Seen, Trial, demand, drawn, needs};
use super::{ModelFeature, ModelTransportSubject};
use crate::cases::{ModelAnswer, ModelExchangeCase};
use crate::strategies::{model_responses, model_traffic};
use crate::suites::Point;

pub(super) fn points<S: ModelTransportSubject>() -> Vec<Point<S>> {
    vec![
        drawn("request_arrives", "the model is asked what was asked", model_traffic, arrives),
        drawn("whole_response", "a whole response is the model's", model_responses, whole),
        drawn("asked_once", "a response is asked for once", model_responses, once),
        drawn("stream_assembles", "the pieces of a stream come to the whole response", model_responses, assembles),
        drawn(
            "deltas_in_order",
            "the calls of a stream begin in their order, and before their arguments",
            model_responses,
            in_order,
        ),
        drawn("one_end", "a whole stream has one end, and that is its last piece", model_responses, one_end),
        drawn("usage", "what a response costs is told once", model_responses, usage),
        needs(
            ModelFeature::IdempotencyKeys,
            drawn("idempotency_key", "the model is told the request's key, and no other", model_traffic, key),
        ),
        drawn("at_once", "responses that are asked for at once are not mixed", model_responses, at_once),
    ]
}

/// The message of an exchange that has one.
pub(super) fn message_of(exchange: &ModelExchangeCase) -> Option<&Message> {
    match &exchange.answer {
        ModelAnswer::Response(response) => Some(&response.message),
        ModelAnswer::Failure(_) | ModelAnswer::Broken { .. } => None,
    }
}

/// Whether two messages are the same, with numbers that keep their identity.
pub(super) fn is_same(one: &Message, other: &Message) -> bool {
    let text = |message| serde_json::to_value(message).as_ref().map(canonical).unwrap_or_default();
    text(one) == text(other)
}

/// Asks for a whole response and for a stream.
async fn ask_both<T: ModelTransport>(trial: &Trial<T>, exchange: &ModelExchangeCase) -> Result<(), String> {
    let _answered = trial.transport.complete(&exchange.request).await;
    Reading::of(&trial.transport, &exchange.request).await.map(drop)
}

async fn arrives<T: ModelTransport>(trial: &Trial<T>) -> Seen {
    for exchange in trial.exchanges() {
        let before = trial.service.requests().len();
        ask_both(trial, exchange).await?;
        let mut arrived = trial.service.requests().split_off(before);
        demand(!arrived.is_empty(), || "the model was not asked".to_owned())?;
        for request in &mut arrived {
            // That has a point of its own.
            request.idempotency_key.clone_from(&exchange.request.idempotency_key);
            demand(*request == exchange.request, || format!("the model was asked {request:?}"))?;
        }
    }
    Ok(())
}

async fn whole<T: ModelTransport>(trial: &Trial<T>) -> Seen {
    for exchange in trial.exchanges() {
        let response = trial.transport.complete(&exchange.request).await.map_err(|error| error.to_string())?;
        let is_so = message_of(exchange).is_some_and(|message| is_same(message, &response.message))
            && exchange.answer.finish_reason() == Some(&response.finish_reason);
        demand(is_so, || format!("the response is {response:?}"))?;
    }
    Ok(())
}

async fn once<T: ModelTransport>(trial: &Trial<T>) -> Seen {
    for (number, exchange) in trial.exchanges().enumerate() {
        ask_both(trial, exchange).await?;
        let asked = trial.service.requests().len();
        demand(asked == 2 * (number + 1), || format!("{asked} requests came of {}", 2 * (number + 1)))?;
    }
    Ok(())
}

async fn assembles<T: ModelTransport>(trial: &Trial<T>) -> Seen {
    for exchange in trial.exchanges() {
        let reading = Reading::whole(&trial.transport, &exchange.request).await?;
        let message = reading.message()?;
        demand(message_of(exchange).is_some_and(|due| is_same(due, &message)), || {
            format!("the pieces come to {message:?}")
        })?;
        let reason = reading.deltas.iter().find_map(|delta| match delta {
            Delta::Finished { finish_reason, .. } => Some(finish_reason),
            _ => None,
        });
        demand(reason == exchange.answer.finish_reason(), || format!("the stream ends with {reason:?}"))?;
    }
    Ok(())
}

async fn in_order<T: ModelTransport>(trial: &Trial<T>) -> Seen {
    for exchange in trial.exchanges() {
        let reading = Reading::whole(&trial.transport, &exchange.request).await?;
        let mut begun = 0;
        for delta in &reading.deltas {
            match delta {
                Delta::ToolCallStarted { index, .. } => {
                    demand(*index == begun, || format!("call {index} begins when {begun} is due"))?;
                    begun += 1;
                }
                Delta::ToolCallArguments { index, .. } => {
                    demand(*index < begun, || format!("arguments of call {index} come before it begins"))?;
                }
                Delta::Text(_) | Delta::Finished { .. } => {}
            }
        }
    }
    Ok(())
}

async fn one_end<T: ModelTransport>(trial: &Trial<T>) -> Seen {
    for exchange in trial.exchanges() {
        let reading = Reading::whole(&trial.transport, &exchange.request).await?;
        let is_last = matches!(reading.deltas.last(), Some(Delta::Finished { .. }));
        demand(reading.ends() == 1 && is_last, || format!("the stream is {:?}", reading.deltas))?;
    }
    Ok(())
}

async fn usage<T: ModelTransport>(trial: &Trial<T>) -> Seen {
    for exchange in trial.exchanges() {
        let response = trial.transport.complete(&exchange.request).await.map_err(|error| error.to_string())?;
        let reading = Reading::whole(&trial.transport, &exchange.request).await?;
        let mut told = Usage::default();
        for delta in &reading.deltas {
            if let Delta::Finished { usage, .. } = delta {
                told.add(*usage);
            }
        }
        let is_so = [Some(response.usage), Some(told)] == [exchange.answer.usage(); 2];
        demand(is_so, || format!("whole, it costs {:?}, and as a stream {told:?}", response.usage))?;
    }
    Ok(())
}

async fn key<T: ModelTransport>(trial: &Trial<T>) -> Seen {
    for exchange in trial.exchanges() {
        let before = trial.service.requests().len();
        ask_both(trial, exchange).await?;
        for request in trial.service.requests().split_off(before) {
            let is_so = request.idempotency_key == exchange.request.idempotency_key;
            demand(is_so, || format!("the model was told the key {:?}", request.idempotency_key))?;
        }
    }
    Ok(())
}

async fn at_once<T: ModelTransport>(trial: &Trial<T>) -> Seen {
    let whole = trial.exchanges().map(async |exchange| {
        let response = trial.transport.complete(&exchange.request).await.map_err(|error| error.to_string())?;
        Ok::<_, String>((exchange, response.message))
    });
    let streamed = trial.exchanges().map(async |exchange| {
        Ok::<_, String>((exchange, Reading::whole(&trial.transport, &exchange.request).await?.message()?))
    });
    let (whole, streamed) = join(join_all(whole), join_all(streamed)).await;
    for answered in whole.into_iter().chain(streamed) {
        let (exchange, message) = answered?;
        let is_so = message_of(exchange).is_some_and(|due| is_same(due, &message));
        demand(is_so, || format!("{:?} is answered with {message:?}", exchange.request.messages.last()))?;
    }
    Ok(())
}
