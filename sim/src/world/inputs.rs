//! What a scenario asks its world for, so that it can be repeated and made smaller.

use std::collections::BTreeMap;

use parking_lot::Mutex;
use windtunnel_core::env::Rng as _;

use super::streams::Streams;

#[derive(Debug)]
pub(crate) struct Inputs {
    given: BTreeMap<String, Vec<u64>>,
    drawn: Mutex<BTreeMap<String, Vec<u64>>>,
}

impl Inputs {
    pub(super) fn new(given: BTreeMap<String, Vec<u64>>) -> Self {
        Self { given, drawn: Mutex::default() }
    }

    /// The next input of this name, below `count`. What is drawn is so also where something else is given, so that one input
    /// shifts no other.
    pub(super) fn draw(&self, name: &str, count: u64, streams: &Streams) -> u64 {
        let count = count.max(1);
        let by_seed = streams.next_u64(&format!("input/{name}")) % count;
        let mut drawn = self.drawn.lock();
        let of_name = drawn.entry(name.to_owned()).or_default();
        let given = self.given.get(name).and_then(|given| given.get(of_name.len()));
        let input = given.map_or(by_seed, |given| (*given).min(count - 1));
        of_name.push(input);
        input
    }

    pub(super) fn drawn(&self) -> BTreeMap<String, Vec<u64>> {
        self.drawn.lock().clone()
    }
}
