//! What is tried: many runs at once.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use parking_lot::Mutex;
use windtunnel_core::env::Env;

use super::operation::Notes;
use super::trial::operation;
use super::world::in_world;
use super::{Answer, Played, RetryClient, RetryPolicy, RetrySubject, RunEnding, answer};
use crate::suites::Case;

/// Runs that begin one after the other, and overlap. Each of them has an operation of its own, and all do the same.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CrowdTrial {
    /// How each is retried.
    pub(super) policy: RetryPolicy,
    /// What the calls of each do, in order; the last one repeats.
    pub(super) answers: Vec<Answer>,
    /// How many runs there are.
    pub(super) runs: u64,
    /// How many of them, the first ones, succeed at once instead.
    pub(super) successes: u64,
    /// How far their beginnings are apart.
    pub(super) apart: Duration,
    /// Whether each has a client of its own, with a seed of its own; else all share one.
    pub(super) is_apart: bool,
}

impl CrowdTrial {
    /// Tries it, in a world of its own: the runs, in order. Their times count from the world's beginning.
    ///
    /// # Errors
    /// How it ended, if not by itself.
    pub(super) fn play<S: RetrySubject>(&self, subject: &S) -> Result<Vec<Played>, RunEnding> {
        let ended = in_world(self.policy.seed, |env| async move {
            let client = |seed| subject.client(&RetryPolicy { seed, ..self.policy.clone() }, env.clone());
            let mut clients = Vec::new();
            let seeds = if self.is_apart { self.runs } else { 1 };
            for number in 0..seeds {
                clients.push(client(self.policy.seed.wrapping_add(number))?);
            }
            let runs = (0..self.runs).map(|number| {
                let client = &clients[usize::try_from(number % seeds).unwrap_or_default()];
                self.run(client, env.clone(), number)
            });
            Ok(join_all(runs).await)
        });
        ended.and_then(|ran: Result<_, String>| ran.map_err(RunEnding::Refused))
    }

    async fn run(&self, client: &impl RetryClient, env: Env, number: u64) -> Played {
        env.sleep(self.apart.saturating_mul(u32::try_from(number).unwrap_or(u32::MAX))).await;
        let notes = Arc::<Mutex<Notes>>::default();
        let answers = if number < self.successes { Vec::new() } else { self.answers.clone() };
        let operation = operation(env.clone(), &self.policy, answers, Arc::clone(&notes));
        let result = client.run(operation).await;
        let notes = notes.lock().clone();
        Played::new(notes, RunEnding::Finished(result), Some(env.now()))
    }
}

impl Case for CrowdTrial {
    fn show(&self) -> String {
        let Self { policy, answers, runs, successes, apart, is_apart } = self;
        let clients = if *is_apart { "a client each" } else { "one client" };
        let answers = answer::as_rust(answers);
        format!(
            "policy: {policy}\nanswers: {answers}\nruns: {runs}, {apart:?} apart, with {clients}; the first {successes} succeed"
        )
    }
}
