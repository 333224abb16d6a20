//! What a program comes to, and what it uses.

mod attempts;
mod end;
mod interpreter;
mod memo;
mod prediction;
mod version1;
mod version2;

pub use end::{BranchEnd, ProgramEnd, ProgramFailure};
pub use prediction::{PredictedCall, ProgramPrediction};
