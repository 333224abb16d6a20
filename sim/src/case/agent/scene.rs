//! What survives the workers of a case: the store, the world outside, and what was seen.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use windtunnel_core::env::Env;

use super::approvals::{ReviewDelivery, Reviews};
use super::crashes::{Crash, CrashPlan, Place};
use super::effects::Ledger;
use super::model::OutsideModel;
use super::signal::Signal;
use super::tools::OutsideTool;
use crate::case::cassettes::Playing;
use crate::case::store::CaseStore;
use crate::fault::Faults;
use crate::script::Invocations;

/// What is known of a run so far. It is kept outside the world, and so survives one that comes to no end.
#[derive(Debug)]
pub(super) struct Log {
    pub(super) crashes: Mutex<CrashPlan>,
    pub(super) crashed: Mutex<Vec<Crash>>,
    pub(super) ledger: Mutex<Ledger>,
    pub(super) reviews: Mutex<Reviews>,
    pub(super) delivered: Mutex<Vec<ReviewDelivery>>,
    /// How many callables ran and how many requests were answered from the journal, by activation.
    pub(super) operations: Mutex<BTreeMap<u64, Operations>>,
    pub(super) invocations: Invocations,
    pub(super) store: Mutex<Option<CaseStore>>,
    pub(super) model: Mutex<Option<Arc<OutsideModel>>>,
    pub(super) playing: Mutex<Option<Playing>>,
}

/// What all attempts at an activation did.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Operations {
    pub(super) executed: u64,
    pub(super) replayed: u64,
}

/// The world around the workers.
pub(super) struct Scene {
    /// The world's own, which no crash stops.
    pub(super) env: Env,
    pub(super) log: Arc<Log>,
    pub(super) store: CaseStore,
    /// Where tools, models and journals take faults, if there may be any.
    pub(super) faults: Option<Faults>,
    pub(super) tools: Vec<Arc<OutsideTool>>,
    pub(super) model: Arc<OutsideModel>,
    /// Something happened that those who have nothing to do may wait for.
    pub(super) changed: Signal,
    /// How often workers said that they are alive.
    pub(super) signs_of_life: AtomicU64,
    /// The activations in the order in which they began.
    pub(super) activations: Mutex<Vec<Arc<str>>>,
    /// Where an idempotency key belongs.
    pub(super) places: Mutex<BTreeMap<Arc<str>, Place>>,
}

/// How often workers can say that they are alive: at the default lease, for eleven days of work.
pub(super) const SIGNS_OF_LIFE_MAX: u64 = 50_000;

impl Scene {
    /// A worker is alive. One that hangs would be for a year, and that takes long to play.
    pub(super) fn sign_of_life(&self) {
        if self.signs_of_life.fetch_add(1, Ordering::Relaxed) == SIGNS_OF_LIFE_MAX {
            self.changed.raise();
        }
    }

    /// Why nothing more is to be hoped for.
    pub(super) fn hangs(&self) -> Option<String> {
        let hangs = self.signs_of_life.load(Ordering::Relaxed) > SIGNS_OF_LIFE_MAX;
        hangs.then(|| {
            format!(
                "the workers extended their leases more than {SIGNS_OF_LIFE_MAX} times: something hangs without a timeout; \
                 give it one, or give the workers a longer lease_s"
            )
        })
    }

    /// The place of an activation among all, from 1.
    pub(super) fn activation(&self, activation_id: &str) -> u64 {
        let mut activations = self.activations.lock();
        let known = activations.iter().position(|known| &**known == activation_id);
        let index = known.unwrap_or_else(|| {
            activations.push(activation_id.into());
            activations.len() - 1
        });
        index as u64 + 1
    }
}
