//! A scenario over many seeds, in one line.

use std::ops::Range;

use super::{Campaign, CampaignReport, ExploreError};
use crate::{World, WorldHandle};

/// Runs a scenario in one world for each seed, on all cores, until one fails: panics, or comes to no end. The failure of the
/// lowest seed is told.
///
/// If the environment variable `WINDTUNNEL_SEED` is set, only that seed runs; if `WINDTUNNEL_REPEAT` is, only the run that it
/// says.
///
/// ```
/// use std::time::Duration;
/// use windtunnel_sim::explore;
///
/// let found = explore(0..100, |world| async move {
///     let waited_s = 10.0 * world.env().unit("latency");
///     world.env().sleep(Duration::from_secs_f64(waited_s)).await;
///     assert!(waited_s < 9.0, "waited for {waited_s} s");
/// });
/// assert!(found.unwrap_err().to_string().contains("the scenario panicked: waited for 9."));
/// ```
///
/// # Errors
/// [`ExploreError::Failed`] with what it takes to repeat the failure; the others if there is nothing to run, or it tests
/// nothing.
pub fn explore<F, Fut>(seeds: Range<u64>, scenario: F) -> Result<CampaignReport, ExploreError>
where
    F: Fn(WorldHandle) -> Fut + Sync,
    Fut: Future<Output = ()>,
{
    Campaign::new().seeds(seeds).run(scenario)
}

/// [`explore`] in worlds that are set up for each seed.
///
/// ```
/// use std::time::Duration;
/// use windtunnel_sim::{Reaction, World, explore_in};
///
/// let slow = |seed| {
///     World::new(seed).on_event(|event| match event.kind.name() {
///         "tool.attempt" => Reaction::Delay(Duration::from_secs(60)),
///         _ => Reaction::Continue,
///     })
/// };
/// let report = explore_in(slow, 0..10, |_world| async move { /* … */ })?;
/// assert_eq!(report.seeds, 10);
/// # Ok::<(), windtunnel_sim::ExploreError>(())
/// ```
///
/// # Errors
/// As [`explore`].
pub fn explore_in<F, Fut>(
    world: impl Fn(u64) -> World + Sync,
    seeds: Range<u64>,
    scenario: F,
) -> Result<CampaignReport, ExploreError>
where
    F: Fn(WorldHandle) -> Fut + Sync,
    Fut: Future<Output = ()>,
{
    Campaign::in_worlds(world).seeds(seeds).run(scenario)
}
