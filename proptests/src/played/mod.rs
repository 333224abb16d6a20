//! Cases acted out on Windtunnel's executor: tools and reviewers that do what a case says.

mod journal;
mod provider;
mod reviewer;
mod tool;

pub use journal::{Exchange, FaultyStore, HandClock, check_journal_store, played_workflow, played_workflow_start};
pub use provider::{ObservedAttempt, PlayedProvider};
pub use reviewer::PlayedReviewer;
pub use tool::{CAUSE, PlayedTool};
