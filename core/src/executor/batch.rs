//! Several calls at once, in one run.

use std::sync::Arc;

use futures_core::stream::BoxStream;
use futures_util::stream::{FuturesUnordered, StreamExt};
use futures_util::{TryStreamExt, stream};

use super::call::ToolCall;
use super::flow::{self, Target};
use super::handle::Executor;
use super::result::ToolResult;
use crate::tool::Interrupted;

/// One finished call of a batch.
#[derive(Clone, Debug)]
pub struct Completed {
    /// The place of the call in the batch, from 0.
    pub index: usize,
    /// Its result.
    pub result: ToolResult,
}

impl Executor {
    /// Makes all calls at once, in one run, and gives their results in the order of the calls.
    ///
    /// Calls queue for locks and caps in the order given. A pre-approval covers none of them (E8).
    ///
    /// # Errors
    /// [`Interrupted`] as soon as control flow passes through one of them; the others are then dropped.
    pub async fn run_many(&self, calls: impl IntoIterator<Item = ToolCall>) -> Result<Vec<ToolResult>, Interrupted> {
        let mut completed: Vec<_> = self.as_completed(calls).try_collect().await?;
        completed.sort_unstable_by_key(|completed: &Completed| completed.index);
        Ok(completed.into_iter().map(|completed| completed.result).collect())
    }

    /// Makes all calls at once, in one run, and gives each result as soon as it is there.
    ///
    /// Nothing runs until the stream is polled. Dropping it drops the calls that have not finished.
    pub fn as_completed(
        &self,
        calls: impl IntoIterator<Item = ToolCall>,
    ) -> BoxStream<'static, Result<Completed, Interrupted>> {
        let calls: Vec<_> = calls.into_iter().collect();
        let executor = self.clone();
        let batch = async move {
            // Each call holds on to the run: a fresh one ends with the last of them.
            let run = Arc::new(executor.enter_run());
            let running: FuturesUnordered<_> = calls
                .into_iter()
                .enumerate()
                .map(|(index, call)| {
                    let (executor, run) = (executor.clone(), Arc::clone(&run));
                    async move {
                        let result = flow::execute(&executor, &run, call, Target::Registered, None).await?;
                        Ok(Completed { index, result })
                    }
                })
                .collect();
            running
        };
        stream::once(batch).flatten().boxed()
    }
}
