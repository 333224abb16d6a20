//! Making a failure small: fewer faults, smaller inputs, a plainer order of tasks.

use std::collections::BTreeMap;
use std::mem::{Discriminant, discriminant};
use std::sync::Arc;

use super::Recipe;
use crate::fault::FaultPlan;
use crate::{Schedule, WorldError};

/// What makes two failures the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Signature {
    kind: Discriminant<WorldError>,
    assertion: Option<String>,
}

impl Signature {
    pub(crate) fn of(error: &WorldError) -> Self {
        let assertion = match error {
            WorldError::AssertionFailed { assertion } => Some(assertion.clone()),
            _ => None,
        };
        Self { kind: discriminant(error), assertion }
    }
}

/// Whether a run of a recipe fails in the same way; if so, which tasks went on, if it was told to keep that.
pub(super) type Fails<'a> = &'a mut dyn FnMut(&Recipe, bool) -> Option<Vec<u64>>;

/// Tries smaller recipes and keeps those that fail in the same way.
pub(super) struct Shrinker<'a> {
    fails: Fails<'a>,
    runs_max: usize,
    runs: usize,
    best: Recipe,
}

/// How many earlier events a fault is tried at.
const PLACES_TRIED_MAX: u64 = 40;

/// How many single choices are tried to be left out, however many there are.
const CHOICES_TRIED_MAX: usize = 400;

impl<'a> Shrinker<'a> {
    pub(super) fn new(fails: Fails<'a>, recipe: Recipe, runs_max: usize) -> Self {
        Self { fails, runs_max, runs: 0, best: recipe }
    }

    /// The smallest recipe that was found, and how many runs that took.
    pub(super) fn shrink(mut self) -> (Recipe, usize) {
        self.faults();
        self.inputs();
        self.schedule();
        // An order that is plainer may need fewer faults.
        self.faults();
        (self.best, self.runs)
    }

    /// Whether it fails in the same way; then it is the best.
    fn accept(&mut self, recipe: Recipe) -> bool {
        if self.runs >= self.runs_max || recipe == self.best {
            return false;
        }
        self.runs += 1;
        let is_same = (self.fails)(&recipe, false).is_some();
        if is_same {
            self.best = recipe;
        }
        is_same
    }

    fn faults(&mut self) {
        let faults = self.best.faults.faults.clone();
        minimize(faults, &mut |faults| {
            let faults = FaultPlan::new(faults.iter().cloned());
            let recipe = Recipe { faults, ..self.best.clone() };
            self.accept(recipe)
        });
        self.earlier_faults();
    }

    /// A fault may only stand where it does because another one brought its event about: that one is left out, and this one
    /// comes earlier.
    fn earlier_faults(&mut self) {
        let mut without = 0;
        while without < self.best.faults.faults.len() {
            let mut rest = self.best.faults.faults.clone();
            rest.remove(without);
            let mut earlier = rest.iter().enumerate().flat_map(|(place, fault)| {
                let rest = &rest;
                fault.when.earlier(PLACES_TRIED_MAX).map(move |when| {
                    let mut faults = rest.clone();
                    faults[place].when = when;
                    FaultPlan::new(faults)
                })
            });
            if !earlier.any(|faults| self.accept(Recipe { faults, ..self.best.clone() })) {
                without += 1;
            }
        }
    }

    fn inputs(&mut self) {
        let places: Vec<_> = self
            .best
            .inputs
            .iter()
            .flat_map(|(name, given)| (0..given.len()).map(|place| (name.clone(), place)))
            .collect();
        for (name, place) in places {
            // As small as it can be, by halves: what fails with an input mostly does with larger ones.
            let (mut low, mut high) = (0, self.input(&name, place));
            while low < high {
                let middle = low + (high - low) / 2;
                if self.accept(self.with_input(&name, place, middle)) {
                    high = middle;
                } else {
                    low = middle + 1;
                }
            }
        }
    }

    fn input(&self, name: &str, place: usize) -> u64 {
        self.best.inputs.get(name).and_then(|given| given.get(place)).copied().unwrap_or_default()
    }

    fn with_input(&self, name: &str, place: usize, input: u64) -> Recipe {
        let mut recipe = self.best.clone();
        if let Some(given) = recipe.inputs.get_mut(name).and_then(|given| given.get_mut(place)) {
            *given = input;
        }
        recipe
    }

