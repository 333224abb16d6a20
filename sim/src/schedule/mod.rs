//! Which of the tasks that can go on does: drawn from the world's seed.

mod dropping;
mod order;
mod ready;
mod task;
mod tasks;

pub(crate) use dropping::drop_quietly;
pub use order::Schedule;
pub(crate) use ready::Owner;
pub(crate) use task::Label;
pub use task::{Task, TaskError};
pub(crate) use tasks::{Next, Tasks};
