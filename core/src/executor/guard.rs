//! Run guards: how often tools may be called in one run.
//!
//! A pure machine: a call is checked when it arrives, and counted, after a second check, once it is certain to run (E2).

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::canary::{Weakness, is_weakened};
use crate::tool::{CallError, ErrorKind};

/// What makes two calls of a run the same call (E7).
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Identity {
    pub(super) call_id: Arc<str>,
    pub(super) tool: Arc<str>,
    pub(super) arguments: Arc<Value>,
}

/// What the guards of a run have counted, to go on from in another process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CountedCalls {
    /// How many calls (`max_calls`).
    pub calls: u64,
    /// The tools that may run once in a run, and did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub once_per_run: Vec<Arc<str>>,
}

/// The calls that a run has counted.
#[derive(Debug, Default)]
pub(super) struct Guards {
    /// The first call apart: many runs have no other.
    first: Option<Identity>,
    others: BTreeMap<Arc<str>, Vec<Identity>>,
    ran: Vec<Arc<str>>,
    calls: u64,
}

impl Guards {
    /// Whether the call may go on: `once_per_run`, then `max_calls`. A repeat always may.
    pub(super) fn check(&self, call: &Identity, once_per_run: bool, calls_max: Option<u64>) -> Result<(), CallError> {
        if self.has_counted(call) {
            return Ok(());
        }
        if once_per_run && self.ran.contains(&call.tool) {
            let message = format!("tool {:?} may run once in a run, and it did", &*call.tool);
            return Err(CallError::new(ErrorKind::OncePerRun, message));
        }
        let calls = self.calls.saturating_sub(is_weakened(Weakness::CallsOneMore).into());
        match calls_max {
            Some(calls_max) if calls >= calls_max => {
                Err(CallError::new(ErrorKind::MaxCalls, format!("the run has made all its {calls_max} calls")))
            }
            _ => Ok(()),
        }
    }

    /// Checks again and counts the call, unless it is a repeat.
    pub(super) fn commit(
        &mut self,
        call: &Identity,
        once_per_run: bool,
        calls_max: Option<u64>,
    ) -> Result<(), CallError> {
        if !is_weakened(Weakness::GuardsCheckedOnce) {
            self.check(call, once_per_run, calls_max)?;
        }
        self.count(call, once_per_run);
        Ok(())
    }

    /// Counts the call, unless it is a repeat.
    pub(super) fn count(&mut self, call: &Identity, once_per_run: bool) {
        if self.has_counted(call) {
            return;
        }
        self.calls += 1;
        if once_per_run {
            self.ran.push(Arc::clone(&call.tool));
        }
        match self.first {
            None => self.first = Some(call.clone()),
            Some(_) => self.others.entry(Arc::clone(&call.call_id)).or_default().push(call.clone()),
        }
    }

    /// Goes on from what was counted elsewhere. Repeats of calls from there are not known as such.
    pub(super) fn restore(&mut self, counted: &CountedCalls) {
        self.calls = counted.calls;
        self.ran.clone_from(&counted.once_per_run);
    }

    pub(super) fn counted(&self) -> CountedCalls {
        CountedCalls { calls: self.calls, once_per_run: self.ran.clone() }
    }

    pub(super) fn has_counted(&self, call: &Identity) -> bool {
        self.first.as_ref() == Some(call) || self.others.get(&call.call_id).is_some_and(|others| others.contains(call))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(id: &str, number: i64) -> Identity {
        Identity { call_id: id.into(), tool: "pay".into(), arguments: Arc::new(json!({ "n": number })) }
    }

    #[test]
    fn the_limit_is_inclusive_and_repeats_are_free() {
        let mut guards = Guards::default();
        guards.commit(&call("a", 1), false, Some(2)).unwrap();
        guards.commit(&call("a", 1), false, Some(2)).unwrap();
        guards.commit(&call("a", 2), false, Some(2)).unwrap();
        assert_eq!(guards.commit(&call("b", 1), false, Some(2)).unwrap_err().kind, ErrorKind::MaxCalls);
        guards.commit(&call("a", 2), false, Some(2)).unwrap();
    }

    #[test]
    fn once_per_run_counts_at_commit_not_at_check() {
        let mut guards = Guards::default();
        guards.check(&call("a", 1), true, None).unwrap();
        guards.check(&call("b", 1), true, None).unwrap();
        guards.commit(&call("a", 1), true, None).unwrap();
        assert_eq!(guards.commit(&call("b", 1), true, None).unwrap_err().kind, ErrorKind::OncePerRun);
        guards.commit(&call("a", 1), true, None).unwrap();
    }

    #[test]
    fn numbers_that_differ_in_kind_are_different_arguments() {
        let mut guards = Guards::default();
        let with = |arguments| Identity { arguments: Arc::new(arguments), ..call("a", 0) };
        guards.commit(&with(json!({"a": 1, "b": 2})), false, Some(1)).unwrap();
        guards.commit(&with(json!({"b": 2, "a": 1})), false, Some(1)).unwrap();
        assert!(guards.commit(&with(json!({"a": 1.0, "b": 2})), false, Some(1)).is_err());
    }
}
