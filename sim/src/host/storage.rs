//! The disk of a host: what is done to it from outside, and by whom it is used.

use std::sync::Arc;

use super::machine::Host;
use super::process::Process;
use crate::disk::{Device, Disk, Faults, Flushes};

impl Process {
    /// The host's disk, as long as this life lasts. What is on it stays: after a crash all that was written, after a power
    /// cut what was synced, and of the rest what the world's seed says.
    pub fn disk(&self) -> Disk {
        let device = self.machine.device(&self.hosts.parts.streams);
        device.mount(Arc::clone(&self.life.is_frozen), self.hosts.parts.clock.clone(), self.emitter())
    }
}

impl Host {
    /// From now on syncs report success and make nothing durable, as with a controller whose cache lies. The first sync of a
    /// file after [`Host::heal_disk`] makes durable what those before it did not.
    pub fn lose_flushes(&self) {
        self.device().fault(|faults| faults.flushes = Flushes::Lost);
    }

    /// As [`Host::lose_flushes`], for the next sync alone.
    pub fn lose_next_flush(&self) {
        self.device().fault(|faults| faults.flushes = Flushes::NextLost);
    }

    /// At the next power cut that finds a write of two bytes or more that is not synced, only the first or the last bytes
    /// of the last such write survive. Without this a power cut tears writes only between sectors of 512 bytes.
    pub fn tear_write(&self) {
        self.device().fault(|faults| faults.is_tearing = true);
    }

    /// From now on the disk is full: what writes, creates or makes longer fails with
    /// [`StorageFull`](std::io::ErrorKind::StorageFull). What reads, renames, removes, makes shorter and syncs does not.
    pub fn fill_disk(&self) {
        self.device().fault(|faults| faults.is_full = true);
    }

    /// From now on whatever is asked of the disk fails, with an input/output error.
    pub fn fail_disk(&self) {
        self.device().fault(|faults| faults.is_failing = true);
    }

    /// Ends all that is wrong with the disk.
    pub fn heal_disk(&self) {
        if let Some(device) = self.machine.device.get() {
            device.fault(|faults| *faults = Faults::default());
        }
    }

    /// Ends one thing that is wrong with the disk.
    pub(crate) fn mend_disk(&self, mend: impl FnOnce(&mut Faults)) {
        self.device().fault(mend);
    }

    fn device(&self) -> &Device {
        self.machine.device(&self.hosts.parts.streams)
    }
}
