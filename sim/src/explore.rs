//! A scenario over many seeds.

use std::fmt;
use std::ops::Range;

use windtunnel_core::event::Event;

use crate::{World, WorldError, WorldHandle};

/// How many of the last events a failure shows.
const EVENTS_SHOWN: usize = 12;

/// What an exploration that found nothing went through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explored {
    /// How many seeds passed.
    pub seeds: u64,
    /// How many events they had.
    pub events: u64,
}

/// The first seed that failed. Its debug form is its story, so that `unwrap` in a test tells it.
pub struct FailingSeed {
    /// The seed.
    pub seed: u64,
    /// Why it failed.
    pub error: WorldError,
    /// All its events.
    pub trace: Vec<Event>,
}

/// Runs a scenario in one world for each seed, in order, until one fails: panics, or comes to no end.
///
/// If the environment variable `WINDTUNNEL_SEED` is set, only that seed runs.
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
/// [`FailingSeed`], with what it takes to repeat it.
pub fn explore<F, Fut>(seeds: Range<u64>, scenario: F) -> Result<Explored, FailingSeed>
where
    F: Fn(WorldHandle) -> Fut + Sync,
    Fut: Future<Output = ()>,
{
    let only = std::env::var("WINDTUNNEL_SEED").ok().and_then(|seed| seed.parse().ok());
    let seeds = only.map_or(seeds, |seed: u64| seed..seed.saturating_add(1));
    let mut explored = Explored { seeds: 0, events: 0 };
    for seed in seeds {
        let run = World::new(seed).run(&scenario);
        if let Err(error) = run.outcome {
            return Err(FailingSeed { seed, error, trace: run.trace });
        }
        explored.seeds += 1;
        explored.events += run.trace.len() as u64;
    }
    Ok(explored)
}

impl fmt::Display for FailingSeed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, error, trace } = self;
        writeln!(formatter, "seed {seed} fails: {error}")?;
        let hidden = trace.len().saturating_sub(EVENTS_SHOWN);
        if hidden > 0 {
            writeln!(formatter, "{:>14}  {hidden} events before", "…")?;
        }
        for event in &trace[hidden..] {
            writeln!(formatter, "{event}")?;
        }
        write!(formatter, "repeat it: WINDTUNNEL_SEED={seed} cargo test")
    }
}

impl fmt::Debug for FailingSeed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl std::error::Error for FailingSeed {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}
