//! A state machine in its world.

use std::sync::Arc;

use parking_lot::Mutex;
use proptest::prelude::*;
use proptest::strategy::BoxedStrategy;
use serde_json::Value;
use windtunnel_core::event::{Emitter, EventKind, Subject as About};
use windtunnel_sim::{Recipe, World, WorldError, WorldHandle};

use super::rust_text::duration_as_rust;
use super::subject::{Played, Subject};
use super::{StateMachine, Step};
use crate::Violation;

/// A state machine, run in its world.
#[derive(Debug)]
pub struct InWorld<M>(pub(super) M);

impl<M: StateMachine> InWorld<M> {
    fn play(&self, world: &World, steps: &[Step<M::Operation>]) -> Played {
        let (machine, broken) = (&self.0, &Mutex::new(None));
        let run = world.run(|world| async move {
            if let Err(violation) = walk(machine, &world, steps).await {
                world.assertions().always(violation.rule, false);
                *broken.lock() = Some(violation);
            }
        });
        let violation = broken.lock().take();
        let digest = run.digest();
        let (trace, faults, choices) = (run.trace, run.faults, run.choices);
        Played { outcome: run.outcome, violation, trace, faults, choices, digest }
    }
}

/// All steps, one after another, until a rule is broken.
async fn walk<M: StateMachine>(
    machine: &M,
    world: &WorldHandle,
    steps: &[Step<M::Operation>],
) -> Result<(), Violation> {
    let marks = Emitter::new(world.env(), vec![Arc::new(world.trace())]);
    let about = About { run_id: "steps".into(), call_id: None, parent_id: None };
    let mut model = machine.model();
    let mut system = machine.set_up(world).await;
    for step in steps {
        match step {
            Step::Wait(duration) => world.env().sleep(*duration).await,
            Step::Do(operation) if !machine.is_possible(&model, operation) => continue,
            Step::Do(operation) => {
                marks.emit(&about, || EventKind::Mark { mark: format!("{operation:?}").into() }).await;
                machine.apply(&mut system, &mut model, operation).await?;
            }
        }
        machine.check(&system, &model)?;
    }
    machine.settle(&mut system, &mut model).await?;
    machine.check(&system, &model)
}

impl<M: StateMachine> Subject for InWorld<M> {
    type Operation = M::Operation;

    fn steps(&self) -> BoxedStrategy<Step<M::Operation>> {
        prop_oneof![
            4 => self.0.operations().prop_map(Step::Do),
            1 => self.0.waits().prop_map(Step::Wait),
        ]
        .boxed()
    }

    fn draw(&self, steps: &[Step<M::Operation>], seed: u64) -> Played {
        self.play(&self.0.world(seed).random_faults(self.0.faults()), steps)
    }

    fn repeat(&self, steps: &[Step<M::Operation>], recipe: &Recipe, keeps_choices: bool) -> Played {
        let world = recipe.world(|seed| self.0.world(seed));
        self.play(&if keeps_choices { world.keep_choices() } else { world }, steps)
    }

    fn rust_body(&self, steps: &[Step<M::Operation>], recipe: &Recipe) -> String {
        let steps: String = steps
            .iter()
            .map(|step| match step {
                Step::Do(operation) => format!("        Step::Do({}),\n", self.0.operation_as_rust(operation)),
                Step::Wait(duration) => format!("        Step::Wait({}),\n", duration_as_rust(*duration)),
            })
            .collect();
        let (machine, recipe) = (self.0.as_rust(), recipe.to_json());
        format!(
            "    use windtunnel_proptests::worlds::{{Recipe, Step, repeat}};\n\n    let recipe = \
             Recipe::from_json(r##\"{recipe}\"##).unwrap();\n    let steps = [\n{steps}    ];\n    repeat({machine}, \
             &recipe, &steps).unwrap();\n"
        )
    }

    #[cfg(feature = "case")]
    fn case_file(&self, steps: &[Step<M::Operation>], recipe: &Recipe, error: &WorldError) -> Option<Value> {
        let case = super::case_text::with_recipe(self.0.case_file(steps)?, recipe);
        super::case_text::fails_like(&case, error).then_some(case)
    }

    #[cfg(not(feature = "case"))]
    fn case_file(&self, _steps: &[Step<M::Operation>], _recipe: &Recipe, _error: &WorldError) -> Option<Value> {
        None
    }
}
