//! Who waits for whom: cycles, and lines to read. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::registry::{Claim, Party, Wanted};

/// What was held and waited for at one instant.
#[derive(Clone, Debug)]
pub struct WaitGraph {
    holds: Vec<Claim>,
    waits: Vec<Claim>,
}

/// A hold, and the wait that keeps its holder from giving it back: places in `holds` and `waits`.
type Step = (usize, usize);

impl WaitGraph {
    pub(super) fn new(claims: impl Iterator<Item = Claim>) -> Self {
        let (holds, waits) = claims.partition(|claim| claim.is_held);
        Self { holds, waits }
    }

    /// The tasks that wait for something that is known, themselves or with what is called in them.
    pub fn tasks(&self) -> BTreeSet<u64> {
        let tasks = self.waits.iter().flat_map(|wait| wait.parties.iter());
        tasks.filter_map(|party| if let Party::Task(task) = party { Some(*task) } else { None }).collect()
    }

    /// The cycles, each over as many lines as there are in it and one, then the other waits, sorted.
    pub fn lines(&self, task_name: impl Fn(u64) -> String) -> Vec<String> {
        let name = |party: Option<&Party>| match party {
            Some(Party::Named(name)) => name.to_string(),
            Some(Party::Task(task)) => task_name(*task),
            None => "a task of a library".to_owned(),
        };
        let cycles = self.cycles();
        let mut lines = Vec::new();
        for cycle in &cycles {
            lines.push("a cycle, in which none goes on before another:".to_owned());
            lines.extend(cycle.iter().map(|step| format!("  {}", self.step(*step, &name))));
        }
        let in_cycles: BTreeSet<usize> = cycles.iter().flatten().map(|(_, wait)| *wait).collect();
        let others = (0..self.waits.len()).filter(|wait| !in_cycles.contains(wait) && !self.is_explained(*wait));
        let mut others: Vec<_> = others
            .map(|wait| {
                let wait = &self.waits[wait];
                format!("{} waits for {}", name(wait.parties.first()), self.wanted(wait, &name))
            })
            .collect();
        others.sort_unstable();
        others.dedup();
        lines.extend(others);
        lines
    }

    fn step(&self, (hold, wait): Step, name: &impl Fn(Option<&Party>) -> String) -> String {
        let (hold, wait) = (&self.holds[hold], &self.waits[wait]);
        let (holder, waiter) = (name(hold.parties.first()), name(wait.parties.first()));
        let within = if holder == waiter { String::new() } else { format!(", in {waiter},") };
        let (held, wanted) = (hold.wanted.text(), self.wanted(wait, name));
        format!("{holder} holds {held} and waits{within} for {wanted}")
    }

    fn wanted(&self, wait: &Claim, name: &impl Fn(Option<&Party>) -> String) -> String {
        let holders: BTreeSet<String> = self.holders(wait).map(|hold| name(self.holds[hold].parties.first())).collect();
        let text = wait.wanted.text();
        if holders.is_empty() {
            return text.to_string();
        }
        format!("{text}, held by {}", holders.into_iter().collect::<Vec<_>>().join(" and "))
    }

    /// Whether somebody within this one says what it really waits for.
    fn is_explained(&self, wait: usize) -> bool {
        let Some(who @ Party::Named(_)) = self.waits[wait].parties.first() else { return false };
        self.waits.iter().any(|other| other.parties.iter().skip(1).any(|party| party == who))
    }

    fn holders<'a>(&'a self, wait: &'a Claim) -> impl Iterator<Item = usize> + 'a {
        (0..self.holds.len()).filter(|hold| self.holds[*hold].wanted.is_same_resource(&wait.wanted))
    }

