//! Points about one run alone.

use proptest::strategy::Strategy;

use crate::Violation;
use crate::suites::retry::subject::has;
use crate::suites::{Played, Point, RetryFeature, RetrySubject, RetryTrial, RunEnding};

/// What a played trial should have been; nothing, if it was so.
pub(super) type Seen = Result<(), String>;

/// Nothing if `holds`, else what should have been.
pub(super) fn demand(holds: bool, should: impl FnOnce() -> String) -> Seen {
    if holds { Ok(()) } else { Err(should()) }
}

/// A point about subjects that have the features.
pub(super) fn needing<S: RetrySubject>(point: Point<S>, features: &'static [RetryFeature]) -> Point<S> {
    point.unless(|subject| {
        let lacking = features.iter().find(|feature| !has(subject, **feature));
        lacking.map(|feature| feature.name().to_owned())
    })
}

/// A point about one run, whose trials are drawn.
pub(super) fn drawn<S: RetrySubject, G: Strategy<Value = RetryTrial> + 'static>(
    id: &'static str,
    text: &'static str,
    features: &'static [RetryFeature],
    trials: fn(&[RetryFeature]) -> G,
    check: fn(&RetryTrial, &Played) -> Seen,
) -> Point<S> {
    let point = Point::property(
        id,
        text,
        move |subject: &S| trials(&subject.features()),
        move |subject: &S, trial: &RetryTrial| judge(id, trial, &trial.play(subject), check),
    );
    needing(point, features)
}

/// A point about one run, whose trials are listed. A policy that is refused with a reason keeps it.
pub(super) fn listed<S: RetrySubject>(
    id: &'static str,
    text: &'static str,
    features: &'static [RetryFeature],
    trials: fn(&[RetryFeature]) -> Vec<RetryTrial>,
    check: fn(&RetryTrial, &Played) -> Seen,
) -> Point<S> {
    let point = Point::examples(
        id,
        text,
        move |subject: &S| trials(&subject.features()),
        move |subject: &S, trial: &RetryTrial| {
            let played = trial.play(subject);
            match played.ending {
                RunEnding::Refused(_) => Ok(()),
                _ => judge(id, trial, &played, check),
            }
        },
    );
    needing(point, features)
}

/// A subject that spins, panics or refuses keeps no point.
pub(super) fn judge(
    id: &'static str,
    trial: &RetryTrial,
    played: &Played,
    check: impl FnOnce(&RetryTrial, &Played) -> Seen,
) -> Result<(), Violation> {
    let seen = match &played.ending {
        RunEnding::Panicked(_) | RunEnding::Spinning | RunEnding::Refused(_) => Err("it should have run".to_owned()),
        _ => check(trial, played),
    };
    seen.map_err(|should| Violation::new(id, format!("{should}, but there were {played}")))
}
