//! A retry with exponential backoff and jitter. Its exponent begins at 1 and not at 0, and its jitter comes after the cap.

use std::time::Duration;

use windtunnel::BoxError;
use windtunnel::sim::WorldHandle;

use super::{Animal, Breaks, Twin};

const RULE: &str = "no delay is longer than promised";
const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(8);
const ATTEMPTS_MAX: u32 = 6;

pub(crate) const LONG_DELAY: Animal = Animal {
    name: "long delay",
    after: "iggy#4084",
    breaks: Breaks::Rule(RULE),
    scenario: |world, twin| Box::pin(scenario(world, twin)),
};

async fn scenario(world: WorldHandle, twin: Twin) {
    let env = world.env();
    let look = || async { Ok::<_, BoxError>("in stock") };
    for attempt in 1..=ATTEMPTS_MAX {
        let asked = env.timeout(Duration::from_secs(30), world.faults().call("look", look)).await;
        if matches!(asked, Ok(Ok(_))) || attempt == ATTEMPTS_MAX {
            break;
        }
        let failed_at = env.now();
        env.sleep(delay(attempt, env.unit("jitter"), twin)).await;
        world.assertions().always(RULE, env.now() - failed_at <= promised(attempt));
    }
}

/// The delay after this attempt, counted from 1.
fn delay(attempt: u32, unit: f64, twin: Twin) -> Duration {
    match twin {
        Twin::Faulty => (FIRST * 2_u32.pow(attempt)).min(LONGEST).mul_f64(0.75 + unit / 2.0),
        Twin::Correct => promised(attempt).mul_f64(0.5 + unit / 2.0),
    }
}

/// What the manual says: a second at most, then twice as long each time, up to eight.
fn promised(attempt: u32) -> Duration {
    (FIRST * 2_u32.pow(attempt - 1)).min(LONGEST)
}
