//! One case, tried.

use proptest::strategy::Strategy;

use super::{ModelFeature, ModelService, ModelTransportSubject};
use crate::cases::{ModelExchangeCase, ModelTraffic};
use crate::played::HandClock;
use crate::suites::driver::outcome;
use crate::suites::{Case, Point};

/// What was seen that should not be.
pub(super) type Seen = Result<(), String>;

/// A transport, and the model that it leads to.
pub(super) struct Trial<T> {
    pub(super) transport: T,
    pub(super) service: ModelService,
    pub(super) traffic: ModelTraffic,
}

impl<T> Trial<T> {
    pub(super) fn exchanges(&self) -> impl Iterator<Item = &ModelExchangeCase> {
        self.traffic.exchanges.iter()
    }
}

impl Case for ModelTraffic {}

/// A point that is tried with traffic.
pub(super) fn drawn<S, G>(
    id: &'static str,
    demand: &'static str,
    traffic: fn() -> G,
    check: impl AsyncFn(&Trial<S::Transport>) -> Seen + Send + Sync + 'static,
) -> Point<S>
where
    S: ModelTransportSubject,
    G: Strategy<Value = ModelTraffic> + 'static,
{
    let check = move |subject: &S, traffic: &ModelTraffic| {
        let (clock, traffic) = (HandClock::new(), traffic.clone());
        let service = ModelService::new(traffic.clone());
        let trial = Trial { transport: subject.transport(service.clone(), clock.env()), service, traffic };
        outcome(id, check(&trial), |future| subject.drive(&clock, future))
    };
    Point::property(id, demand, move |_| traffic(), check)
}

/// Not for those that lack the feature.
pub(super) fn needs<S: ModelTransportSubject>(feature: ModelFeature, point: Point<S>) -> Point<S> {
    point.unless(move |subject| (!subject.features().contains(&feature)).then(|| feature.name().to_owned()))
}

/// Nothing, if it is as it should be.
pub(super) fn demand(holds: bool, seen: impl FnOnce() -> String) -> Seen {
    if holds { Ok(()) } else { Err(seen()) }
}
