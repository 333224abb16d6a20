//! The requests that a server was asked, for a report.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use windtunnel_core::env::Env;
use windtunnel_core::event::{Event, EventKind};
use windtunnel_fixtures::matching::{Call, Unfinished};
use windtunnel_fixtures::server::{Interference, Overlay};
use windtunnel_sim::fault::FaultKind;
use windtunnel_sim::report::{Count, Fact, Report, ReportedCampaign, ReportedFailure, ReportedRun};

use super::overlay::{Faults, model};

/// How many events are kept: a server may run for days.
const EVENTS_MAX: usize = 100_000;

/// Notes each request and the fault that it meets, on the host that has the name of its service.
#[derive(Debug)]
pub(super) struct Watched {
    faults: Option<Arc<Faults>>,
    env: Env,
    began: Duration,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    events: Vec<Event>,
    requests: u64,
}

impl Watched {
    pub(super) fn new(faults: Option<Arc<Faults>>, env: Env) -> Self {
        Self { faults, began: env.now(), env, seen: Mutex::default() }
    }

    fn note(&self, service: &str, model: &str, fault: Option<FaultKind>) {
        let at = self.env.now().saturating_sub(self.began);
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.requests += 1;
        let request = EventKind::ModelRequest { model: model.into() };
        let fault = fault.map(|kind| EventKind::FaultDelivered { fault: kind.name() });
        for kind in [request].into_iter().chain(fault) {
            if seen.events.len() == EVENTS_MAX {
                return;
            }
            let (sequence, host) = (seen.events.len() as u64, Some(service.into()));
            seen.events.push(Event {
                sequence,
                at,
                host,
                run_id: "serve".into(),
                call_id: None,
                parent_id: None,
                kind,
            });
        }
    }

    /// What was asked, and what was missed or left.
    pub(super) fn report(&self, file: &str, finished: &Result<(), Unfinished>) -> Report {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let failure = finished.as_ref().err().map(|unfinished| unfinished.to_string());
        let run = ReportedRun {
            name: "all requests".to_owned(),
            failures: failure.map(|message| ReportedFailure { message, event: None }).into_iter().collect(),
            elapsed: self.env.now().saturating_sub(self.began),
            trace: seen.events.clone(),
            ..ReportedRun::default()
        };
        let (missed, left) = match finished {
            Ok(()) => (0, 0),
            Err(unfinished) => (unfinished.missed, unfinished.leftovers.len() as u64),
        };
        let delivered = self.faults.iter().flat_map(|faults| faults.served.delivered());
        let campaign = ReportedCampaign {
            name: "All requests".to_owned(),
            passed: finished.is_ok(),
            facts: vec![
                Fact::new("requests", seen.requests),
                Fact::new("missed", missed),
                Fact::new("entries left", left),
            ],
            faults: delivered.map(|(kind, count)| Count::new(kind.name(), count)).collect(),
            ..ReportedCampaign::default()
        };
        Report::new(file).with_run(run).with_campaign(campaign)
    }
}

impl Overlay for Watched {
    fn interference(&self, request: &Call<'_>) -> Option<Interference> {
        let met = self.faults.as_ref().and_then(|faults| faults.met(request));
        if let Call::Http { upstream, request } = request {
            self.note(upstream, &model(request), met.as_ref().map(|(kind, _)| *kind));
        }
        met?.1
    }
}
