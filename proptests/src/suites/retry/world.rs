//! Where subjects run: a world, whose time and tokio's paused clock move together.

use std::time::Duration;

use windtunnel_core::env::Env;
use windtunnel_sim::{Leaks, World, WorldError};

use super::RunEnding;

/// How long a world lasts. Waits may be longer: then the run is endless.
pub(super) const WORLD_ENDS_AFTER: Duration = Duration::from_secs(300 * 365 * 24 * 60 * 60);

/// For how long a subject is watched after its end: what runs on shows.
pub(super) const AFTERWARDS: Duration = Duration::from_secs(24 * 60 * 60);

/// Runs a scenario in a world of this seed.
pub(in crate::suites) fn in_world<T, F, Fut>(seed: u64, scenario: F) -> Result<T, RunEnding>
where
    T: Send,
    F: FnOnce(Env) -> Fut + Send,
    Fut: Future<Output = T>,
{
    // Libraries that are tried may draw from the system: what they draw is not their waiting.
    let world = World::new(seed).time_limit(WORLD_ENDS_AFTER).leaks(Leaks::Ignore);
    let run = world.run(|world| scenario(world.env()));
    run.outcome.map_err(|error| match error {
        WorldError::Panicked { message } => RunEnding::Panicked(message),
        WorldError::Spinning { .. } => RunEnding::Spinning,
        _ => RunEnding::Endless,
    })
}
