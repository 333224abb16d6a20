//! What comes again.

use super::trial::{Seen, Trial, demand, drawn, is_same};
use super::{ReplayFeature, ReplaySchedule, ReplaySubject};
use crate::cases::{RecordedCall, ReplayAnswer, ReplayAsk, ReplayFailure};
use crate::suites::Point;
use crate::suites::turns::dropped_after;

pub(super) fn points<S: ReplaySubject>() -> Vec<Point<S>> {
    vec![
        drawn("transparent", "a caller that is recorded gets what the live side answers", &[], None, transparent),
        drawn("identity", "a recording replays as it was recorded", &[], None, identity),
        drawn("again", "a recording can be replayed again", &[], None, again),
        drawn("dropped_call", "a call that is dropped before its answer is not recorded", &[], None, dropped),
        drawn(
            "failures",
            "an error comes again as it was, and says whether it may pass",
            &[ReplayFeature::Failures],
            None,
            failures,
        ),
        drawn(
            "streams",
            "a stream comes again in the same pieces, and breaks there",
            &[ReplayFeature::Streams],
            None,
            streams,
        ),
    ]
}

async fn transparent<S: ReplaySubject>(trial: &Trial<'_, S>, _: &ReplaySchedule) -> Seen {
    let recorder = trial.recorder();
    for (place, recorded) in trial.calls().enumerate() {
        let answer = trial.subject.record(&recorder, &recorded.call).await;
        demand(is_same(&answer, &recorded.answer), || {
            format!("while it is recorded, {} comes to {answer:?}", recorded.call)
        })?;
        let asked = trial.live.asked();
        demand(asked == place + 1, || format!("of {} calls the live side was asked {asked}", place + 1))?;
    }
    trial.finish(recorder).map(drop)
}

async fn identity<S: ReplaySubject>(trial: &Trial<'_, S>, _: &ReplaySchedule) -> Seen {
    let recording = trial.recording().await?;
    replays(trial, &recording, |_| true).await
}

async fn again<S: ReplaySubject>(trial: &Trial<'_, S>, _: &ReplaySchedule) -> Seen {
    let recording = trial.recording().await?;
    replays(trial, &recording, |_| true).await?;
    replays(trial, &recording, |_| true).await.map_err(|seen| format!("the second time, {seen}"))
}

async fn dropped<S: ReplaySubject>(trial: &Trial<'_, S>, _: &ReplaySchedule) -> Seen {
    let recorder = trial.recorder();
    for (place, recorded) in trial.calls().enumerate() {
        let Some(call) = trial.session.call(ReplayAsk::Unknown(place)) else { continue };
        let turns = if place % 2 == 0 { 1 } else { 2 };
        drop(dropped_after(turns, trial.subject.record(&recorder, &call)).await);
        let _answer = trial.subject.record(&recorder, &recorded.call).await;
    }
    let recording = trial.finish(recorder)?;
    replays(trial, &recording, |_| true).await.map_err(|seen| format!("calls were dropped, and {seen}"))
}

async fn failures<S: ReplaySubject>(trial: &Trial<'_, S>, _: &ReplaySchedule) -> Seen {
    let recording = trial.recording().await?;
    replays(trial, &recording, |recorded| failure(&recorded.answer).is_some()).await
}

async fn streams<S: ReplaySubject>(trial: &Trial<'_, S>, _: &ReplaySchedule) -> Seen {
    let recording = trial.recording().await?;
    replays(trial, &recording, |recorded| recorded.call.is_streamed).await
}

fn failure(answer: &ReplayAnswer) -> Option<&ReplayFailure> {
    match answer {
        ReplayAnswer::Failure(failure) | ReplayAnswer::Stream { failure: Some(failure), .. } => Some(failure),
        ReplayAnswer::Value(_) | ReplayAnswer::Stream { failure: None, .. } => None,
    }
}

/// Replays all calls in their order, and looks at the answers of some.
async fn replays<S: ReplaySubject>(
    trial: &Trial<'_, S>,
    recording: &S::Recording,
    is_about: fn(&RecordedCall) -> bool,
) -> Seen {
    let player = trial.player(recording)?;
    for (place, recorded) in trial.calls().enumerate() {
        let came = trial.expect(&player, &recorded.call, Some(place)).await;
        if is_about(recorded) {
            came?;
        }
    }
    let _rest = trial.subject.rest(player);
    Ok(())
}
