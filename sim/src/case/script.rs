//! What the attempts of a case's tool do: first its script, then what chance says.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use windtunnel_core::env::Env;

use super::wire::{Delay, WireFail, WireRates, WireStep};
use crate::script::{Failure, Step, Then};

/// The script of one tool.
#[derive(Clone, Debug, Default)]
pub(super) struct ToolScript {
    pub(super) steps: Arc<[WireStep]>,
    pub(super) random: Option<Random>,
}

/// What every attempt after the script draws.
#[derive(Clone, Copy, Debug)]
pub(super) struct Random {
    pub(super) rates: WireRates,
    pub(super) delay: Delay,
}

impl ToolScript {
    /// Whether something is drawn.
    pub(super) fn draws(&self) -> bool {
        let rates_draw = |random: &Random| rates(&random.rates).iter().any(|(_, rate)| *rate > 0.0);
        self.steps.iter().any(|step| step.delay_ms.is_range())
            || self.random.is_some_and(|random| random.delay.is_range() || rates_draw(&random))
    }

    /// The steps of one run, one for each attempt, drawn from streams of the tool's own.
    pub(super) fn player(&self, tool: &str, env: Env) -> impl Fn() -> Step + Send + Sync + use<> {
        let script = self.clone();
        let attempts = AtomicUsize::new(0);
        let (delays, failures) = (format!("case/{tool}/delay"), format!("case/{tool}/failure"));
        move || {
            let attempt = attempts.fetch_add(1, Ordering::Relaxed);
            let drawn = |delay: Delay| draw_delay(delay, || env.unit(&delays));
            match (script.steps.get(attempt), script.random) {
                (Some(step), _) => Step { delay: drawn(step.delay_ms), then: then(step) },
                (None, Some(random)) => {
                    Step { delay: drawn(random.delay), then: draw_ending(&random.rates, env.unit(&failures)) }
                }
                (None, None) => Step::answer(),
            }
        }
    }
}

fn then(step: &WireStep) -> Then {
    match step.fail {
        Some(fail) => ending(fail),
        None => Then::Answer(step.ok.clone()),
    }
}

fn ending(fail: WireFail) -> Then {
    match fail {
        WireFail::Foreign => Then::Fail(Failure::Foreign),
        WireFail::Busy => Then::Fail(Failure::Busy),
        WireFail::ToolError => Then::Fail(Failure::ToolError),
        WireFail::Hang => Then::Hang,
        WireFail::Panic => Then::Panic,
    }
}

/// The kinds of failure with their rates, in the order in which a draw goes through them.
pub(super) fn rates(rates: &WireRates) -> [(WireFail, f64); 5] {
    [
        (WireFail::Foreign, rates.foreign.0),
        (WireFail::Busy, rates.busy.0),
        (WireFail::ToolError, rates.tool_error.0),
        (WireFail::Hang, rates.hang.0),
        (WireFail::Panic, rates.panic.0),
    ]
}

fn draw_ending(of: &WireRates, unit: f64) -> Then {
    let mut below = 0.0;
    for (fail, rate) in rates(of) {
        below += rate;
        if unit < below {
            return ending(fail);
        }
    }
    Then::Answer(None)
}

fn draw_delay(delay: Delay, unit: impl FnOnce() -> f64) -> Duration {
    if delay.is_range() { delay.min + (delay.max - delay.min).mul_f64(unit()) } else { delay.min }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rates_of(value: serde_json::Value) -> WireRates {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn each_failure_takes_its_part_of_the_unit_interval() {
        let rates = rates_of(json!({"foreign": 0.25, "tool-error": 0.25, "panic": 0.5}));
        for (unit, expected) in [
            (0.0, Then::Fail(Failure::Foreign)),
            (0.25, Then::Fail(Failure::ToolError)),
            (0.5, Then::Panic),
            (0.999, Then::Panic),
        ] {
            assert_eq!(draw_ending(&rates, unit), expected, "at {unit}");
        }
        assert_eq!(draw_ending(&rates_of(json!({"hang": 0.5})), 0.5), Then::Answer(None));
    }

    #[test]
    fn delays_are_drawn_from_their_range_only() {
        let (min, max) = (Duration::from_millis(10), Duration::from_millis(20));
        assert_eq!(draw_delay(Delay { min, max }, || 0.5), Duration::from_millis(15));
        assert_eq!(draw_delay(Delay { min, max: min }, || panic!("nothing to draw")), min);
    }
}