    fn schedule(&mut self) {
        // An order that is given has been made plain before.
        if self.runs >= self.runs_max || self.best.schedule.is_some() {
            return;
        }
        self.runs += 1;
        let choices = (self.fails)(&self.best, true).unwrap_or_default();
        if choices.is_empty() {
            return;
        }
        if self.accept(Recipe { schedule: Some(Schedule::Arrival), ..self.best.clone() }) {
            return;
        }
        let chosen: Vec<(u64, u64)> = (1..).zip(choices).collect();
        if !self.accept(self.choosing(&chosen)) {
            return;
        }
        let mut left = self.runs_max.min(self.runs + CHOICES_TRIED_MAX).saturating_sub(self.runs);
        minimize(chosen, &mut |chosen| {
            let may_try = left > 0;
            left = left.saturating_sub(1);
            let recipe = self.choosing(chosen);
            may_try && self.accept(recipe)
        });
    }

    fn choosing(&self, chosen: &[(u64, u64)]) -> Recipe {
        let chosen: BTreeMap<_, _> = chosen.iter().copied().collect();
        Recipe { schedule: Some(Schedule::Chosen(Arc::new(chosen))), ..self.best.clone() }
    }
}

impl Recipe {
    /// The smallest recipe that was found to fail as this one does, with fewer faults, smaller inputs and a plainer order of
    /// tasks; and how many runs that took, of `runs_max` at the most. `fails` runs a recipe, and says whether it fails in the
    /// same way ([`WorldError::is_like`]): if so, with [`Run::choices`](crate::Run::choices), which it keeps if it is told to.
    ///
    /// ```
    /// use windtunnel_sim::{Recipe, World, WorldHandle};
    ///
    /// async fn scenario(world: WorldHandle) {
    ///     let amount = world.input("amount", 1000);
    ///     world.assertions().always("little is paid", amount < 100);
    /// }
    /// let run = World::new(7).run(scenario);
    /// let error = run.outcome.unwrap_err();
    /// let (smallest, _runs) = Recipe { inputs: run.inputs, ..Recipe::new(7) }.shrink(500, &mut |recipe, _keeps_choices| {
    ///     let again = recipe.world(World::new).run(scenario);
    ///     again.outcome.is_err_and(|other| other.is_like(&error)).then_some(again.choices)
    /// });
    /// assert_eq!(smallest.inputs["amount"], [100]);
    /// ```
    pub fn shrink(self, runs_max: usize, fails: &mut dyn FnMut(&Self, bool) -> Option<Vec<u64>>) -> (Self, usize) {
        Shrinker::new(fails, self, runs_max).shrink()
    }
}

impl WorldError {
    /// Whether a run that failed by the other one failed in the same way: of the same kind, and by the same assertion.
    pub fn is_like(&self, other: &Self) -> bool {
        Signature::of(self) == Signature::of(other)
    }
}

/// Leaves out of a list what `fails` does not need: first in large pieces, then one by one (delta debugging). The whole list
/// is taken to fail.
///
/// ```
/// let needed = windtunnel_sim::minimize((0..100).collect(), &mut |list| list.contains(&3) && list.contains(&77));
/// assert_eq!(needed, [3, 77]);
/// ```
pub fn minimize<T: Clone>(mut list: Vec<T>, fails: &mut dyn FnMut(&[T]) -> bool) -> Vec<T> {
    let mut piece = list.len();
    while piece > 0 && !list.is_empty() {
        let mut start = 0;
        while start < list.len() {
            let end = (start + piece).min(list.len());
            let without: Vec<T> = list[..start].iter().chain(&list[end..]).cloned().collect();
            if fails(&without) {
                list = without;
            } else {
                start = end;
            }
        }
        piece = if piece == 1 { 0 } else { piece.div_ceil(2) };
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_reduced_to_what_is_needed_together() {
        let mut tried = 0;
        let needed = |list: &[u32]| list.contains(&3) && list.contains(&77) && list.contains(&78);
        let smallest = minimize((0..100).collect(), &mut |list| {
            tried += 1;
            needed(list)
        });
        assert_eq!(smallest, [3, 77, 78]);
        assert!(tried < 60, "{tried}");
        assert!(minimize(vec![1, 2, 3], &mut |_| true).is_empty());
    }
}
