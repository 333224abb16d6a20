//! Points about the calls through one limiter.

use proptest::strategy::Strategy;

use crate::Violation;
use crate::suites::limit::subject::has;
use crate::suites::{LimitFeature, LimitSubject, LimitTrial, PlayedLimit, Point};

/// What should have been; nothing, if it was so.
pub(super) type Seen = Result<(), String>;

/// Nothing if `holds`, else what should have been.
pub(super) fn demand(holds: bool, should: impl FnOnce() -> String) -> Seen {
    if holds { Ok(()) } else { Err(should()) }
}

/// A point whose trials are drawn, about subjects that have the features.
pub(super) fn drawn<S: LimitSubject, G: Strategy<Value = LimitTrial> + 'static>(
    id: &'static str,
    text: &'static str,
    features: &'static [LimitFeature],
    trials: fn() -> G,
    check: fn(&LimitTrial, &PlayedLimit) -> Seen,
) -> Point<S> {
    let point = Point::property(
        id,
        text,
        move |_: &S| trials(),
        move |subject: &S, trial: &LimitTrial| {
            let played = trial.play(subject);
            let seen = match played.trouble {
                Some(_) => Err("it should have come to its end".to_owned()),
                None => check(trial, &played),
            };
            seen.map_err(|should| Violation::new(id, format!("{should}, but there was {played}")))
        },
    );
    needing(point, features)
}

/// A point about subjects that have the features.
pub(super) fn needing<S: LimitSubject>(point: Point<S>, features: &'static [LimitFeature]) -> Point<S> {
    point.unless(|subject| {
        let lacking = features.iter().find(|feature| !has(subject, **feature));
        lacking.map(|feature| feature.name().to_owned())
    })
}
