//! A disk as its host has it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use parking_lot::Mutex;
use rand_chacha::ChaCha8Rng;
use windtunnel_core::event::Emitter;

use super::fault::Faults;
use super::handle::Disk;
use super::volume::Volume;
use crate::world::WorldClock;

/// A disk, whatever life its host is in. Clones share it.
#[derive(Clone)]
pub(crate) struct Device {
    volume: Arc<Mutex<Volume>>,
}

impl Device {
    /// An empty disk. What power cuts leave is drawn from `generator`.
    pub(crate) fn new(generator: ChaCha8Rng) -> Self {
        Self { volume: Arc::new(Mutex::new(Volume::new(generator))) }
    }

    /// The disk for one life, until that is frozen.
    pub(crate) fn mount(&self, is_frozen: Arc<AtomicBool>, clock: WorldClock, emitter: Emitter) -> Disk {
        Disk { volume: Arc::clone(&self.volume), is_frozen, clock, emitter }
    }

    /// Changes what is wrong with it.
    pub(crate) fn fault(&self, change: impl FnOnce(&mut Faults)) {
        change(self.volume.lock().faults_mut());
    }

    /// Loses what was not durable, if that is what the seed says.
    pub(crate) fn power_cut(&self) {
        self.volume.lock().power_cut();
    }
}
