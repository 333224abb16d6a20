//! The only door to time, chance, identity and threads.
//!
//! Production code takes [`Env::system`]; a simulated world hands out its own. Nothing else in this crate reads a
//! clock, sleeps, draws a number, makes an identifier or starts a thread.

mod blocking;
mod clock;
mod environment;
mod ids;
mod rng;
mod sleep;
mod system;
mod waits;

pub use blocking::{Blocking, BlockingError, panic_message};
pub use clock::{Clock, Elapsed, Timeout};
pub use environment::Env;
pub use ids::{CountingIds, Ids};
pub use rng::{Rng, unit_from_bits};
pub use sleep::Sleep;
pub use waits::{Held, Resource, WaitGraph, WaitGuard, Waits};
pub(crate) use waits::{Party, Wanted};
