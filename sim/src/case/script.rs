//! What the attempts of a case's tool do: first its script, then what chance says.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use windtunnel_core::env::Env;

use super::wire::Delay;
use crate::script::{Step, Then};

/// The script of one tool, whose attempts fail by an `F`.
#[derive(Clone, Debug)]
pub(super) struct ToolScript<F> {
    pub(super) steps: Arc<[CaseStep<F>]>,
    pub(super) random: Option<Random<F>>,
    /// How long an attempt after the script takes that draws nothing.
    pub(super) delay: Delay,
}

/// A step of which the delay may still have to be drawn.
#[derive(Clone, Debug)]
pub(super) struct CaseStep<F> {
    pub(super) delay: Delay,
    pub(super) then: Then<F>,
}

/// What every attempt after the script draws.
#[derive(Clone, Debug)]
pub(super) struct Random<F> {
    rates: Arc<[(Then<F>, f64)]>,
    delay: Delay,
}

impl<F> Random<F> {
    /// The ways to fail with their rates, in the order in which a draw goes through them.
    pub(super) fn new(rates: impl IntoIterator<Item = (Then<F>, f64)>, delay: Delay) -> Result<Self, String> {
        let rates: Arc<[_]> = rates.into_iter().collect();
        let sum: f64 = rates.iter().map(|(_, rate)| rate).sum();
        // Decimals do not always add up to exactly 1.
        if sum > 1.0 + 1e-9 {
            return Err(format!("the rates add up to {sum}, which is more than 1"));
        }
        Ok(Self { rates, delay })
    }
}

impl<F: Clone> Random<F> {
    fn draw_ending(&self, unit: f64) -> Then<F> {
        let mut below = 0.0;
        for (fail, rate) in &*self.rates {
            below += rate;
            if unit < below {
                return fail.clone();
            }
        }
        Then::Answer(None)
    }
}

impl<F: Clone> ToolScript<F> {
    /// Whether something is drawn.
    pub(super) fn draws(&self) -> bool {
        let after_script = match &self.random {
            Some(random) => random.delay.is_range() || random.rates.iter().any(|(_, rate)| *rate > 0.0),
            None => self.delay.is_range(),
        };
        after_script || self.steps.iter().any(|step| step.delay.is_range())
    }

    /// The steps of one run, one for each attempt, drawn from streams of the tool's own.
    pub(super) fn player(&self, tool: &str, env: Env) -> impl Fn() -> Step<F> + use<F> {
        let script = self.clone();
        let attempts = AtomicUsize::new(0);
        let (delays, failures) = (format!("case/{tool}/delay"), format!("case/{tool}/failure"));
        move || {
            let attempt = attempts.fetch_add(1, Ordering::Relaxed);
            let drawn = |delay: Delay| draw_delay(delay, || env.unit(&delays));
            match (script.steps.get(attempt), &script.random) {
                (Some(step), _) => Step { delay: drawn(step.delay), then: step.then.clone() },
                (None, Some(random)) => {
                    Step { delay: drawn(random.delay), then: random.draw_ending(env.unit(&failures)) }
                }
                (None, None) => Step { delay: drawn(script.delay), then: Then::Answer(None) },
            }
        }
    }
}

pub(super) fn draw_delay(delay: Delay, unit: impl FnOnce() -> f64) -> Duration {
    if delay.is_range() { delay.min + (delay.max - delay.min).mul_f64(unit()) } else { delay.min }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::Failure;

    #[test]
    fn each_failure_takes_its_part_of_the_unit_interval() {
        let fails = [(Then::Fail(Failure::Foreign), 0.25), (Then::Fail(Failure::ToolError), 0.25), (Then::Panic, 0.5)];
        let random = Random::new(fails, Delay::default()).unwrap();
        for (unit, expected) in [
            (0.0, Then::Fail(Failure::Foreign)),
            (0.25, Then::Fail(Failure::ToolError)),
            (0.5, Then::Panic),
            (0.999, Then::Panic),
        ] {
            assert_eq!(random.draw_ending(unit), expected, "at {unit}");
        }
        let hangs = Random::<Failure>::new([(Then::Hang, 0.5)], Delay::default()).unwrap();
        assert_eq!(hangs.draw_ending(0.5), Then::Answer(None));
    }

    #[test]
    fn delays_are_drawn_from_their_range_only() {
        let (min, max) = (Duration::from_millis(10), Duration::from_millis(20));
        assert_eq!(draw_delay(Delay { min, max }, || 0.5), Duration::from_millis(15));
        assert_eq!(draw_delay(Delay { min, max: min }, || panic!("nothing to draw")), min);
    }
}
