//! Calls in parallel. Their answers are collected as they come, and matched with the calls by their places.

use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::join_all;
use futures_util::stream::FuturesUnordered;
use windtunnel::BoxError;
use windtunnel::sim::WorldHandle;

use super::{Animal, Breaks, Twin};

const RULE: &str = "each answer is that of its call";
const CITIES: [&str; 3] = ["Bern", "Lima", "Oslo"];

pub(crate) const SWAPPED_ANSWERS: Animal = Animal {
    name: "swapped answers",
    after: "kitaru#306",
    breaks: Breaks::Rule(RULE),
    scenario: |world, twin| Box::pin(scenario(world, twin)),
};

async fn scenario(world: WorldHandle, twin: Twin) {
    let calls = CITIES.iter().zip(1..).map(|(city, seconds)| weather(&world, city, seconds));
    let answers: Vec<_> = match twin {
        Twin::Faulty => calls.collect::<FuturesUnordered<_>>().collect().await,
        Twin::Correct => join_all(calls).await,
    };
    for (city, answer) in CITIES.iter().zip(answers) {
        // A call that fails says so.
        let is_its_own = answer.is_none_or(|answer| answer == forecast(city));
        world.assertions().always(RULE, is_its_own);
    }
}

async fn weather(world: &WorldHandle, city: &str, seconds: u64) -> Option<String> {
    let env = world.env();
    let ask = || async {
        env.sleep(Duration::from_secs(seconds)).await;
        Ok::<_, BoxError>(forecast(city))
    };
    env.timeout(Duration::from_secs(60), world.faults().call("weather", ask)).await.ok()?.ok()
}

fn forecast(city: &str) -> String {
    format!("sunny in {city}")
}
