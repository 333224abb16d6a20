//! What is tried: a run whose operation is itself a run.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use parking_lot::Mutex;

use super::operation::Notes;
use super::trial::operation;
use super::world::in_world;
use super::{
    Answer, ErrorClass, Operation, OperationError, Played, RetryClient, RetryFailure, RetryPolicy, RetrySubject,
    RunEnding, answer,
};
use crate::suites::Case;

/// Two loops, one in the other, around one operation.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NestedTrial {
    /// How runs of the inner loop are retried.
    pub(super) outer: RetryPolicy,
    /// How the operation is retried.
    pub(super) inner: RetryPolicy,
    /// What its calls do, in order; the last one repeats.
    pub(super) answers: Vec<Answer>,
}

impl NestedTrial {
    /// Tries it, in a world of its own. The calls are those of the operation itself.
    pub(super) fn play<S: RetrySubject>(&self, subject: &S) -> Played {
        let notes = Arc::<Mutex<Notes>>::default();
        let noted = Arc::clone(&notes);
        let ended = in_world(self.outer.seed, |env| async move {
            let outer = subject.client(&self.outer, env.clone());
            let inner = subject.client(&self.inner, env.clone());
            let (outer, inner) = match (outer, inner) {
                (Ok(outer), Ok(inner)) => (outer, Arc::new(inner)),
                (Err(reason), _) | (_, Err(reason)) => return (RunEnding::Refused(reason), Duration::ZERO),
            };
            let allowed = RetryPolicy { retries: self.calls_allowed(), ..self.inner.clone() };
            let leaf = operation(env.clone(), &allowed, self.answers.clone(), noted);
            let body = move |call| {
                let (inner, leaf) = (Arc::clone(&inner), leaf.clone());
                async move { inner.run(leaf).await.map_err(|failure| passed_on(call, failure)) }.boxed()
            };
            let calls_max = usize::try_from(self.calls_allowed()).unwrap_or(usize::MAX);
            let nesting = Operation::new(env.clone(), calls_max, Arc::new(body), Arc::default());
            let result = outer.run(nesting).await;
            (RunEnding::Finished(result), env.now())
        });
        let notes = notes.lock().clone();
        match ended {
            Ok((ending, ended)) => Played::new(notes, ending, Some(ended)),
            Err(ending) => Played::new(notes, ending, None),
        }
    }

    /// How many calls both loops together may make.
    pub(super) fn calls_allowed(&self) -> u32 {
        self.outer.retries.saturating_add(1).saturating_mul(self.inner.retries.saturating_add(1))
    }
}

/// What the outer loop sees of a run of the inner one.
fn passed_on(call: u32, failure: RetryFailure) -> OperationError {
    match failure {
        RetryFailure::Operation(error) => OperationError { call, ..error },
        RetryFailure::GaveUp(_) => {
            OperationError { call, class: ErrorClass::Transient, retry_after: None, retry_after_header: None }
        }
    }
}

impl Case for NestedTrial {
    fn show(&self) -> String {
        let Self { outer, inner, answers } = self;
        format!("outer: {outer}\ninner: {inner}\nanswers: {}", answer::as_rust(answers))
    }
}
