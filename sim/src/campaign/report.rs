//! What a campaign that found nothing went through.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use crate::assertion::{AssertionKind, Tally};
use crate::fault::{DeliveredFault, FaultKind};

/// What the runs of a campaign went through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CampaignReport {
    /// How many runs there were.
    pub seeds: u64,
    /// How many events they had.
    pub events: u64,
    /// How often each kind of fault came.
    pub delivered: BTreeMap<FaultKind, u64>,
    /// Kinds that were asked for, and never came.
    pub never_delivered: BTreeSet<FaultKind>,
    /// What was asserted, by name.
    pub assertions: BTreeMap<Arc<str>, Tally>,
    /// Names that were of one kind in some runs and of another in others: the first two kinds. That fails a campaign.
    pub ambiguous: BTreeMap<Arc<str>, [AssertionKind; 2]>,
}

impl CampaignReport {
    pub(super) fn add(&mut self, events: usize, faults: &[DeliveredFault], assertions: &BTreeMap<Arc<str>, Tally>) {
        self.seeds += 1;
        self.events += events as u64;
        for delivered in faults {
            *self.delivered.entry(delivered.fault.action.kind()).or_default() += 1;
        }
        for (name, tally) in assertions {
            match self.assertions.get_mut(name) {
                Some(sum) if sum.kind != tally.kind => {
                    self.ambiguous.entry(Arc::clone(name)).or_insert([sum.kind, tally.kind]);
                }
                Some(sum) => sum.add(*tally),
                None => {
                    self.assertions.insert(Arc::clone(name), *tally);
                }
            }
        }
    }

    /// What must be seen and was not: what must hold or be come to in some run, and what was expected to be evaluated.
    pub(super) fn unseen(&self, expected: &BTreeSet<String>) -> Vec<String> {
        let never_held =
            self.assertions.iter().filter(|(_, tally)| tally.is_unseen()).map(|(name, _)| name.to_string());
        let never_evaluated = expected.iter().filter(|name| !self.assertions.contains_key(name.as_str())).cloned();
        let unseen: BTreeSet<_> = never_held.chain(never_evaluated).collect();
        unseen.into_iter().collect()
    }
}

impl fmt::Display for CampaignReport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} runs, {} events", self.seeds, self.events)?;
        for (kind, count) in &self.delivered {
            write!(formatter, "\n  {:<28} came {count} times", kind.name())?;
        }
        for kind in &self.never_delivered {
            write!(formatter, "\n  {:<28} never came", kind.name())?;
        }
        for (name, tally) in &self.assertions {
            let kind = tally.kind.name();
            write!(formatter, "\n  {kind} {name:?}: held {} times, failed {}", tally.held, tally.failed)?;
        }
        Ok(())
    }
}
