//! What nobody waits for any more.

use futures_util::StreamExt;
use windtunnel_core::model::ModelTransport;

use super::ModelTransportSubject;
use super::reading::Reading;
use super::responses::{is_same, message_of};
use super::trial::{Seen, Trial, demand, drawn};
use crate::strategies::model_responses;
use crate::suites::Point;
use crate::suites::turns::dropped_after;

/// A future is dropped after 0 turns, 1, and so on.
const TURNS_MAX: u8 = 5;

pub(super) fn points<S: ModelTransportSubject>() -> Vec<Point<S>> {
    vec![
        drawn("dropped_call", "a call that is dropped leaves the transport usable", model_responses, dropped_call),
        drawn(
            "dropped_stream",
            "a stream that is dropped leaves the transport usable",
            model_responses,
            dropped_stream,
        ),
    ]
}

async fn dropped_call<T: ModelTransport>(trial: &Trial<T>) -> Seen {
    for exchange in trial.exchanges() {
        for turns in 0..=TURNS_MAX {
            drop(dropped_after(turns, trial.transport.complete(&exchange.request)).await);
            drop(dropped_after(turns, trial.transport.stream(&exchange.request)).await);
        }
        usable(trial).await.map_err(|seen| format!("calls were dropped, and now {seen}"))?;
    }
    Ok(())
}

async fn dropped_stream<T: ModelTransport>(trial: &Trial<T>) -> Seen {
    for exchange in trial.exchanges() {
        for items in 0..=usize::from(TURNS_MAX) {
            let stream = trial.transport.stream(&exchange.request).await;
            let stream = stream.map_err(|error| format!("the stream does not begin: {error}"))?;
            let _read: Vec<_> = stream.take(items).collect().await;
            let mut stream = trial.transport.stream(&exchange.request).await.map_err(|error| error.to_string())?;
            // Also in the middle of a piece.
            let _piece = dropped_after(1, stream.next()).await;
        }
        usable(trial).await.map_err(|seen| format!("streams were dropped, and now {seen}"))?;
    }
    Ok(())
}

/// Everything is answered as ever.
async fn usable<T: ModelTransport>(trial: &Trial<T>) -> Seen {
    for exchange in trial.exchanges() {
        let response = trial.transport.complete(&exchange.request).await.map_err(|error| error.to_string())?;
        let message = Reading::whole(&trial.transport, &exchange.request).await?.message()?;
        for message in [response.message, message] {
            let is_so = message_of(exchange).is_some_and(|due| is_same(due, &message));
            demand(is_so, || format!("{:?} is answered with {message:?}", exchange.request.messages.last()))?;
        }
    }
    Ok(())
}
