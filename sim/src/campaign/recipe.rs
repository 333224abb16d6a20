//! What a run follows from.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::fault::{FaultPlan, FaultPlanError};
use crate::{Schedule, World};

/// What a run of a scenario follows from, beside the scenario itself: with it a failure is repeated, and made smaller.
///
/// ```
/// use windtunnel_sim::{Recipe, World};
///
/// let recipe = Recipe::from_json(r#"{"seed": 7, "inputs": {"amount": [3]}}"#)?;
/// let run = recipe.world(World::new).run(|world| async move { world.input("amount", 100) });
/// assert_eq!(run.outcome.unwrap(), 3);
/// # Ok::<(), windtunnel_sim::RecipeError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// The world's seed.
    pub seed: u64,
    /// What goes wrong.
    #[serde(default, skip_serializing_if = "is_without_faults")]
    pub faults: FaultPlan,
    /// What the scenario is given for [`WorldHandle::input`](crate::WorldHandle::input), by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub inputs: BTreeMap<String, Vec<u64>>,
    /// When the world heals, in seconds ([`World::heal_after`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heal_after_s: Option<f64>,
    /// How long the world lasts at the most, in seconds ([`World::time_limit`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_limit_s: Option<f64>,
    /// In which order tasks go on, if not in the world's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Schedule>,
}

fn is_without_faults(plan: &FaultPlan) -> bool {
    plan.faults.is_empty()
}

/// A time of the world; what is none is left out.
fn seconds(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds).ok()
}

/// A text that is no recipe.
#[derive(Debug, thiserror::Error)]
pub enum RecipeError {
    /// It is none.
    #[error("this is no recipe of a run: {0}")]
    Json(#[from] serde_json::Error),
    /// A time has no meaning.
    #[error("`{field}` of the recipe is {value}; it must be a number of at least 0")]
    Time {
        /// Which.
        field: &'static str,
        /// What it is.
        value: f64,
    },
    /// Its plan cannot be carried out.
    #[error(transparent)]
    Plan(#[from] FaultPlanError),
}

impl Recipe {
    /// A run of this seed, in which nothing goes wrong.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            faults: FaultPlan::default(),
            inputs: BTreeMap::new(),
            heal_after_s: None,
            time_limit_s: None,
            schedule: None,
        }
    }

    /// Reads a recipe.
    ///
    /// # Errors
    /// [`RecipeError`] with what is wrong.
    pub fn from_json(text: &str) -> Result<Self, RecipeError> {
        let recipe: Self = serde_json::from_str(text)?;
        recipe.faults.check()?;
        for (field, value) in [("heal_after_s", recipe.heal_after_s), ("time_limit_s", recipe.time_limit_s)] {
            if let Some(value) = value.filter(|value| value.is_nan() || *value < 0.0) {
                return Err(RecipeError::Time { field, value });
            }
        }
        Ok(recipe)
    }

    /// The recipe as JSON, on one line.
    pub fn to_json(&self) -> String {
        // A value with string keys always has a JSON form.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The world to run it in, from the world of a seed. Faults are those of the recipe, in the place of what that world plans
    /// or draws; inputs that the recipe does not name are those of that world.
    pub fn world(&self, of_seed: impl FnOnce(u64) -> World) -> World {
        let world = self.timed(of_seed(self.seed).repeating(self.faults.clone(), self.inputs.clone()));
        match &self.schedule {
            Some(schedule) => world.schedule(schedule.clone()),
            None => world,
        }
    }

    /// A world that heals and ends when the recipe says.
    pub(super) fn timed(&self, mut world: World) -> World {
        if let Some(heal_after) = self.heal_after_s.and_then(seconds) {
            world = world.heal_after(heal_after);
        }
        if let Some(time_limit) = self.time_limit_s.and_then(seconds) {
            world = world.within(time_limit);
        }
        world
    }

    /// Whether it is nothing but a seed: everything that a run draws follows from that.
    pub(super) fn is_plain(&self) -> bool {
        *self == Self::new(self.seed)
    }
}
