//! A world for one process: one thread, one paused tokio runtime, and time that jumps to the next event.

mod clock;
mod drive;
mod gate;
mod handle;
mod run;
mod streams;
mod timers;

pub use gate::Reaction;
pub use handle::WorldHandle;
pub use run::{Run, World, WorldError};
