//! Ctrl-C.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether somebody pressed Ctrl-C. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupt {
    pressed: Arc<AtomicBool>,
}

impl Interrupt {
    /// Takes Ctrl-C over: from now on it no longer ends the process by itself.
    pub(crate) fn install() -> Result<Self, ctrlc::Error> {
        let interrupt = Self::default();
        let pressed = Arc::clone(&interrupt.pressed);
        ctrlc::set_handler(move || pressed.store(true, Ordering::Relaxed))?;
        Ok(interrupt)
    }

    /// Whether it was pressed.
    pub(crate) fn is_pressed(&self) -> bool {
        self.pressed.load(Ordering::Relaxed)
    }
}
