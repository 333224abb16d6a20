//! Faults of models where no world runs: over recorded traffic that a server gives out.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use windtunnel_core::event::{Event, EventKind};

use super::random::Drawing;
use super::{Fault, FaultAction, FaultKind, FaultPlan, RandomFaults};
use crate::world::{Streams, subject_of_world};

/// Decides which requests to a model meet a fault, by a plan, by chance of a seed, or both. Each request is a `model.request`
/// event, on the host that has the name of the service; the same requests in the same order meet the same faults.
///
/// ```
/// use windtunnel_sim::fault::{FaultAction, FaultPlan, ServedFaults};
///
/// let plan = FaultPlan::from_json(r#"[{"when": {"event": "model.request", "nth": 2}, "do": {"fault": "model.overloaded"}}]"#)?;
/// let faults = ServedFaults::new(&plan, None, 7)?;
/// assert_eq!(faults.request("anthropic", "claude"), None);
/// assert_eq!(faults.request("anthropic", "claude"), Some(FaultAction::ModelOverloaded {}));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ServedFaults {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    planned: Vec<(Fault, u64)>,
    drawing: Option<Drawing>,
    /// Of several faults for one request, all but the first wait for the next ones.
    pending: VecDeque<Fault>,
    requests: u64,
    delivered: BTreeMap<FaultKind, u64>,
}

/// A fault that does not come over recorded traffic.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} does not come over recorded traffic, only {}", kind.name(), ServedFaults::KINDS.map(FaultKind::name).join(", "))]
pub struct NotServed {
    /// Its kind.
    pub kind: FaultKind,
}

impl ServedFaults {
    /// The kinds that come: those of models that need no answer of their own.
    pub const KINDS: [FaultKind; 8] = [
        FaultKind::ModelRateLimited,
        FaultKind::ModelServerError,
        FaultKind::ModelOverloaded,
        FaultKind::ModelDelay,
        FaultKind::ModelTimeout,
        FaultKind::ModelStalledStream,
        FaultKind::ModelTruncatedStream,
        FaultKind::ModelMalformedJson,
    ];

    /// Faults that are planned, and drawn from `seed`.
    ///
    /// # Errors
    /// [`NotServed`] for the first kind that is none of [`ServedFaults::KINDS`].
    pub fn new(plan: &FaultPlan, random: Option<&RandomFaults>, seed: u64) -> Result<Self, NotServed> {
        let planned = plan.faults.iter().map(|fault| fault.action.kind());
        let drawn = random.into_iter().flat_map(RandomFaults::kinds);
        if let Some(kind) = planned.chain(drawn).find(|kind| !Self::KINDS.contains(kind)) {
            return Err(NotServed { kind });
        }
        let planned = plan.faults.iter().map(|fault| (fault.clone(), 0)).collect();
        let drawing = random.map(|random| Drawing::new(random, Streams::new(seed).generator("served/faults")));
        let (pending, delivered) = (VecDeque::new(), BTreeMap::new());
        Ok(Self { state: Mutex::new(State { planned, drawing, pending, requests: 0, delivered }) })
    }

    /// The fault that the next request meets.
    pub fn request(&self, service: &str, model: &str) -> Option<FaultAction> {
        let mut state = self.state.lock();
        let event = state.event(service, model);
        let State { planned, drawing, pending, .. } = &mut *state;
        planned.retain_mut(|(fault, seen)| {
            let comes = fault.when.count(seen, &event);
            if comes {
                pending.push_back(fault.clone());
            }
            !comes
        });
        pending.extend(drawing.as_mut().and_then(|drawing| drawing.at(&event)));
        let action = pending.pop_front()?.action;
        *state.delivered.entry(action.kind()).or_default() += 1;
        Some(action)
    }

    /// How many faults of each kind came.
    pub fn delivered(&self) -> BTreeMap<FaultKind, u64> {
        self.state.lock().delivered.clone()
    }

    /// The planned faults that did not come.
    pub fn undelivered(&self) -> Vec<Fault> {
        let state = self.state.lock();
        state.planned.iter().map(|(fault, _)| fault).chain(&state.pending).cloned().collect()
    }
}

impl State {
    fn event(&mut self, service: &str, model: &str) -> Event {
        let subject = subject_of_world();
        let sequence = self.requests;
        self.requests += 1;
        Event {
            sequence,
            at: Duration::ZERO,
            host: Some(Arc::from(service)),
            run_id: subject.run_id,
            call_id: None,
            parent_id: None,
            kind: EventKind::ModelRequest { model: model.into() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn came(faults: &ServedFaults, services: &[&str]) -> Vec<Option<&'static str>> {
        let requests = services.iter().map(|service| faults.request(service, "m"));
        requests.map(|action| action.map(|action| action.kind().name())).collect()
    }

    #[test]
    fn planned_faults_come_at_their_requests_and_one_by_one() {
        let plan = FaultPlan::from_json(
            r#"[{"when": {"host": "b", "nth": 2}, "do": {"fault": "model.malformed_json"}},
                {"when": {"host": "b", "nth": 2}, "do": {"fault": "model.overloaded"}},
                {"when": {"nth": 9}, "do": {"fault": "model.server_error"}}]"#,
        );
        let faults = ServedFaults::new(&plan.unwrap(), None, 0).unwrap();
        let expected = [None, None, Some("model.malformed_json"), Some("model.overloaded"), None];
        assert_eq!(came(&faults, &["b", "a", "b", "a", "b"]), expected);
        assert_eq!(faults.delivered().into_values().collect::<Vec<_>>(), [1, 1]);
        assert_eq!(faults.undelivered()[0].action, FaultAction::ModelServerError {});
    }

    #[test]
    fn what_is_drawn_follows_from_the_seed() {
        let random = RandomFaults::of([FaultKind::ModelRateLimited, FaultKind::ModelDelay]).rate(0.3).faults_max(100);
        let drawn = |seed| {
            let faults = ServedFaults::new(&FaultPlan::default(), Some(&random), seed).unwrap();
            (0..40).map(|_| faults.request("a", "m")).collect::<Vec<_>>()
        };
        assert_eq!(drawn(1), drawn(1));
        assert_ne!(drawn(1), drawn(2));
        assert!(drawn(1).iter().any(Option::is_some) && drawn(1).iter().any(Option::is_none));
    }

    #[test]
    fn faults_that_only_a_world_has_are_refused() {
        let plan = FaultPlan::from_json(r#"[{"when": {}, "do": {"fault": "host.crash"}}]"#).unwrap();
        let refused = ServedFaults::new(&plan, None, 0).unwrap_err().to_string();
        assert!(
            refused.starts_with("host.crash does not come over recorded traffic, only model.rate_limited, "),
            "{refused}"
        );
    }
}
