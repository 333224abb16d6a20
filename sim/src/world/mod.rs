//! A world for one process: one thread, one paused tokio runtime, and time that jumps to the next event.

mod activity;
mod clock;
mod drive;
mod error;
mod gate;
mod handle;
mod inputs;
mod leaks;
mod run;
mod streams;
mod timers;
mod trigger;
mod waiting;
mod watch;

pub use activity::Activity;
pub(crate) use clock::{Time, WorldClock};
pub use error::WorldError;
pub use gate::Reaction;
pub(crate) use gate::WorldGate;
pub use handle::WorldHandle;
pub(crate) use handle::{HostParts, subject_of_world};
pub use leaks::Leaks;
pub use run::{Run, World};
pub(crate) use streams::{SharedStreams, Streams};
pub(crate) use timers::TimerKey;
pub use trigger::Trigger;
pub use waiting::Waiting;
