//! Case files of which the operations are the parts.

use std::fmt;

use proptest::strategy::{BoxedStrategy, Strategy};
use serde_json::Value;
use windtunnel_sim::{Recipe, WorldError};

use super::Step;
use super::case_text::{run, with_recipe};
use super::subject::{Played, Subject};

/// A world that case files say: its operations are parts of the file, such as the calls that a model makes. What must hold is
/// in the file too, in `always` and `expect`, so that the file alone fails as the run did.
pub trait CaseWorld: fmt::Debug + Sync {
    /// A part of the file.
    type Operation: Clone + fmt::Debug + Send + Sync + 'static;

    /// Any part.
    fn operations(&self) -> BoxedStrategy<Self::Operation>;

    /// The file of these parts, without a seed. Its `random_faults` say what goes wrong; in a failure they are the plan of
    /// those that came.
    fn case_file(&self, operations: &[&Self::Operation]) -> Value;
}

/// Case files of a world, each run by itself.
#[derive(Debug)]
pub struct InCase<W>(pub(super) W);

impl<W: CaseWorld> InCase<W> {
    fn file(&self, steps: &[Step<W::Operation>]) -> Value {
        let operations: Vec<_> = steps.iter().filter_map(Step::operation).collect();
        self.0.case_file(&operations)
    }
}

fn play(case: &Value) -> Played {
    match run(&case.to_string()) {
        Ok(run) => {
            let digest = run.digest();
            let (trace, faults, choices) = (run.trace, run.faults, run.choices);
            Played { outcome: run.outcome, violation: None, trace, faults, choices, digest }
        }
        Err(error) => Played {
            outcome: Err(error),
            violation: None,
            trace: Vec::new(),
            faults: Vec::new(),
            choices: Vec::new(),
            digest: String::new(),
        },
    }
}

impl<W: CaseWorld> Subject for InCase<W> {
    type Operation = W::Operation;

    fn steps(&self) -> BoxedStrategy<Step<W::Operation>> {
        self.0.operations().prop_map(Step::Do).boxed()
    }

    fn draw(&self, steps: &[Step<W::Operation>], seed: u64) -> Played {
        let mut case = self.file(steps);
        if let Some(members) = case.as_object_mut() {
            members.insert("seed".to_owned(), seed.into());
        }
        play(&case)
    }

    fn repeat(&self, steps: &[Step<W::Operation>], recipe: &Recipe, _keeps_choices: bool) -> Played {
        play(&with_recipe(self.file(steps), recipe))
    }

    fn rust_body(&self, steps: &[Step<W::Operation>], recipe: &Recipe) -> String {
        let case = with_recipe(self.file(steps), recipe);
        format!("    windtunnel_proptests::worlds::repeat_case(r##\"{case:#}\"##).unwrap();\n")
    }

    fn case_file(&self, steps: &[Step<W::Operation>], recipe: &Recipe, _error: &WorldError) -> Option<Value> {
        Some(with_recipe(self.file(steps), recipe))
    }
}
