//! Faults that are drawn.

use std::collections::{BTreeMap, BTreeSet};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng as _;
use windtunnel_core::env::unit_from_bits;
use windtunnel_core::event::Event;

use super::{EventPattern, Fault, FaultKind, Occurrences};

/// Faults that come at random: at each event where one can, with the rate of its kind.
///
/// ```
/// use windtunnel_sim::World;
/// use windtunnel_sim::fault::{FaultKind, RandomFaults};
///
/// let crashes = RandomFaults::of([FaultKind::HostCrash, FaultKind::NetworkReset]).rate(0.05).faults_max(3);
/// let world = World::new(7).random_faults(crashes);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RandomFaults {
    rates: BTreeMap<FaultKind, f64>,
    is_swarm: bool,
    faults_max: u32,
}

impl RandomFaults {
    /// Faults of these kinds, each at 2 % of the events where it can come, at most 5 a run.
    pub fn of(kinds: impl IntoIterator<Item = FaultKind>) -> Self {
        Self { rates: kinds.into_iter().map(|kind| (kind, 0.02)).collect(), is_swarm: false, faults_max: 5 }
    }

    /// All kinds, of which each seed draws a subset, with a rate for all of them: a run with few kinds, or many faults of
    /// one, finds what an even mixture does not.
    pub fn swarm() -> Self {
        Self::of(FaultKind::ALL).in_swarms()
    }

    /// Lets each seed draw a subset of the kinds, and a rate.
    #[must_use]
    pub fn in_swarms(self) -> Self {
        Self { is_swarm: true, ..self }
    }

    /// How likely a fault is at an event where it can come, from 0 to 1, for all kinds.
    #[must_use]
    pub fn rate(mut self, rate: f64) -> Self {
        self.rates.values_mut().for_each(|of_kind| *of_kind = rate);
        self
    }

    /// The rate of one kind.
    #[must_use]
    pub fn rate_of(mut self, kind: FaultKind, rate: f64) -> Self {
        self.rates.insert(kind, rate);
        self
    }

    /// Without these kinds.
    #[must_use]
    pub fn without(mut self, kinds: impl IntoIterator<Item = FaultKind>) -> Self {
        for kind in kinds {
            self.rates.remove(&kind);
        }
        self
    }

    /// How many there may be in a run.
    #[must_use]
    pub fn faults_max(self, faults_max: u32) -> Self {
        Self { faults_max, ..self }
    }

    /// The kinds that may come.
    pub fn kinds(&self) -> BTreeSet<FaultKind> {
        self.rates.iter().filter(|(_, rate)| **rate > 0.0).map(|(kind, _)| *kind).collect()
    }
}

/// Draws the faults of one run.
#[derive(Debug)]
pub(super) struct Drawing {
    rates: Vec<(FaultKind, f64)>,
    left: u32,
    generator: ChaCha8Rng,
    /// So that what was drawn can be planned.
    seen: Occurrences,
}

/// The rates that a swarm draws from.
const SWARM_RATES: [f64; 4] = [0.005, 0.02, 0.08, 0.25];

impl Drawing {
    pub(super) fn new(faults: &RandomFaults, mut generator: ChaCha8Rng) -> Self {
        let mut rates: Vec<_> = faults.rates.iter().map(|(kind, rate)| (*kind, *rate)).collect();
        if faults.is_swarm {
            let subset = generator.next_u64();
            rates = rates
                .into_iter()
                .enumerate()
                .filter(|(place, _)| subset >> (place % 64) & 1 == 1)
                .map(|(_, rate)| rate)
                .collect();
            let rate = SWARM_RATES[(generator.next_u64() % SWARM_RATES.len() as u64) as usize];
            rates.iter_mut().for_each(|(_, of_kind)| *of_kind = of_kind.min(1.0) * rate / 0.02);
        }
        Self { rates, left: faults.faults_max, generator, seen: Occurrences::default() }
    }

    /// The fault that comes at this event, if one does, as it would be planned.
    pub(super) fn at(&mut self, event: &Event) -> Option<Fault> {
        if self.left == 0 {
            return None;
        }
        let nth = self.seen.count(event);
        // Any of them may come first.
        let count = self.rates.len();
        let start = if count > 1 { (self.generator.next_u64() % count as u64) as usize } else { 0 };
        for place in 0..count {
            let (kind, rate) = self.rates[(start + place) % count];
            if kind.can_come_at(event) && unit_from_bits(self.generator.next_u64()) < rate {
                self.left -= 1;
                let when = EventPattern::of(event, nth);
                return Some(Fault::new(when, kind.action(unit_from_bits(self.generator.next_u64()))));
            }
        }
        None
    }
}
