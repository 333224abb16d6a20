//! A whole batch: guards, queues, attempts and the ledger together.

use std::time::Duration;

use super::{CallEnd, GuardModel, LedgerModel, PredictedEntry, QueuePrediction, RetryPrediction};
use crate::cases::{ArgumentsCase, BatchCall, BatchCase, CallCase, QueueCase, QueuedCall, RetryCase};

/// What a correct executor does with a [`BatchCase`] that is made at once in one fresh run.
///
/// ```
/// use std::collections::BTreeMap;
/// use std::time::Duration;
/// use windtunnel_core::executor::BackoffSettings;
/// use windtunnel_proptests::cases::{BatchCall, BatchCase, Ending, Script, Step, ToolPolicy};
/// use windtunnel_proptests::models::BatchPrediction;
///
/// let slow = Script::always(Step { takes: Duration::from_secs(1), ending: Ending::Value });
/// let call = |tool: &str| BatchCall { tool: tool.to_owned(), script: slow.clone() };
/// let case = BatchCase {
///     policies: BTreeMap::from([("search".to_owned(), ToolPolicy::default())]),
///     calls_max: None,
///     caps: BTreeMap::from([("search".to_owned(), 1)]),
///     backoff: BackoffSettings::default(),
///     calls: vec![call("search"), call("search"), call("nothing")],
/// };
/// let results = BatchPrediction::of(&case).results;
/// assert_eq!(results[1].finishes, Duration::from_secs(2));
/// assert_eq!(results[2].error, Some("tool-not-found"));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct BatchPrediction {
    /// The result of each call.
    pub results: Vec<PredictedResult>,
}

/// The result of one call.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictedResult {
    /// The kind of error, if it does not succeed.
    pub error: Option<&'static str>,
    /// How many attempts run.
    pub attempts: u32,
    /// When the first attempt begins, if any does.
    pub starts: Option<Duration>,
    /// When the call has its result.
    pub finishes: Duration,
}

impl PredictedResult {
    fn refused(error: &'static str) -> Self {
        Self { error: Some(error), attempts: 0, starts: None, finishes: Duration::ZERO }
    }
}

impl BatchPrediction {
    /// Plays the case through. Scripts must not end with control flow, which would end the batch.
    pub fn of(case: &BatchCase) -> Self {
        let mut guards = GuardModel::new(case.policies.clone(), case.calls_max);
        let mut results = vec![PredictedResult::refused("tool-not-found"); case.calls.len()];
        let mut admitted = Vec::new();
        for (index, call) in case.calls.iter().enumerate() {
            if !case.policies.contains_key(&call.tool) {
                continue;
            }
            match guards.commit(&Self::identity(index, call)).error_kind() {
                Some(error) => results[index] = PredictedResult::refused(error),
                None => admitted.push((index, RetryPrediction::of(&Self::alone(case, call)))),
            }
        }
        let turns = QueuePrediction::of(&Self::queue(case, &admitted)).turns;
        for ((index, retry), turn) in admitted.into_iter().zip(turns) {
            results[index] = PredictedResult {
                error: retry.end.error_kind(),
                attempts: retry.attempts(),
                starts: Some(turn.starts),
                finishes: turn.finishes,
            };
        }
        Self { results }
    }

    /// The ledger after the batch, where the call at each index has the id that `call_id` says.
    pub fn ledger(&self, case: &BatchCase, call_id: impl Fn(usize) -> String) -> LedgerModel {
        let mut ledger = LedgerModel::default();
        for (index, (call, result)) in case.calls.iter().zip(&self.results).enumerate() {
            ledger.add(PredictedEntry {
                call_id: call_id(index),
                tool: call.tool.clone(),
                error: result.error,
                attempts: result.attempts,
                duration: Some(result.finishes),
            });
        }
        ledger
    }

    fn identity(index: usize, call: &BatchCall) -> CallCase {
        let arguments = ArgumentsCase { number: 0, is_float: false, is_reordered: false };
        CallCase { id: index.to_string(), tool: call.tool.clone(), arguments }
    }

    fn alone(case: &BatchCase, call: &BatchCall) -> RetryCase {
        let policy = case.policies.get(&call.tool).cloned().unwrap_or_default();
        RetryCase {
            script: call.script.clone(),
            retries: policy.retries,
            timeout: policy.timeout,
            backoff: case.backoff,
            units: Vec::new(),
        }
    }

    fn queue(case: &BatchCase, admitted: &[(usize, RetryPrediction)]) -> QueueCase {
        let calls = admitted.iter().map(|(index, retry)| {
            debug_assert_ne!(retry.end, CallEnd::Interrupted, "control flow ends a batch");
            let tool = &case.calls[*index].tool;
            let policy = case.policies.get(tool).cloned().unwrap_or_default();
            QueuedCall {
                arrives: Duration::ZERO,
                runs_for: retry.elapsed(),
                kind: policy.kind(tool).to_owned(),
                is_exclusive: policy.is_exclusive,
            }
        });
        QueueCase { caps: case.caps.clone(), calls: calls.collect() }
    }
}
