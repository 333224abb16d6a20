//! One run, again.

use windtunnel_sim::Recipe;

use super::{InWorld, StateMachine, Step, WorldFailure};
use crate::worlds::subject::Subject;

/// Runs these steps of a machine as a recipe says, which a failure has printed.
///
/// # Errors
/// The failure, if a rule is broken or the run comes to no end.
pub fn repeat<M: StateMachine>(
    machine: M,
    recipe: &Recipe,
    steps: &[Step<M::Operation>],
) -> Result<(), Box<WorldFailure<M::Operation>>> {
    let subject = InWorld(machine);
    let played = subject.repeat(steps, recipe, false);
    match played.outcome {
        Ok(()) => Ok(()),
        Err(_) => Err(Box::new(WorldFailure::unrepeated(&subject, steps.to_vec(), recipe.clone(), played))),
    }
}

/// Runs a case file that holds one case, which a failure has printed, with the case's own seed (feature `case`).
///
/// # Errors
/// If it is no case, what it says does not hold, or the run comes to no end.
#[cfg(feature = "case")]
pub fn repeat_case(case: &str) -> Result<(), windtunnel_sim::WorldError> {
    super::case_text::run(case).and_then(|run| run.outcome)
}
