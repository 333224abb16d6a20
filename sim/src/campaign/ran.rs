//! What is kept of a run.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::shrink::Signature;
use super::{CampaignReport, Failure, Recipe};
use crate::fault::{DeliveredFault, FaultPlan};
use crate::{Run, Tally, WorldError};

/// What is kept of a run.
pub(super) struct Ran {
    pub(super) outcome: Result<(), Box<Failed>>,
    events: usize,
    faults: Vec<DeliveredFault>,
    assertions: BTreeMap<Arc<str>, Tally>,
}

impl Ran {
    pub(super) fn of(run: Run<()>) -> Self {
        let (events, faults, assertions) = (run.trace.len(), run.faults.clone(), run.assertions.clone());
        Self { outcome: Failed::of(run).map(|_| ()), events, faults, assertions }
    }

    /// How many faults came.
    pub(super) fn faults(&self) -> usize {
        self.faults.len()
    }

    pub(super) fn add_to(&self, report: &mut CampaignReport) {
        report.add(self.events, &self.faults, &self.assertions);
    }
}

/// A run that failed.
pub(super) struct Failed {
    error: WorldError,
    run: Run<()>,
}

impl Failed {
    pub(super) fn of(mut run: Run<()>) -> Result<Run<()>, Box<Self>> {
        match std::mem::replace(&mut run.outcome, Ok(())) {
            Ok(()) => Ok(run),
            Err(error) => Err(Box::new(Self { error, run })),
        }
    }

    pub(super) fn seed(&self) -> u64 {
        self.run.seed
    }

    /// How many faults came.
    pub(super) fn faults(&self) -> usize {
        self.run.faults.len()
    }

    /// How little it tells: an end that is wrong says more than none.
    pub(super) fn rank(&self) -> u8 {
        match &self.error {
            WorldError::AssertionFailed { .. } | WorldError::AmbiguousAssertion { .. } => 0,
            WorldError::Panicked { .. } | WorldError::Failed { .. } => 1,
            WorldError::Stuck { .. } => 2,
            _ => 3,
        }
    }

    pub(super) fn signature(&self) -> Signature {
        Signature::of(&self.error)
    }

    /// What the run follows from, with all that it drew.
    pub(super) fn recipe(&self, base: Recipe) -> Recipe {
        let faults = FaultPlan::new(self.run.faults.iter().map(|delivered| delivered.fault.clone()));
        Recipe { faults, inputs: self.run.inputs.clone(), ..base }
    }

    pub(super) fn into_failure(self, recipe: Recipe) -> Failure {
        let Self { error, run } = self;
        Failure {
            recipe,
            error,
            trace: run.trace,
            faults: run.faults,
            minimal: None,
            point: None,
            is_repeated: false,
            report: None,
        }
    }
}
