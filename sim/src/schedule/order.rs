//! How the next task is chosen.

use std::collections::BTreeMap;
use std::sync::Arc;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng as _;
use serde::{Deserialize, Serialize};

/// How a world orders tasks that could go on at the same instant. Each order follows from the seed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Schedule {
    /// Each of them is as likely as any other.
    #[default]
    Fair,
    /// Each task has a rank of its own, and the first by rank goes on. At a few steps, drawn over the first `steps`, the
    /// task that would have gone on becomes the last of all. This finds orders that a fair draw hardly ever comes to: where
    /// one task must stand still while another goes far.
    Ranked {
        /// How many such steps there are.
        changes: u32,
        /// Over how many choices they are spread.
        steps: u64,
    },
    /// The order in which they became ready.
    Arrival,
    /// The order in which they became ready, but for some choices, counted from 1 among those where several tasks could go
    /// on: there the task of this number goes on, if it can. Tasks are numbered from 1 in the order of their spawning, the
    /// scenario is 0. So a failure's order is repeated, and made smaller ([`Run::choices`](crate::Run::choices)).
    Chosen(Arc<BTreeMap<u64, u64>>),
}

/// How often ranks change at the most.
const CHANGES_MAX: u32 = 10_000;

/// One task that could go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    /// Of the task; 0 of the scenario.
    pub(super) number: u64,
    pub(super) rank: u64,
}

/// Draws. Pure but for its generator.
#[derive(Debug)]
pub(super) struct Chooser {
    schedule: Schedule,
    generator: ChaCha8Rng,
    /// The steps at which ranks change, in order.
    changes: Vec<u64>,
    step: u64,
    /// The numbers of those that were chosen, if they are kept.
    chosen: Option<Vec<u64>>,
    /// Ranks of tasks that became the last: each is behind all before.
    last_rank: u64,
}

/// What is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// The one at this place.
    At(usize),
    /// The one at this place gets this rank, and another is chosen.
    Demote(usize, u64),
}

impl Chooser {
    pub(super) fn new(schedule: Schedule, mut generator: ChaCha8Rng, keeps_choices: bool) -> Self {
        let mut changes = Vec::new();
        if let Schedule::Ranked { changes: count, steps } = schedule {
            changes.extend((0..count.min(CHANGES_MAX)).map(|_| 1 + generator.next_u64() % steps.max(1)));
            changes.sort_unstable();
            changes.reverse();
        }
        let chosen = keeps_choices.then(Vec::new);
        Self { schedule, generator, changes, step: 0, chosen, last_rank: u64::MAX / 2 }
    }

    /// Whether candidates are alike, so that any may be taken out of their row without keeping its order.
    pub(super) fn is_fair(&self) -> bool {
        self.schedule == Schedule::Fair
    }

    /// Chooses one of so many that are alike.
    pub(super) fn choose_of(&mut self, count: usize) -> usize {
        if count <= 1 { 0 } else { (self.generator.next_u64() % count as u64) as usize }
    }

    /// Keeps the number of the one that was chosen of several.
    pub(super) fn keep(&mut self, number: impl FnOnce() -> u64) {
        if let Some(chosen) = &mut self.chosen {
            chosen.push(number());
        }
    }

    pub(super) fn take_chosen(&mut self) -> Option<Vec<u64>> {
        self.chosen.take()
    }

    /// The rank of a new task.
    pub(super) fn rank(&mut self) -> u64 {
        match &self.schedule {
            Schedule::Ranked { .. } => self.generator.next_u64() / 4,
            Schedule::Fair | Schedule::Arrival | Schedule::Chosen(_) => 0,
        }
    }

    /// Chooses one of at least one. One alone costs no draw.
    pub(super) fn choose(&mut self, mut candidates: impl ExactSizeIterator<Item = Candidate>) -> Choice {
        let count = candidates.len();
        if count <= 1 {
            return Choice::At(0);
        }
        match &self.schedule {
            Schedule::Arrival => Choice::At(0),
            Schedule::Fair => Choice::At(self.choose_of(count)),
            Schedule::Chosen(chosen) => {
                self.step += 1;
                let wanted = chosen.get(&self.step);
                let place = wanted.and_then(|wanted| candidates.position(|candidate| candidate.number == *wanted));
                Choice::At(place.unwrap_or(0))
            }
            Schedule::Ranked { .. } => {
                let first = candidates.enumerate().min_by_key(|(_, candidate)| candidate.rank);
                let place = first.map_or(0, |(place, _)| place);
                self.step += 1;
                if self.changes.last().is_some_and(|change| *change < self.step) {
                    self.changes.pop();
                    self.last_rank += 1;
                    return Choice::Demote(place, self.last_rank);
                }
                Choice::At(place)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rand_chacha::rand_core::SeedableRng;

    use super::*;

    fn chooser(schedule: Schedule) -> Chooser {
        Chooser::new(schedule, ChaCha8Rng::from_seed([7; 32]), false)
    }

    fn candidates(ranks: &[u64]) -> impl ExactSizeIterator<Item = Candidate> {
        ranks.iter().enumerate().map(|(number, rank)| Candidate { number: number as u64, rank: *rank })
    }

    #[test]
    fn a_fair_choice_comes_to_each_about_as_often() {
        let mut chooser = chooser(Schedule::Fair);
        let mut counts = [0; 4];
        for _ in 0..4000 {
            let Choice::At(place) = chooser.choose(candidates(&[0; 4])) else { panic!("no rank changes") };
            counts[place] += 1;
        }
        assert!(counts.iter().all(|count| (900..1100).contains(count)), "{counts:?}");
    }

    #[test]
    fn the_first_by_rank_goes_on_until_it_becomes_the_last() {
        let mut chooser = chooser(Schedule::Ranked { changes: 2, steps: 10 });
        let mut ranks = [5, 3, 9];
        let mut order = Vec::new();
        while order.len() < 20 {
            match chooser.choose(candidates(&ranks)) {
                Choice::At(place) => order.push(place),
                Choice::Demote(place, rank) => ranks[place] = rank,
            }
        }
        order.dedup();
        assert_eq!(order, [1, 0, 2], "each change takes the first of its rank");
    }

    #[test]
    fn one_alone_costs_no_draw() {
        let mut alone = chooser(Schedule::Fair);
        for _ in 0..100 {
            assert_eq!(alone.choose(candidates(&[0])), Choice::At(0));
        }
        let (mut first, mut second) = (alone, chooser(Schedule::Fair));
        for _ in 0..100 {
            assert_eq!(first.choose(candidates(&[0; 9])), second.choose(candidates(&[0; 9])));
        }
    }
}
