//! An operation is told of each wait that an event says.

use std::time::Duration;

use windtunnel_core::BoxError;
use windtunnel_core::event::{Event, EventKind, Sink};
use windtunnel_proptests::suites::Operation;

/// Tells the operation of each wait.
pub(super) struct Told(pub(super) Operation);

impl Sink for Told {
    fn record(&self, event: &Event) -> Result<(), BoxError> {
        if let EventKind::ToolRetry { delay_s, .. }
        | EventKind::ProgramRetry { delay_s, .. }
        | EventKind::ActivationRetry { delay_s, .. } = event.kind
        {
            self.0.announce(Duration::try_from_secs_f64(delay_s)?);
        }
        Ok(())
    }
}
