//! What a packet meets on its way from one host to another. Pure but for its generators.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng as _;
use windtunnel_core::env::unit_from_bits;

use super::fabric::Place;
use crate::world::Streams;

/// How one direction between two hosts behaves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkSettings {
    /// The shortest time that a packet takes. Default 0.5 ms.
    pub latency_min: Duration,
    /// The longest; the shortest, if it is below that. Default 2 ms.
    pub latency_max: Duration,
    /// How likely a packet is lost, from 0 to 1; TCP sends it again, so that it comes later, after twelve losses in a row at
    /// the latest. To let nothing through, partition the hosts. Anything else fails the run
    /// ([`WorldError::InvalidLoss`](crate::WorldError::InvalidLoss)). Default 0.
    pub loss: f64,
}

impl LinkSettings {
    /// Whether every packet can be drawn by them.
    pub(crate) fn is_valid(&self) -> bool {
        (0.0..=1.0).contains(&self.loss)
    }
}

impl Default for LinkSettings {
    fn default() -> Self {
        Self { latency_min: Duration::from_micros(500), latency_max: Duration::from_millis(2), loss: 0.0 }
    }
}

/// What is wrong with a way for a time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Disturbance {
    /// How long a packet takes.
    pub(crate) latency: Option<Duration>,
    /// How likely one is lost.
    pub(crate) loss: Option<f64>,
}

/// A direction.
pub(super) type Way = (Place, Place);

#[derive(Debug)]
pub(super) struct Links {
    settings: BTreeMap<Way, LinkSettings>,
    /// What holds instead, for a time.
    disturbed: BTreeMap<Way, Disturbance>,
    default: LinkSettings,
    cut: BTreeSet<Way>,
    generators: BTreeMap<Way, ChaCha8Rng>,
}

/// How a packet gets through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Passage {
    pub(super) latency_ns: u64,
    /// How often it is lost before.
    pub(super) losses: u32,
}

/// A century: longer than any world lasts, and far below what a clock can count.
const LATENCY_MAX_NS: u64 = 100 * 365 * 24 * 60 * 60 * 1_000_000_000;

/// How often one packet may be lost, however likely that is: then a connection is nearly given up.
const LOSSES_MAX: u32 = 12;

impl Links {
    pub(super) fn new() -> Self {
        Self {
            settings: BTreeMap::new(),
            disturbed: BTreeMap::new(),
            default: LinkSettings::default(),
            cut: BTreeSet::new(),
            generators: BTreeMap::new(),
        }
    }

    pub(super) fn set_default(&mut self, settings: LinkSettings) {
        self.default = settings;
    }

    pub(super) fn set(&mut self, way: Way, settings: LinkSettings) {
        self.settings.insert(way, settings);
    }

    /// The settings of a way, as they are now.
    pub(super) fn get(&self, way: Way) -> LinkSettings {
        let mut settings = self.settings.get(&way).copied().unwrap_or(self.default);
        let disturbance = self.disturbed.get(&way).copied().unwrap_or_default();
        if let Some(latency) = disturbance.latency {
            (settings.latency_min, settings.latency_max) = (latency, latency);
        }
        settings.loss = disturbance.loss.unwrap_or(settings.loss);
        settings
    }

    /// Changes what is wrong with a way. Whether that is a change.
    pub(super) fn disturb(&mut self, way: Way, change: impl Fn(&mut Disturbance)) -> bool {
        let disturbance = self.disturbed.entry(way).or_default();
        let before = *disturbance;
        change(disturbance);
        *disturbance != before
    }

    /// Whether that is a change.
    pub(super) fn cut(&mut self, way: Way, is_cut: bool) -> bool {
        if is_cut { self.cut.insert(way) } else { self.cut.remove(&way) }
    }

    pub(super) fn is_cut(&self, way: Way) -> bool {
        self.cut.contains(&way)
    }

    pub(super) fn cut_ways(&self) -> Vec<Way> {
        self.cut.iter().copied().collect()
    }

    /// Draws how the next packet gets through. Each way has a stream of its own.
    pub(super) fn draw(&mut self, way: Way, streams: &Streams) -> Passage {
        let settings = self.get(way);
        let named = || streams.generator(&format!("network/{}>{}", way.0.0, way.1.0));
        let generator = self.generators.entry(way).or_insert_with(named);
        let (min_ns, max_ns) = (nanoseconds(settings.latency_min), nanoseconds(settings.latency_max));
        let span_ns = max_ns.saturating_sub(min_ns);
        let latency_ns = min_ns + if span_ns == 0 { 0 } else { generator.next_u64() % (span_ns + 1) };
        let mut losses = 0;
        while settings.loss > 0.0 && losses < LOSSES_MAX && unit_from_bits(generator.next_u64()) < settings.loss {
            losses += 1;
        }
        Passage { latency_ns, losses }
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX).min(LATENCY_MAX_NS)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAY: Way = (Place(0), Place(1));

    #[test]
    fn latency_and_loss_are_drawn_within_their_bounds_and_each_way_alone() {
        let (streams, mut links) = (Streams::new(7), Links::new());
        let settings = LinkSettings { loss: 0.25, ..LinkSettings::default() };
        links.set(WAY, settings);
        let drawn: Vec<_> = (0..2000).map(|_| links.draw(WAY, &streams)).collect();
        assert!(drawn.iter().all(|passage| (500_000..=2_000_000).contains(&passage.latency_ns)));
        let lost = drawn.iter().filter(|passage| passage.losses > 0).count();
        assert!((430..570).contains(&lost), "{lost} of 2000 lost");
        let mut busy = Links::new();
        busy.set(WAY, settings);
        let again = drawn.iter().map(|_| (busy.draw((Place(1), Place(0)), &streams), busy.draw(WAY, &streams)).1);
        assert_eq!(again.collect::<Vec<_>>(), drawn);
    }

    #[test]
    fn latencies_without_bound_are_a_century_at_the_most() {
        let (streams, mut links) = (Streams::new(7), Links::new());
        for latency_max in [Duration::MAX, Duration::from_nanos(u64::MAX)] {
            links.set(WAY, LinkSettings { latency_min: Duration::ZERO, latency_max, loss: 0.0 });
            assert!(links.draw(WAY, &streams).latency_ns <= LATENCY_MAX_NS);
        }
    }

    #[test]
    fn a_cut_is_of_one_way() {
        let mut links = Links::new();
        links.cut(WAY, true);
        assert!(links.is_cut(WAY) && !links.is_cut((Place(1), Place(0))));
        links.cut(WAY, false);
        assert!(!links.is_cut(WAY));
    }
}
