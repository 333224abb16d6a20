//! Making a failing run small: its steps, their values, its faults and the order of its tasks, again and again, until nothing
//! gets smaller. They depend on each other: a fault that comes at the fifth payment comes at the first one where there are no
//! others, and a run of fewer faults may need fewer steps.

use serde_json::Value;
use windtunnel_sim::fault::{FaultAction, FaultPlan};
use windtunnel_sim::{Recipe, WorldError, minimize};

use super::Step;
use super::drawn::Drawn;
use super::subject::Subject;

/// How many earlier events a fault is tried at when a step is left out.
const PLACES_TRIED_MAX: u64 = 40;

/// How many steps there may be so that each two of them are made simpler together.
const PAIRED_MAX: usize = 8;

/// Times that are tried for longer ones, in seconds.
const SECONDS_TRIED: [f64; 5] = [0.0, 0.1, 1.0, 10.0, 60.0];

/// The smallest run that was found so far to fail as the first one did.
pub(super) struct Smallest<'a, S: Subject> {
    subject: &'a S,
    error: &'a WorldError,
    drawn: Vec<Drawn<S::Operation>>,
    recipe: Recipe,
    runs_left: usize,
}

impl<'a, S: Subject> Smallest<'a, S> {
    /// A run that fails by this error.
    pub(super) fn new(
        subject: &'a S,
        error: &'a WorldError,
        drawn: Vec<Drawn<S::Operation>>,
        recipe: Recipe,
        runs_max: usize,
    ) -> Self {
        Self { subject, error, drawn, recipe, runs_left: runs_max }
    }

    /// The smallest one: its steps and recipe, and how many runs were left over.
    pub(super) fn find(mut self) -> (Vec<Step<S::Operation>>, Recipe, usize) {
        self.accept(Recipe { seed: 0, ..self.recipe.clone() });
        self.until_nothing_changes(|smallest| {
            // What simpler values are possible depends on what else there is.
            smallest.until_nothing_changes(|smallest| {
                smallest.fewer_steps();
                smallest.fewer_faults();
            });
            smallest.simpler_steps();
            smallest.simpler_faults();
            smallest.accept(Recipe { seed: 0, ..smallest.recipe.clone() });
        });
        // Nobody has to read of an order, if the seed's own does as well.
        self.accept(Recipe { schedule: None, ..self.recipe.clone() });
        (self.steps(), self.recipe, self.runs_left)
    }

    fn until_nothing_changes(&mut self, reduce: impl Fn(&mut Self)) {
        let mut before = None;
        while before != Some((format!("{:?}", self.steps()), self.recipe.clone())) && self.runs_left > 0 {
            before = Some((format!("{:?}", self.steps()), self.recipe.clone()));
            reduce(self);
        }
    }

    fn steps(&self) -> Vec<Step<S::Operation>> {
        self.drawn.iter().map(|drawn| drawn.step.clone()).collect()
    }

    fn fails(&mut self, steps: &[Step<S::Operation>], recipe: &Recipe) -> bool {
        if self.runs_left == 0 {
            return false;
        }
        self.runs_left -= 1;
        let again = self.subject.repeat(steps, recipe, false);
        again.outcome.is_err_and(|error| error.is_like(self.error))
    }

    /// Whether it fails by this recipe too; then that is its recipe.
    fn accept(&mut self, recipe: Recipe) -> bool {
        let is_accepted = recipe != self.recipe && self.fails(&self.steps(), &recipe);
        if is_accepted {
            self.recipe = recipe;
        }
        is_accepted
    }

    fn fewer_steps(&mut self) {
        let steps = self.steps();
        let kept = minimize((0..self.drawn.len()).collect(), &mut |kept| {
            let steps: Vec<_> = kept.iter().map(|place| steps[*place].clone()).collect();
            if self.fails(&steps, &self.recipe.clone()) {
                return true;
            }
            let earlier = earlier_plans(&self.recipe.faults).into_iter();
            let mut earlier = earlier.map(|faults| Recipe { faults, ..self.recipe.clone() }).collect::<Vec<_>>();
            let found = earlier.iter().position(|recipe| self.fails(&steps, recipe));
            if let Some(place) = found {
                self.recipe = earlier.swap_remove(place);
            }
            found.is_some()
        });
        let mut place = 0;
        self.drawn.retain(|_| {
            place += 1;
            kept.contains(&(place - 1))
        });
    }

    /// First all steps in one, then two and two, then each alone: what is about the same thing stays so, as what was drawn
    /// alike gets simpler alike.
    fn simpler_steps(&mut self) {
        let count = self.drawn.len();
        self.simpler_alike(&(0..count).collect::<Vec<_>>());
        if count <= PAIRED_MAX {
            for first in 0..count {
                (first + 1..count).for_each(|second| self.simpler_alike(&[first, second]));
            }
        }
        (0..count).for_each(|place| self.simpler_alone(place));
    }

    /// The steps at these places, all in the same way, as far as that goes.
    fn simpler_alike(&mut self, places: &[usize]) {
        let mut moving: Vec<_> =
            places.iter().filter_map(|place| Some((*place, self.drawn[*place].moving()?))).collect();
        while self.runs_left > 0 {
            // Each of them, also after one that is simpler.
            let simpler = moving.iter_mut().filter_map(|(_, moving)| moving.simplify().then_some(())).count();
            let mut steps = self.steps();
            moving.iter().for_each(|(place, moving)| steps[*place] = moving.step());
            if simpler == 0 || !self.fails(&steps, &self.recipe.clone()) {
                return;
            }
            moving.iter().for_each(|(place, moving)| self.drawn[*place].stays(moving));
        }
    }

