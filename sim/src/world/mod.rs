//! A world for one process: one thread, one paused tokio runtime, and time that jumps to the next event.

mod clock;
mod drive;
mod gate;
mod handle;
mod inputs;
mod run;
mod streams;
mod timers;
mod trigger;
mod waiting;

pub(crate) use clock::{Time, WorldClock};
pub use gate::Reaction;
pub(crate) use gate::WorldGate;
pub use handle::WorldHandle;
pub(crate) use handle::{HostParts, subject_of_world};
pub use run::{Run, World, WorldError};
pub(crate) use streams::{SharedStreams, Streams};
pub(crate) use timers::TimerKey;
pub use trigger::Trigger;
pub use waiting::Waiting;
