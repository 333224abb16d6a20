//! Cases acted out on Windtunnel's executor: tools and reviewers that do what a case says.

mod reviewer;
mod tool;

pub use reviewer::PlayedReviewer;
pub use tool::{CAUSE, PlayedTool};
