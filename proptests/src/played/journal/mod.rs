//! Stores of journals put to the test, and durable workflows acted out.

mod check;
mod clock;
mod faulty_store;
mod workflow;

pub use check::{Exchange, check_journal_store};
pub use clock::HandClock;
pub use faulty_store::FaultyStore;
pub use workflow::{played_workflow, played_workflow_start};
