//! Chance: independent named streams from one seed.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng};
use sha2::{Digest, Sha256};
use windtunnel_core::env::Rng;

/// One ChaCha8 generator for each stream name. Frozen and portable: the same seed, name and draw give the same number
/// on every machine and in every version.
#[derive(Debug)]
pub(crate) struct Streams {
    seed: u64,
    generators: Mutex<BTreeMap<String, ChaCha8Rng>>,
}

impl Streams {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, generators: Mutex::default() }
    }

    /// The generator of a stream, from its beginning.
    pub(crate) fn generator(&self, stream: &str) -> ChaCha8Rng {
        let hash = Sha256::new().chain_update(self.seed.to_le_bytes()).chain_update(stream.as_bytes()).finalize();
        ChaCha8Rng::from_seed(hash.into())
    }
}

/// The streams of the world, or those of one host under names of their own: what one host draws shifts nothing of another.
#[derive(Debug)]
pub(crate) struct SharedStreams {
    pub(crate) streams: Arc<Streams>,
    pub(crate) host: Option<Arc<str>>,
}

impl Rng for SharedStreams {
    fn next_u64(&self, stream: &str) -> u64 {
        match &self.host {
            None => self.streams.next_u64(stream),
            Some(host) => self.streams.next_u64(&format!("{host}/{stream}")),
        }
    }
}

impl Rng for Streams {
    fn next_u64(&self, stream: &str) -> u64 {
        let mut generators = self.generators.lock();
        if let Some(generator) = generators.get_mut(stream) {
            return generator.next_u64();
        }
        let mut generator = self.generator(stream);
        let drawn = generator.next_u64();
        generators.insert(stream.to_owned(), generator);
        drawn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_frozen() {
        let streams = Streams::new(7);
        let drawn: Vec<_> = ["a", "b", "a"].iter().map(|stream| format!("{:016x}", streams.next_u64(stream))).collect();
        assert_eq!(drawn, ["3c9355eb7c8fa441", "db8d090ffca8424d", "22568397c3cf626b"]);
    }

    #[test]
    fn a_draw_from_one_stream_does_not_shift_another() {
        let (quiet, busy) = (Streams::new(7), Streams::new(7));
        for _ in 0..10 {
            busy.next_u64("other");
        }
        assert_eq!(quiet.next_u64("backoff"), busy.next_u64("backoff"));
        assert_ne!(Streams::new(8).next_u64("backoff"), Streams::new(7).next_u64("backoff"));
    }
}
