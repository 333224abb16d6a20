//! The fields of a case of kind `operations`, exactly as they are written.

mod case;
mod expect;

pub(in crate::case) use case::WireAcknowledgment;
pub(super) use case::{WireCase, WireStep};
pub(super) use expect::{WireExpect, WireResult};
