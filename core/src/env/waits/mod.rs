//! Who waits for what, other than time: said to a simulated world, for when it comes to no end.
//!
//! [`Waits`] is the place where it is said; production has none. [`WaitGraph`] is what was found there, and finds the
//! cycles. [`Resource`] is what only some can hold at once.

mod graph;
mod registry;
mod resource;

pub use graph::WaitGraph;
pub(crate) use registry::{Party, Wanted};
pub use registry::{WaitGuard, Waits};
pub use resource::{Held, Resource};
