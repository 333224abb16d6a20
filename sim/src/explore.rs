//! A scenario over many seeds.

use std::fmt;
use std::ops::Range;

use windtunnel_core::event::Event;

use crate::{World, WorldError, WorldHandle};

/// How many of the last events a failure shows.
const EVENTS_SHOWN: usize = 12;

/// The variable that narrows an exploration to one seed.
const SEED_VARIABLE: &str = "WINDTUNNEL_SEED";

/// What an exploration that found nothing went through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explored {
    /// How many seeds passed.
    pub seeds: u64,
    /// How many events they had.
    pub events: u64,
}

/// An exploration found a failure, or could not begin. Its debug form is its story too, so that `unwrap` in a test tells
/// it.
#[derive(thiserror::Error)]
pub enum ExploreError {
    /// A seed failed.
    #[error(transparent)]
    Failed(#[from] FailingSeed),
    /// There is no seed in the range.
    #[error("there are no seeds in {}..{}", .seeds.start, .seeds.end)]
    NoSeeds {
        /// The range.
        seeds: Range<u64>,
    },
    /// The environment variable does not name a seed.
    #[error("{SEED_VARIABLE} is {value:?}; set it to a whole number, or not at all")]
    InvalidSeed {
        /// What it says.
        value: String,
    },
}

/// The first seed that failed.
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
/// [`ExploreError::Failed`] with what it takes to repeat the failure; the others if there is nothing to run.
pub fn explore<F, Fut>(seeds: Range<u64>, scenario: F) -> Result<Explored, ExploreError>
where
    F: Fn(WorldHandle) -> Fut + Sync,
    Fut: Future<Output = ()>,
{
    explore_in(World::new, seeds, scenario)
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
/// let explored = explore_in(slow, 0..10, |_world| async move { /* … */ })?;
/// assert_eq!(explored.seeds, 10);
/// # Ok::<(), windtunnel_sim::ExploreError>(())
/// ```
///
/// # Errors
/// As [`explore`].
pub fn explore_in<F, Fut>(
    world: impl Fn(u64) -> World,
    seeds: Range<u64>,
    scenario: F,
) -> Result<Explored, ExploreError>
where
    F: Fn(WorldHandle) -> Fut + Sync,
    Fut: Future<Output = ()>,
{
    let seeds = match std::env::var_os(SEED_VARIABLE) {
        None => seeds,
        Some(value) => only(&value.to_string_lossy())?,
    };
    if seeds.is_empty() {
        return Err(ExploreError::NoSeeds { seeds });
    }
    let mut explored = Explored { seeds: 0, events: 0 };
    for seed in seeds {
        let run = world(seed).run(&scenario);
        if let Err(error) = run.outcome {
            return Err(FailingSeed { seed, error, trace: run.trace }.into());
        }
        explored.seeds += 1;
        explored.events += run.trace.len() as u64;
    }
    Ok(explored)
}

/// The range of the one seed that a variable names.
fn only(value: &str) -> Result<Range<u64>, ExploreError> {
    let seed = value.parse().ok().filter(|seed: &u64| *seed < u64::MAX);
    seed.map(|seed| seed..seed + 1).ok_or_else(|| ExploreError::InvalidSeed { value: value.to_owned() })
}

impl fmt::Display for FailingSeed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, error, trace } = self;
        writeln!(formatter, "seed {seed} fails: {error}")?;
        if trace.is_empty() {
            writeln!(formatter, "  no events: give the executor the sink `world.trace()`")?;
        }
        let hidden = trace.len().saturating_sub(EVENTS_SHOWN);
        if hidden > 0 {
            writeln!(formatter, "{:>14}  {hidden} events before", "…")?;
        }
        for event in &trace[hidden..] {
            writeln!(formatter, "{event}")?;
        }
        write!(formatter, "repeat it: {SEED_VARIABLE}={seed} cargo test")?;
        // A test's thread has the test's name.
        match std::thread::current().name() {
            None | Some("main") => Ok(()),
            Some(test) => write!(formatter, " {test}"),
        }
    }
}

impl fmt::Debug for FailingSeed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl fmt::Debug for ExploreError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl std::error::Error for FailingSeed {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_to_repeat_is_a_whole_number() {
        assert_eq!(only("7").unwrap(), 7..8);
        for value in ["", "abc", "-1", "0x10", "3..4", "18446744073709551615"] {
            let message = format!("WINDTUNNEL_SEED is {value:?}; set it to a whole number, or not at all");
            assert_eq!(only(value).unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn an_exploration_of_nothing_is_refused() {
        let nothing = explore(5..5, |_world| async {}).unwrap_err();
        assert_eq!(nothing.to_string(), "there are no seeds in 5..5");
    }
}
