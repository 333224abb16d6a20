//! A failing run of a case, as a case of its own that is as small as was found.

use std::io;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::cassettes::{Library, move_cassettes};
use super::definition::Case;
use super::error::LoadError;
use super::explore::Measure;
use super::lean::{Lean, lean};
use super::text::Format;
use crate::{Campaign, Failure, Recipe, World, WorldError};

/// A failing run of a case, made small.
#[derive(Debug)]
pub struct ShrunkCase {
    /// The case, with the faults, the seed and the order with which it fails, and without what is not needed for that.
    pub case: Value,
    /// What was left out of the file's lists because the failure does not need it: what the parts are called, such as `tools`,
    /// and how many.
    pub left_out: Vec<(&'static str, usize)>,
    /// How it fails, and what it took to find that.
    pub failure: Failure,
    library: Arc<Library>,
}

impl ShrunkCase {
    /// The case as a file of `folder` has it: its cassettes are named from there. They stay where they are.
    ///
    /// # Errors
    /// If one of the folders is not there any more.
    pub fn in_folder(&self, folder: impl AsRef<Path>) -> io::Result<Value> {
        let mut case = self.case.clone();
        if let Some(own) = self.library.folder() {
            move_cassettes(&mut case, own, folder.as_ref())?;
        }
        Ok(case)
    }

    /// Reads the text of the case as if it stood where the one stood that it was made of.
    ///
    /// # Errors
    /// As for [`Case::load`].
    pub fn read(&self, file: &str, format: Format, text: &str) -> Result<Vec<Case>, LoadError> {
        Case::parse_with(file, format, text, Arc::clone(&self.library))
    }
}

impl Case {
    /// Makes the failing run of a seed small: with as few of its faults as fail in the same way, in as plain an order. What
    /// was drawn becomes a plan. Tools, calls, steps and turns that it does not take are left out. Nothing, if the case does not fail with this seed, or only because no fault of its plan came.
    ///
    /// ```
    /// use windtunnel_sim::case::{Case, Format};
    ///
    /// let text = r#"{
    ///     "tools": [{"name": "pay", "retries": 1, "timeout_s": 5}],
    ///     "calls": [{"name": "pay"}],
    ///     "faults": [
    ///         {"when": {"event": "tool.body"}, "do": {"fault": "tool.lose_acknowledgment"}},
    ///         {"when": {"event": "tool.body", "nth": 2}, "do": {"fault": "tool.delay", "delay_s": 1}}
    ///     ],
    ///     "always": [{"name": "paid at most once", "that": "size(invocations) <= 1"}]
    /// }"#;
    /// let shrunk = Case::parse("pay.json", Format::Json, text)?[0].shrink(0).unwrap();
    /// assert_eq!(shrunk.case["faults"].as_array().map(Vec::len), Some(1));
    /// let again = &Case::parse("again.json", Format::Json, &shrunk.case.to_string())?[0];
    /// assert!(!again.judge(&again.run(0)).passed());
    /// # Ok::<(), windtunnel_sim::case::LoadError>(())
    /// ```
    pub fn shrink(&self, seed: u64) -> Option<ShrunkCase> {
        let campaign = Campaign::in_worlds(|seed| self.trouble.ordered(World::new(seed)));
        let run = self.failed(self.run(seed), Measure::All);
        // Of a plan that never comes there is nothing to leave out.
        if matches!(run.outcome, Err(WorldError::NoFaultDelivered { .. })) {
            return None;
        }
        let failure = campaign.shrink(run, self.trouble.heal_after, &|world| self.play(world, Measure::All))?;
        let Lean { case, left_out } = lean(self.reduced(failure.smallest(), &failure.error), &failure, &self.library);
        Some(ShrunkCase { case, left_out, failure, library: Arc::clone(&self.library) })
    }

    /// A case of its own for a run that a sweep found.
    pub fn with_faults_of(&self, failure: &Failure) -> Value {
        self.reduced(failure.smallest(), &failure.error)
    }

    /// Whether the case fails as that run did.
    pub fn fails_like(&self, failure: &Failure) -> bool {
        let again = self.failed(self.run(self.seed), Measure::All).outcome;
        again.is_err_and(|error| error.is_like(&failure.error))
    }

    /// The case with what a run follows from, and without what it does not fail by.
    fn reduced(&self, recipe: &Recipe, error: &WorldError) -> Value {
        let Value::Object(mut case) = self.source.clone() else { return Value::Null };
        case.insert("id".to_owned(), json!(self.id));
        case.insert("seed".to_owned(), json!(recipe.seed));
        case.shift_remove("random_faults");
        put(&mut case, "faults", (!recipe.faults.faults.is_empty()).then(|| json!(recipe.faults)));
        put(&mut case, "heal_after_s", recipe.heal_after_s.map(|heal_after_s| json!(heal_after_s)));
        let schedule = recipe.schedule.as_ref().or(self.trouble.schedule.as_ref());
        let schedule = schedule.filter(|_| self.kind.is_on_hosts());
        put(&mut case, "schedule", schedule.map(|schedule| json!(schedule)));
        match error {
            WorldError::AssertionFailed { assertion } if assertion.starts_with('$') => {
                case.shift_remove("always");
            }
            WorldError::AssertionFailed { assertion } => {
                case.shift_remove("expect");
                if let Some(Value::Array(always)) = case.get_mut("always") {
                    let label = |entry: &Value| entry.get("name").or(entry.get("that")).cloned();
                    always.retain(|entry| label(entry) == Some(json!(assertion)));
                }
            }
            _ => {
                case.shift_remove("expect");
            }
        }
        Value::Object(case)
    }
}

/// Sets a member, or takes it away.
fn put(case: &mut Map<String, Value>, name: &str, value: Option<Value>) {
    match value {
        Some(value) => {
            case.insert(name.to_owned(), value);
        }
        None => {
            case.shift_remove(name);
        }
    }
}
