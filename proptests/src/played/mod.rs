//! Cases acted out on Windtunnel's executor: tools and reviewers that do what a case says.

mod provider;
mod reviewer;
mod tool;

pub use provider::{ObservedAttempt, PlayedProvider};
pub use reviewer::PlayedReviewer;
pub use tool::{CAUSE, PlayedTool};