    fn simpler_alone(&mut self, place: usize) {
        let Some(mut moving) = self.drawn[place].moving() else { return };
        let mut goes_on = moving.simplify();
        while goes_on && self.runs_left > 0 {
            let mut steps = self.steps();
            steps[place] = moving.step();
            goes_on = if self.fails(&steps, &self.recipe.clone()) {
                self.drawn[place].stays(&moving);
                moving.simplify()
            } else {
                moving.complicate()
            };
        }
    }

    fn fewer_faults(&mut self) {
        let steps = self.steps();
        let (subject, error, runs_max) = (self.subject, self.error, self.runs_left);
        let (recipe, runs) = self.recipe.clone().shrink(runs_max, &mut |recipe, keeps_choices| {
            let again = subject.repeat(&steps, recipe, keeps_choices);
            again.outcome.is_err_and(|other| other.is_like(error)).then_some(again.choices)
        });
        self.recipe = recipe;
        self.runs_left = self.runs_left.saturating_sub(runs);
    }

    fn simpler_faults(&mut self) {
        for place in 0..self.recipe.faults.faults.len() {
            for action in simpler_actions(&self.recipe.faults.faults[place].action) {
                let mut recipe = self.recipe.clone();
                recipe.faults.faults[place].action = action;
                if self.accept(recipe) {
                    break;
                }
            }
            let when = self.recipe.faults.faults[place].when.earlier(PLACES_TRIED_MAX).collect::<Vec<_>>();
            for when in when {
                let mut recipe = self.recipe.clone();
                recipe.faults.faults[place].when = when;
                if self.accept(recipe) {
                    break;
                }
            }
        }
    }
}

/// The plans in which one fault comes at an earlier event, and those in which all come by as many earlier.
fn earlier_plans(plan: &FaultPlan) -> Vec<FaultPlan> {
    let earlier: Vec<Vec<_>> = plan.faults.iter().map(|fault| fault.when.earlier(PLACES_TRIED_MAX).collect()).collect();
    let mut plans = Vec::new();
    for (place, whens) in earlier.iter().enumerate() {
        for when in whens {
            let mut moved = plan.clone();
            moved.faults[place].when = when.clone();
            plans.push(moved);
        }
    }
    let shifts = earlier.iter().map(Vec::len).max().unwrap_or_default();
    for by in (0..shifts).filter(|_| plan.faults.len() > 1) {
        let mut moved = plan.clone();
        for (fault, whens) in moved.faults.iter_mut().zip(&earlier) {
            if let Some(when) = whens.iter().rev().nth(by).or(whens.first()) {
                fault.when = when.clone();
            }
        }
        plans.push(moved);
    }
    plans
}

/// What a tool or a model does first if it fails at all, and the same with one number smaller, the smallest first.
fn simpler_actions(action: &FaultAction) -> Vec<FaultAction> {
    let Ok(Value::Object(members)) = serde_json::to_value(action) else { return Vec::new() };
    let plain = match action.kind().name().split_once('.') {
        Some(("tool", _)) => Some(FaultAction::ToolError { retryable: false }),
        Some(("model", _)) => Some(FaultAction::ModelServerError {}),
        _ => None,
    };
    let mut simpler: Vec<_> = plain.filter(|plain| plain != action).into_iter().collect();
    for (name, value) in &members {
        let Some(number) = value.as_f64() else { continue };
        let tried = if name == "loss" { &[1.0][..] } else { &SECONDS_TRIED[..] };
        for smaller in tried.iter().filter(|tried| name == "loss" && number < 1.0 || **tried < number.abs()) {
            let mut members = members.clone();
            members.insert(name.clone(), (*smaller).into());
            simpler.extend(serde_json::from_value(Value::Object(members)).ok());
        }
    }
    simpler
}

#[cfg(test)]
mod tests {
    use windtunnel_sim::EventPattern;
    use windtunnel_sim::fault::Fault;

    use super::*;

    #[test]
    fn faults_come_earlier_alone_and_together() {
        let at = |nth| Fault::new(EventPattern::named("tool.body").nth(nth), FaultAction::ToolHang {});
        let plans = earlier_plans(&FaultPlan::new([at(2), at(3)]));
        let moved = [[at(1), at(3)], [at(2), at(1)], [at(2), at(2)], [at(1), at(2)], [at(1), at(1)]];
        assert_eq!(plans, moved.map(FaultPlan::new));
        assert!(earlier_plans(&FaultPlan::new([at(1)])).is_empty());
    }

    #[test]
    fn actions_become_plainer_and_shorter_and_links_dead() {
        let delay = |delay_s| FaultAction::ToolDelay { delay_s };
        let error = FaultAction::ToolError { retryable: false };
        assert_eq!(simpler_actions(&delay(2.0)), [error.clone(), delay(0.0), delay(0.1), delay(1.0)]);
        assert!(simpler_actions(&error).is_empty());
        let loss = |loss| FaultAction::NetworkLoss { host: None, peer: None, loss, heal_after_s: None };
        assert_eq!(simpler_actions(&loss(0.3)), [loss(1.0)]);
        assert!(simpler_actions(&loss(1.0)).is_empty());
    }
}
