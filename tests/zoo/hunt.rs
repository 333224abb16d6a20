//! The exploration: one for all animals. It knows nothing of any of them.

use windtunnel::sim::fault::{FaultKind, RandomFaults};
use windtunnel::sim::{Campaign, CampaignReport, ExploreError, Failure, Schedule, SweepReport, World};

use super::{Animal, Twin};

/// How many seeds are tried before the sweep.
pub(crate) const SEEDS: u64 = 300;

/// The worlds: in half of them each order is as likely as any other, in the others rare ones come up.
pub(crate) fn world(seed: u64) -> World {
    let schedule = match seed % 2 {
        0 => Schedule::Fair,
        _ => Schedule::Ranked { changes: 2, steps: 60 },
    };
    World::new(seed).schedule(schedule)
}

/// All faults, but for a disk that lies about its flushes: no program on one disk survives that.
pub(crate) fn campaign() -> Campaign {
    let lie = FaultKind::DiskLoseFlush;
    Campaign::in_worlds(world as fn(u64) -> World)
        .seeds(0..SEEDS)
        .random_faults(RandomFaults::swarm().without([lie]))
        .kinds(FaultKind::ALL.into_iter().filter(|kind| *kind != lie))
}

/// Random faults over seeds, then each fault at each event, and pairs.
pub(crate) fn hunt(animal: &Animal, twin: Twin) -> Result<(CampaignReport, SweepReport), ExploreError> {
    let scenario = |world| (animal.scenario)(world, twin);
    let survived = campaign().run(scenario)?;
    Ok((survived, campaign().sweep(scenario)?))
}

/// The first failure that was found, if one was.
pub(crate) fn the_failure(error: ExploreError) -> Result<Failure, ExploreError> {
    match error {
        ExploreError::Failed(failure) => Ok(*failure),
        ExploreError::Swept(mut report) if !report.failures.is_empty() => Ok(report.failures.remove(0)),
        other => Err(other),
    }
}
