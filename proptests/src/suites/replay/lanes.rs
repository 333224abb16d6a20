//! Calls at once.

use std::collections::BTreeSet;

use futures_util::future::join_all;

use super::trial::{Seen, Trial, drawn, is_same};
use super::{ReplayFeature, ReplaySchedule, ReplaySubject};
use crate::cases::RecordedCall;
use crate::suites::Point;
use crate::suites::turns::pauses;

pub(super) fn points<S: ReplaySubject>() -> Vec<Point<S>> {
    let features = &[ReplayFeature::Lanes];
    vec![
        drawn("lanes", "lanes at once each get their own answers, in whatever order they come", features, None, lanes),
        drawn("lanes_recorded", "lanes that are recorded at once replay one after another", features, None, recorded),
    ]
}

/// The calls of each lane, with their places.
fn by_lane<'t, S: ReplaySubject>(trial: &'t Trial<'_, S>) -> Vec<Vec<(usize, &'t RecordedCall)>> {
    let lanes: BTreeSet<_> = trial.calls().map(|recorded| recorded.call.lane).collect();
    let of = |lane: u8| trial.calls().enumerate().filter(move |(_, recorded)| recorded.call.lane == lane).collect();
    lanes.into_iter().map(of).collect()
}

async fn lanes<S: ReplaySubject>(trial: &Trial<'_, S>, schedule: &ReplaySchedule) -> Seen {
    let player = trial.player(&trial.recording().await?)?;
    let player = &player;
    let lanes = by_lane(trial).into_iter().enumerate().map(async |(number, calls)| {
        for (place, recorded) in calls {
            // In turns that have nothing to do with the recording.
            let turns = (number + place + schedule.asks.len()) % 4;
            pauses(u8::try_from(turns).unwrap_or_default()).await;
            trial.expect(player, &recorded.call, Some(place)).await?;
        }
        Ok(())
    });
    join_all(lanes).await.into_iter().collect()
}

async fn recorded<S: ReplaySubject>(trial: &Trial<'_, S>, _: &ReplaySchedule) -> Seen {
    let recorder = trial.recorder();
    let shared = &recorder;
    let lanes = by_lane(trial).into_iter().map(async |calls| {
        for (_, recorded) in calls {
            let answer = trial.subject.record(shared, &recorded.call).await;
            if !is_same(&answer, &recorded.answer) {
                return Err(format!("while lanes are recorded at once, {} comes to {answer:?}", recorded.call));
            }
        }
        Ok(())
    });
    join_all(lanes).await.into_iter().collect::<Seen>()?;
    let player = trial.player(&trial.finish(recorder)?)?;
    for calls in by_lane(trial).into_iter().rev() {
        for (place, recorded) in calls {
            trial.expect(&player, &recorded.call, Some(place)).await?;
        }
    }
    let _rest = trial.subject.rest(player);
    Ok(())
}
