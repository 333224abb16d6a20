//! Ctrl-C, and the other signals that ask a process to end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

/// Whether somebody pressed Ctrl-C, or asked the process to end by another signal. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupt {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    is_pressed: AtomicBool,
    pressed: Notify,
}

impl Interrupt {
    /// Takes the signals over: from now on they no longer end the process by themselves.
    pub(crate) fn install() -> Result<Self, ctrlc::Error> {
        let interrupt = Self::default();
        let shared = Arc::clone(&interrupt.shared);
        ctrlc::set_handler(move || {
            shared.is_pressed.store(true, Ordering::Relaxed);
            shared.pressed.notify_one();
        })?;
        Ok(interrupt)
    }

    /// Whether it was pressed.
    pub(crate) fn is_pressed(&self) -> bool {
        self.shared.is_pressed.load(Ordering::Relaxed)
    }

    /// Waits until it is pressed.
    pub(crate) async fn pressed(&self) {
        self.shared.pressed.notified().await;
    }
}
