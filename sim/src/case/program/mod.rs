//! Cases of kind `program`: a program, evaluated with scripted tools under limits and a policy.

mod answers;
mod bounds;
mod build;
mod definition;
mod expectation;
mod faulty;
mod functions;
mod offence;
mod outcome;
mod play;
mod provider;
mod tools;
mod wire;

pub(super) use build::build;
pub use offence::ProgramOffence;
pub use outcome::ProgramOutcome;
pub use tools::Tools;
