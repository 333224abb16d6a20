//! Dropping what guests have written.

use std::panic::{AssertUnwindSafe, catch_unwind};

use windtunnel_core::env::panic_message;

/// Drops a value whose destructor may panic; two of them that unwind into each other would end the process. Gives the text of
/// the panic.
pub(crate) fn drop_quietly<T>(value: T) -> Option<String> {
    let dropped = catch_unwind(AssertUnwindSafe(|| drop(value)));
    dropped.err().map(|payload| panic_message(&*payload).to_owned())
}
