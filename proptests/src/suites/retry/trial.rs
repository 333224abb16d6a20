//! What is tried: one run, alone.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use parking_lot::Mutex;
use windtunnel_core::env::Env;

use super::operation::Notes;
use super::policy::optional;
use super::world::{AFTERWARDS, in_world};
use super::{Answer, Operation, Played, RetryClient, RetryPolicy, RetrySubject, RunEnding, answer};
use crate::suites::Case;

/// One run of one operation.
///
/// ```no_run
/// use std::time::Duration;
/// use windtunnel_proptests::suites::{Answer, ErrorClass, RetryPolicy, RetrySubject, RetryTrial};
///
/// # fn try_again(mine: impl RetrySubject) {
/// let trial = RetryTrial {
///     policy: RetryPolicy { retries: 2, ..RetryPolicy::default() },
///     answers: vec![Answer::failure(Duration::from_millis(30), ErrorClass::Transient)],
///     cancel_after: None,
/// };
/// let played = trial.play(&mine);
/// assert_eq!(played.calls.len(), 3, "{played}");
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RetryTrial {
    /// How it is retried.
    pub policy: RetryPolicy,
    /// What its calls do, in order; the last one repeats.
    pub answers: Vec<Answer>,
    /// When the run is dropped, if it has not ended before.
    pub cancel_after: Option<Duration>,
}

/// How many calls beyond what is allowed are answered.
const EXCESS_MAX: u32 = 4;

/// More calls than any trial needs.
const CALLS_MAX: u32 = 4_000;

impl RetryTrial {
    /// A run that is not cancelled.
    pub fn new(policy: RetryPolicy, answers: Vec<Answer>) -> Self {
        Self { policy, answers, cancel_after: None }
    }

    /// Tries it, in a world of its own.
    pub fn play<S: RetrySubject>(&self, subject: &S) -> Played {
        let notes = Arc::<Mutex<Notes>>::default();
        let noted = Arc::clone(&notes);
        let ended = in_world(self.policy.seed, |env| async move {
            let client = match subject.client(&self.policy, env.clone()) {
                Ok(client) => client,
                Err(reason) => return (RunEnding::Refused(reason), Duration::ZERO),
            };
            let run = client.run(operation(env.clone(), &self.policy, self.answers.clone(), noted));
            let ending = match self.cancel_after {
                None => RunEnding::Finished(run.await),
                Some(after) => env.timeout(after, run).await.map_or(RunEnding::Cancelled, RunEnding::Finished),
            };
            let ended = env.now();
            env.sleep(AFTERWARDS).await;
            (ending, ended)
        });
        let notes = notes.lock().clone();
        match ended {
            Ok((ending, ended)) => Played::new(notes, ending, Some(ended)),
            Err(RunEnding::Endless) if notes.calls.len() > calls_max(&self.policy) => {
                Played::new(notes, RunEnding::Stopped, None)
            }
            Err(ending) => Played::new(notes, ending, None),
        }
    }
}

/// How many calls are answered.
fn calls_max(policy: &RetryPolicy) -> usize {
    usize::try_from(policy.retries.saturating_add(1 + EXCESS_MAX).min(CALLS_MAX)).unwrap_or(usize::MAX)
}

/// An operation that answers so, and hangs once it is called much too often.
pub(super) fn operation(env: Env, policy: &RetryPolicy, answers: Vec<Answer>, notes: Arc<Mutex<Notes>>) -> Operation {
    let clock = env.clone();
    let body = move |call| answer::nth(&answers, call).play(clock.clone(), call).boxed();
    Operation::new(env, calls_max(policy), Arc::new(body), notes)
}

impl Case for RetryTrial {
    fn show(&self) -> String {
        let Self { policy, answers, cancel_after } = self;
        let mut lines = vec![format!("policy: {policy}"), format!("answers: {}", answer::as_rust(answers))];
        if let Some(after) = cancel_after {
            lines.push(format!("cancelled after: {after:?}"));
        }
        lines.join("\n")
    }

    fn reproduce(&self) -> Option<String> {
        let cancel_after = optional(self.cancel_after);
        Some(format!(
            "let trial = RetryTrial {{\n    policy: {},\n    answers: {},\n    cancel_after: {cancel_after},\n}};\n\
             println!(\"{{}}\", trial.play(&subject));",
            self.policy,
            answer::as_rust(&self.answers),
        ))
    }
}