    /// What keeps a holder from giving back what it holds: its own waits, and those of whoever is within it.
    fn hindrances<'a>(&'a self, hold: usize) -> impl Iterator<Item = usize> + 'a {
        let holder = &self.holds[hold].parties;
        (0..self.waits.len()).filter(move |wait| {
            let waiter = &self.waits[*wait].parties;
            holder.first().is_some_and(|party| waiter.contains(party))
                || waiter.first().is_some_and(|party| holder.contains(party))
        })
    }

    /// The waits that never end: for something all of whose holders are kept by such waits.
    fn deadlocked(&self) -> BTreeSet<usize> {
        // Looked up once: of a long row of waits each round finds one.
        let holders: Vec<Vec<usize>> = self.waits.iter().map(|wait| self.holders(wait).collect()).collect();
        let hindrances: Vec<Vec<usize>> = (0..self.holds.len()).map(|hold| self.hindrances(hold).collect()).collect();
        let mut deadlocked: BTreeSet<usize> = (0..self.waits.len()).collect();
        loop {
            let is_kept = |of_hold: &Vec<usize>| of_hold.iter().any(|hindrance| deadlocked.contains(hindrance));
            let kept: Vec<bool> = hindrances.iter().map(is_kept).collect();
            let remains = |wait: &usize| !holders[*wait].is_empty() && holders[*wait].iter().all(|hold| kept[*hold]);
            let remaining: BTreeSet<usize> = deadlocked.iter().copied().filter(remains).collect();
            if remaining.len() == deadlocked.len() {
                return deadlocked;
            }
            deadlocked = remaining;
        }
    }

    /// Disjoint cycles, in the order in which the waits lead to them. Each of their waits is for what the next step holds.
    fn cycles(&self) -> Vec<Vec<Step>> {
        let deadlocked = self.deadlocked();
        let next = |wait: usize| {
            self.holders(&self.waits[wait]).find_map(|hold| {
                let hindrance = self.hindrances(hold).find(|hindrance| deadlocked.contains(hindrance))?;
                Some((hold, hindrance))
            })
        };
        let mut seen = BTreeSet::new();
        let mut cycles = Vec::new();
        for start in &deadlocked {
            // Where each wait of this walk stands in it.
            let (mut places, mut walk) = (BTreeMap::new(), Vec::new());
            let mut wait = *start;
            while seen.insert(wait) {
                places.insert(wait, walk.len());
                let Some(step) = next(wait) else { break };
                walk.push(step);
                wait = step.1;
            }
            // The last step leads to the first wait of the cycle.
            if let Some(place) = places.get(&wait)
                && let Some(last) = walk.pop()
            {
                walk.insert(*place, last);
                cycles.push(walk.split_off(*place));
            }
        }
        cycles
    }
}

impl Wanted {
    fn text(&self) -> &Arc<str> {
        match self {
            Self::Resource(text) | Self::Other(text) => text,
        }
    }

