//! The fields of a case of kind `operations`, exactly as they are written.

mod case;
mod expect;

pub(super) use case::{WireAcknowledgment, WireCase, WireStep};
pub(super) use expect::{WireExpect, WireResult};
