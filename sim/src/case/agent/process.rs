//! One life of a worker: what it passes, and where it goes down.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use windtunnel_core::durable::Fence;
use windtunnel_core::event::{Event, EventKind};

use super::crashes::{Crash, CrashPoint, Fall, Place};
use super::scene::Scene;
use crate::Reaction;

/// The stream that crashes are drawn from.
const STREAM: &str = "case/crash";

/// A process: its worker, its executor and all that they hold in memory. Clones are the same one.
#[derive(Clone)]
pub(super) struct Process {
    pub(super) scene: Arc<Scene>,
    /// Which worker, from 1.
    worker: u64,
    is_down: Arc<AtomicBool>,
}

impl Process {
    pub(super) fn new(scene: &Arc<Scene>, worker: u64) -> Self {
        Self { scene: Arc::clone(scene), worker, is_down: Arc::default() }
    }

    pub(super) fn is_down(&self) -> bool {
        self.is_down.load(Ordering::Relaxed)
    }

    /// Passes a point. It never comes back if the process goes down there, or is down.
    pub(super) async fn pass(&self, at: CrashPoint, place: &Place) {
        if self.falls(at, place) {
            std::future::pending::<()>().await;
        }
    }

    fn falls(&self, at: CrashPoint, place: &Place) -> bool {
        // What is under way beside the crash comes no further than here.
        if self.is_down() {
            return true;
        }
        let (env, log) = (&self.scene.env, &self.scene.log);
        let Some(fall) = log.crashes.lock().pass(at, place, || env.unit(STREAM)) else { return false };
        log.crashed.lock().push(Crash {
            at,
            activation: place.activation,
            operation: place.operation.clone(),
            worker: self.worker,
            time: env.now(),
            is_drawn: fall == Fall::Drawn,
        });
        self.is_down.store(true, Ordering::Relaxed);
        true
    }

    /// What the world does at an event of this process.
    pub(super) fn react(&self, event: &Event) -> Reaction {
        if self.is_down() {
            return Reaction::Freeze;
        }
        match &event.kind {
            EventKind::ActivationStarted { .. } => {
                let _placed = self.scene.activation(event.call_id.as_deref().unwrap_or_default());
            }
            EventKind::ToolPending { approval_id, .. } => {
                self.scene.log.reviews.lock().pending(approval_id, event.at);
                self.scene.changed.raise();
            }
            EventKind::OperationStarted { operation, attempt, .. } => {
                let activation_id = event.parent_id.clone().unwrap_or_default();
                let activation = self.scene.activation(&activation_id);
                let place = Place { activation, operation: Some(Arc::clone(operation)) };
                let fence = Fence { workflow_id: Arc::clone(&event.run_id), activation_id, attempt: *attempt };
                self.scene.places.lock().insert(fence.idempotency_key(operation), place.clone());
                if self.falls(CrashPoint::BeforeCall, &place) {
                    return Reaction::Freeze;
                }
                self.scene.log.operations.lock().entry(activation).or_default().executed += 1;
            }
            EventKind::OperationReplayed { .. } => {
                let activation = self.scene.activation(event.parent_id.as_deref().unwrap_or_default());
                self.scene.log.operations.lock().entry(activation).or_default().replayed += 1;
            }
            _ => {}
        }
        Reaction::Continue
    }

    /// The operation that carries this idempotency key.
    pub(super) fn place_of(&self, idempotency_key: &str) -> Place {
        let place = self.scene.places.lock().get(idempotency_key).cloned();
        place.unwrap_or(Place { activation: 0, operation: None })
    }
}

impl fmt::Debug for Process {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Process").field("worker", &self.worker).field("is_down", &self.is_down()).finish()
    }
}
