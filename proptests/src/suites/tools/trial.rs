//! One case, tried.

use proptest::strategy::Strategy;
use serde_json::Value;
use windtunnel_core::evaluator::{ProviderCall, ProviderError, ToolProvider};
use windtunnel_core::json::canonical;

use super::{ToolFeature, ToolProviderSubject, ToolService};
use crate::cases::{SessionCall, SessionEnding, SessionTool, ToolSession};
use crate::played::HandClock;
use crate::suites::driver::outcome;
use crate::suites::{Case, Point};

/// What was seen that should not be.
pub(super) type Seen = Result<(), String>;

/// What comes of a call.
pub(super) type Called = Result<Value, ProviderError>;

/// A provider, and the tools that it has.
pub(super) struct Trial<P> {
    pub(super) provider: P,
    pub(super) service: ToolService,
    session: ToolSession,
}

impl<P: ToolProvider> Trial<P> {
    pub(super) fn tools(&self) -> &[SessionTool] {
        &self.session.tools
    }

    /// The numbers of all calls.
    pub(super) fn numbers(&self) -> std::ops::Range<usize> {
        0..self.session.calls.len()
    }

    /// Those that come to what `is_it` says.
    pub(super) fn ending(&self, is_it: fn(&SessionEnding) -> bool) -> impl Iterator<Item = usize> {
        self.numbers().filter(move |number| is_it(&self.case(*number).ending))
    }

    pub(super) fn case(&self, number: usize) -> &SessionCall {
        &self.session.calls[number]
    }

    /// Makes a call of the session.
    pub(super) async fn call(&self, number: usize) -> Called {
        let Some((tool, arguments)) = self.session.call(number) else { return Ok(Value::Null) };
        self.call_with(&tool.name, arguments, number).await
    }

    /// Makes any call.
    pub(super) async fn call_with(&self, tool: &str, arguments: Value, number: usize) -> Called {
        self.provider.call(ProviderCall::new(tool, arguments, "evaluation-1", number as u64)).await
    }

    /// The tool and the arguments of a call of the session.
    pub(super) fn made(&self, number: usize) -> Option<(String, Value)> {
        self.session.call(number).map(|(tool, arguments)| (tool.name.clone(), arguments))
    }

    /// Whether a call came to the value that was due, with numbers that keep their identity.
    pub(super) fn is_due(&self, number: usize, called: &Called) -> bool {
        match (&self.case(number).ending, called) {
            (SessionEnding::Value(due), Ok(value)) => is_same(due, value),
            _ => false,
        }
    }
}

/// Whether two values are the same, with numbers that keep their identity.
pub(super) fn is_same(one: &Value, other: &Value) -> bool {
    canonical(one) == canonical(other)
}

impl Case for ToolSession {}

/// A point that is tried with sessions.
pub(super) fn drawn<S, G>(
    id: &'static str,
    demand: &'static str,
    sessions: fn() -> G,
    check: impl AsyncFn(&Trial<S::Provider>) -> Seen + Send + Sync + 'static,
) -> Point<S>
where
    S: ToolProviderSubject,
    G: Strategy<Value = ToolSession> + 'static,
{
    let check = move |subject: &S, session: &ToolSession| {
        let (clock, session) = (HandClock::new(), session.clone());
        let service = ToolService::new(session.clone());
        let trial = Trial { provider: subject.provider(service.clone(), clock.env()), service, session };
        outcome(id, check(&trial), |future| subject.drive(&clock, future))
    };
    Point::property(id, demand, move |_| sessions(), check)
}

/// Not for those that lack the feature.
pub(super) fn needs<S: ToolProviderSubject>(feature: ToolFeature, point: Point<S>) -> Point<S> {
    point.unless(move |subject| (!subject.features().contains(&feature)).then(|| feature.name().to_owned()))
}

/// Nothing, if it is as it should be.
pub(super) fn demand(holds: bool, seen: impl FnOnce() -> String) -> Seen {
    if holds { Ok(()) } else { Err(seen()) }
}
