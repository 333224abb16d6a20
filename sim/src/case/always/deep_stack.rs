//! A thread with room for what recurses: the parser and the evaluator of CEL do.

use std::io;
use std::panic::resume_unwind;

/// Enough, twice over and without optimisation, for the longest expression that is accepted: it was measured at 64 MiB.
/// Only what is used is taken from the system.
const STACK_BYTES: usize = 128 * 1024 * 1024;

/// Runs `work` on such a thread.
///
/// A panic passes through.
#[expect(clippy::disallowed_methods, reason = "the thread ends with this call and reads nothing of its environment")]
pub(super) fn on_deep_stack<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("windtunnel-cel".to_owned()).stack_size(STACK_BYTES);
        thread.spawn_scoped(scope, work)?.join().or_else(|payload| resume_unwind(payload))
    })
}
