//! Case files as JSON, with what a run of them follows from.

use serde_json::{Value, json};
use windtunnel_sim::case::{Case, Format};
use windtunnel_sim::{Recipe, Run, WorldError};

/// The case, with the seed and the faults of a recipe and none that are drawn.
pub(super) fn with_recipe(mut case: Value, recipe: &Recipe) -> Value {
    let Some(members) = case.as_object_mut() else { return case };
    members.insert("seed".to_owned(), json!(recipe.seed));
    members.shift_remove("random_faults");
    members.shift_remove("faults");
    if !recipe.faults.faults.is_empty() {
        members.insert("faults".to_owned(), json!(recipe.faults));
    }
    // Only cases on hosts have an order of tasks.
    if let Some(schedule) = recipe.schedule.as_ref().filter(|_| members.get("on_hosts") == Some(&json!(true))) {
        members.insert("schedule".to_owned(), json!(schedule));
    }
    case
}

/// Reads the case.
pub(super) fn read(case: &str) -> Result<Case, WorldError> {
    let failed = |problem: String| WorldError::Failed { problem };
    let mut cases = Case::parse("case.json", Format::Json, case).map_err(|error| failed(error.to_string()))?;
    cases.pop().ok_or_else(|| failed("there is no case".to_owned()))
}

/// Runs the case with its own seed.
pub(super) fn run(case: &str) -> Result<Run<()>, WorldError> {
    let case = read(case)?;
    Ok(case.as_world_run(case.run(case.seed())))
}

/// Whether the case fails in the same way.
pub(super) fn fails_like(case: &Value, error: &WorldError) -> bool {
    let outcome = run(&case.to_string()).and_then(|run| run.outcome);
    outcome.is_err_and(|other| other.is_like(error))
}
