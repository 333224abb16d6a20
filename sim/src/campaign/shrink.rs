//! Making a failure small: fewer faults, smaller inputs, a plainer order of tasks.

use std::collections::BTreeMap;
use std::mem::{Discriminant, discriminant};
use std::sync::Arc;

use super::Recipe;
use crate::fault::FaultPlan;
use crate::{Run, Schedule, WorldError};

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

/// Tries smaller recipes and keeps those that fail in the same way.
pub(super) struct Shrinker<'a> {
    run: &'a dyn Fn(&Recipe, bool) -> Run<()>,
    signature: Signature,
    runs_max: usize,
    runs: usize,
    best: Recipe,
}

/// How many earlier events a fault is tried at.
const PLACES_TRIED_MAX: u64 = 40;

/// How many single choices are tried to be left out, however many there are.
const CHOICES_TRIED_MAX: usize = 400;

impl<'a> Shrinker<'a> {
    /// `run` runs a recipe, and keeps choices if it is told to.
    pub(super) fn new(
        run: &'a dyn Fn(&Recipe, bool) -> Run<()>,
        error: &WorldError,
        recipe: Recipe,
        runs_max: usize,
    ) -> Self {
        Self { run, signature: Signature::of(error), runs_max, runs: 0, best: recipe }
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
        let run = (self.run)(&recipe, false);
        let is_same = run.outcome.is_err_and(|error| Signature::of(&error) == self.signature);
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
        if self.runs >= self.runs_max {
            return;
        }
        self.runs += 1;
        let kept = (self.run)(&self.best, true);
        if kept.choices.is_empty() {
            return;
        }
        if self.accept(Recipe { schedule: Some(Schedule::Arrival), ..self.best.clone() }) {
            return;
        }
        let chosen: Vec<(u64, u64)> = (1..).zip(kept.choices).collect();
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

/// Leaves out of a list what `fails` does not need: first in large pieces, then one by one (delta debugging). The whole list
/// is taken to fail.
pub(crate) fn minimize<T: Clone>(mut list: Vec<T>, fails: &mut dyn FnMut(&[T]) -> bool) -> Vec<T> {
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