    fn is_same_resource(&self, other: &Self) -> bool {
        matches!((self, other), (Self::Resource(one), Self::Resource(other)) if Arc::ptr_eq(one, other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::Waits;

    /// Claims such as `"ann holds fork"` or `"bob in team wants knife"`, in the order of arrival.
    #[track_caller]
    fn check(claims: &[&str], expected: &[&str]) {
        let mut resources: BTreeMap<&str, Arc<str>> = BTreeMap::new();
        let claims = claims.iter().map(|claim| {
            let words: Vec<_> = claim.split(' ').collect();
            let (parties, [verb, name]) = words.split_at(words.len() - 2) else { panic!("{claim}") };
            let parties = parties.iter().filter(|party| **party != "in").map(|party| match party.parse() {
                Ok(task) => Party::Task(task),
                Err(_) => Party::Named((*party).into()),
            });
            let resource = Arc::clone(resources.entry(name).or_insert_with(|| (*name).into()));
            let wanted = if *verb == "awaits" { Wanted::Other(resource) } else { Wanted::Resource(resource) };
            Claim { parties: parties.collect(), wanted, is_held: *verb == "holds" }
        });
        let lines = WaitGraph::new(claims).lines(|task| format!("task {task}"));
        assert_eq!(lines, expected);
    }

    #[test]
    fn whoever_waits_for_a_holder_that_goes_on_is_in_no_cycle() {
        check(&["ann holds fork", "bob wants fork"], &["bob waits for fork, held by ann"]);
        check(&["bob wants fork"], &["bob waits for fork"]);
        // One of the two that hold it may go on.
        check(
            &["ann holds fork", "bob holds fork", "ann holds knife", "bob wants knife", "ann awaits dinner"],
            &["ann waits for dinner", "bob waits for knife, held by ann"],
        );
    }

    #[test]
    fn those_who_wait_for_each_other_are_a_cycle_and_who_waits_for_them_is_not_in_it() {
        check(
            &["ann holds fork", "bob holds knife", "cid wants fork", "ann wants knife", "bob wants fork"],
            &[
                "a cycle, in which none goes on before another:",
                "  ann holds fork and waits for knife, held by bob",
                "  bob holds knife and waits for fork, held by ann",
                "cid waits for fork, held by ann",
            ],
        );
    }

    #[test]
    fn one_may_wait_for_itself() {
        let expected =
            ["a cycle, in which none goes on before another:", "  ann holds fork and waits for fork, held by ann"];
        check(&["ann holds fork", "ann wants fork"], &expected);
    }

    #[test]
    fn a_holder_is_kept_by_whoever_is_within_it() {
        check(
            &[
                "ann in 1 holds fork",
                "bob in 2 holds knife",
                "ivy in ann in 1 wants knife",
                "2 wants fork",
                "ann in 1 awaits ivy",
            ],
            &[
                "a cycle, in which none goes on before another:",
                "  ann holds fork and waits, in ivy, for knife, held by bob",
                "  bob holds knife and waits, in task 2, for fork, held by ann",
            ],
        );
    }

    #[test]
    fn a_place_of_several_is_a_deadlock_only_if_all_its_holders_are_in_it() {
        let fork = ["ann holds fork", "bob holds fork", "cid holds knife", "cid wants fork", "ann wants knife"];
        check(&fork, &["ann waits for knife, held by cid", "cid waits for fork, held by ann and bob"]);
        let all = [&fork[..], &["bob wants knife"]].concat();
        check(
            &all,
            &[
                "a cycle, in which none goes on before another:",
                "  cid holds knife and waits for fork, held by ann and bob",
                "  ann holds fork and waits for knife, held by cid",
                "bob waits for knife, held by cid",
            ],
        );
    }

    #[test]
    fn disjoint_cycles_are_told_apart_and_any_length_is_found() {
        check(
            &[
                "ann holds 1a",
                "bob holds 1b",
                "ann wants 1b",
                "bob wants 1a",
                "x holds 2x",
                "y holds 2y",
                "z holds 2z",
                "x wants 2y",
                "y wants 2z",
                "z wants 2x",
            ],
            &[
                "a cycle, in which none goes on before another:",
                "  ann holds 1a and waits for 1b, held by bob",
                "  bob holds 1b and waits for 1a, held by ann",
                "a cycle, in which none goes on before another:",
                "  x holds 2x and waits for 2y, held by y",
                "  y holds 2y and waits for 2z, held by z",
                "  z holds 2z and waits for 2x, held by x",
            ],
        );
    }

    #[test]
    fn what_a_task_found_unready_counts_until_its_next_turn() {
        let waits = Waits::default();
        let lines = || waits.graph().lines(|task| format!("task {task}"));
        waits.begin_turn(3);
        waits.found_unready("data");
        let guard = waits.wait("an answer");
        waits.end_turn();
        waits.found_unready("what nobody in a task waits for");
        assert_eq!(lines(), ["task 3 waits for an answer", "task 3 waits for data"]);
        waits.begin_turn(3);
        waits.end_turn();
        assert_eq!(lines(), ["task 3 waits for an answer"]);
        drop(guard);
        assert!(lines().is_empty());
    }
}
