//! What is given out, and what is left.

use super::trial::{Seen, Trial, demand, drawn};
use super::{ReplayFeature, ReplayRest, ReplaySchedule, ReplaySubject};
use crate::cases::{ReplayAsk, ReplayOrder};
use crate::models::ReplayModel;
use crate::suites::Point;

pub(super) fn points<S: ReplaySubject>() -> Vec<Point<S>> {
    let (strict, keyed) = (Some(ReplayOrder::Strict), Some(ReplayOrder::Keyed));
    vec![
        drawn("once", "each entry answers once", &[], None, once),
        drawn("miss", "a call that was not recorded is a miss, and uses nothing up", &[], None, miss),
        drawn("offline", "a replay never asks the live side", &[], None, offline),
        drawn(
            "strict_order",
            "in strict order a lane goes on as it was recorded",
            &[ReplayFeature::StrictOrder],
            strict,
            in_order,
        ),
        drawn(
            "keyed_order",
            "in free order each call finds its next answer",
            &[ReplayFeature::KeyedOrder],
            keyed,
            in_order,
        ),
        drawn(
            "leftovers",
            "at its end it tells what was left and what was missed",
            &[ReplayFeature::Leftovers],
            None,
            leftovers,
        ),
    ]
}

async fn once<S: ReplaySubject>(trial: &Trial<'_, S>, _: &ReplaySchedule) -> Seen {
    let player = trial.player(&trial.recording().await?)?;
    for recorded in trial.calls() {
        let _answer = trial.subject.replay(&player, &recorded.call).await;
    }
    for recorded in trial.calls() {
        trial.expect(&player, &recorded.call, None).await.map_err(|seen| format!("all was given out, and {seen}"))?;
    }
    let _rest = trial.subject.rest(player);
    Ok(())
}

async fn miss<S: ReplaySubject>(trial: &Trial<'_, S>, _: &ReplaySchedule) -> Seen {
    let player = trial.player(&trial.recording().await?)?;
    for (place, recorded) in trial.calls().enumerate() {
        for ask in [ReplayAsk::Changed(place), ReplayAsk::Unknown(place)] {
            let Some(call) = trial.session.call(ask) else { continue };
            trial.expect(&player, &call, None).await?;
        }
        trial.expect(&player, &recorded.call, Some(place)).await.map_err(|seen| format!("after misses, {seen}"))?;
    }
    let _rest = trial.subject.rest(player);
    Ok(())
}

async fn offline<S: ReplaySubject>(trial: &Trial<'_, S>, schedule: &ReplaySchedule) -> Seen {
    let recording = trial.recording().await?;
    let player = trial.player(&recording)?;
    let asked = trial.live.asked();
    let places = 0..trial.session.calls.len();
    let unknown = places.map(ReplayAsk::Unknown);
    for call in schedule.asks.iter().copied().chain(unknown).filter_map(|ask| trial.session.call(ask)) {
        let replayed = trial.subject.replay(&player, &call).await;
        demand(trial.live.asked() == asked, || format!("{call} asks the live side, and comes to {replayed:?}"))?;
    }
    let _rest = trial.subject.rest(player);
    Ok(())
}

/// Makes all calls of the schedule, each of which is to come to what the model says.
async fn asks<S: ReplaySubject>(
    trial: &Trial<'_, S>,
    player: &S::Player,
    schedule: &ReplaySchedule,
) -> (ReplayModel, Seen) {
    let mut model = ReplayModel::new(trial.setup.order, trial.session);
    let mut seen = Ok(());
    for call in schedule.asks.iter().filter_map(|ask| trial.session.call(*ask)) {
        let place = model.ask(&call);
        seen = seen.and(trial.expect(player, &call, place).await);
    }
    (model, seen)
}

async fn in_order<S: ReplaySubject>(trial: &Trial<'_, S>, schedule: &ReplaySchedule) -> Seen {
    let player = trial.player(&trial.recording().await?)?;
    let (_, seen) = asks(trial, &player, schedule).await;
    let _rest = trial.subject.rest(player);
    seen
}

async fn leftovers<S: ReplaySubject>(trial: &Trial<'_, S>, schedule: &ReplaySchedule) -> Seen {
    let player = trial.player(&trial.recording().await?)?;
    // What the calls come to is another point.
    let (model, _) = asks(trial, &player, schedule).await;
    let (rest, due) = (trial.subject.rest(player), ReplayRest { left: model.left(), missed: model.missed() });
    demand(rest == due, || format!("at the end it tells {rest:?}, and it is {due:?}"))
}
