//! The JSON form of what stores keep and what clients and servers send each other.
//!
//! Times are whole nanoseconds. What is read is checked as if it were made anew, so nothing enters that could not have been
//! stored. The order of members is kept: a workflow that reads a result again sees what it saw first.

use std::sync::Arc;
use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::checkpoint::Checkpoint;
use super::decision::Decision;
use super::error::DurableError;
use super::record::Record;

/// A checkpoint, not yet checked.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredCheckpoint {
    entry: Arc<str>,
    state: Arc<Value>,
}

impl From<Checkpoint> for StoredCheckpoint {
    fn from(checkpoint: Checkpoint) -> Self {
        Self { entry: Arc::clone(checkpoint.entry()), state: Arc::clone(checkpoint.state()) }
    }
}

impl TryFrom<StoredCheckpoint> for Checkpoint {
    type Error = DurableError;

    fn try_from(stored: StoredCheckpoint) -> Result<Self, DurableError> {
        Self::new(&stored.entry, Arc::unwrap_or_clone(stored.state))
    }
}

/// A decision, not yet checked.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum StoredDecision {
    Continue(StoredCheckpoint),
    Sleep {
        key: Arc<str>,
        duration_ns: u64,
        checkpoint: StoredCheckpoint,
    },
    WaitEvent {
        key: Arc<str>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timeout_ns: Option<u64>,
        checkpoint: StoredCheckpoint,
    },
    Complete {
        output: Arc<Value>,
    },
    Fail {
        kind: Arc<str>,
        message: Arc<str>,
    },
}

impl From<Decision> for StoredDecision {
    fn from(decision: Decision) -> Self {
        match decision {
            Decision::Continue(checkpoint) => Self::Continue(checkpoint.into()),
            Decision::Sleep { key, duration, checkpoint } => {
                Self::Sleep { key, duration_ns: whole_nanoseconds(duration), checkpoint: checkpoint.into() }
            }
            Decision::WaitEvent { key, timeout, checkpoint } => {
                Self::WaitEvent { key, timeout_ns: timeout.map(whole_nanoseconds), checkpoint: checkpoint.into() }
            }
            Decision::Complete(output) => Self::Complete { output },
            Decision::Fail { kind, message } => Self::Fail { kind, message },
        }
    }
}

impl TryFrom<StoredDecision> for Decision {
    type Error = DurableError;

    fn try_from(stored: StoredDecision) -> Result<Self, DurableError> {
        let owned = |value: Arc<Value>| Arc::unwrap_or_clone(value);
        match stored {
            StoredDecision::Continue(StoredCheckpoint { entry, state }) => Self::continue_(&entry, owned(state)),
            StoredDecision::Sleep { key, duration_ns, checkpoint: StoredCheckpoint { entry, state } } => {
                Self::sleep(&key, Duration::from_nanos(duration_ns), &entry, owned(state))
            }
            StoredDecision::WaitEvent { key, timeout_ns, checkpoint: StoredCheckpoint { entry, state } } => {
                Self::wait_event(&key, timeout_ns.map(Duration::from_nanos), &entry, owned(state))
            }
            StoredDecision::Complete { output } => Self::complete(owned(output)),
            StoredDecision::Fail { kind, message } => Self::fail(&kind, &message),
        }
    }
}

/// All of it, or as much as fits: 584 years.
pub(super) fn whole_nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

impl Serialize for Record {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.parts().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Record {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_json(&Value::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// A time, in whole nanoseconds.
pub(super) mod nanoseconds {
    use super::{Deserialize, Deserializer, Duration, Serialize, Serializer, whole_nanoseconds};

    pub(in super::super) fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        whole_nanoseconds(*duration).serialize(serializer)
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        Ok(Duration::from_nanos(u64::deserialize(deserializer)?))
    }
}

/// A time that may be missing, in whole nanoseconds.
pub(super) mod optional_nanoseconds {
    use super::{Deserialize, Deserializer, Duration, Serialize, Serializer, whole_nanoseconds};

    pub(in super::super) fn serialize<S: Serializer>(
        duration: &Option<Duration>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        duration.map(whole_nanoseconds).serialize(serializer)
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Duration>, D::Error> {
        Ok(Option::<u64>::deserialize(deserializer)?.map(Duration::from_nanos))
    }
}

#[cfg(test)]
mod tests {
    use serde::de::DeserializeOwned;
    use serde_json::json;

    use super::super::binding::{Binding, OperationKind};
    use super::super::claim::{Claim, Claimed, Fence, Wake};
    use super::super::commit::{Commit, Refusal};
    use super::super::history::{ActivationHistory, CommittedRecord, WorkflowHistory};
    use super::*;

    fn again<T: Serialize + DeserializeOwned>(value: &T) -> T {
        serde_json::from_str(&serde_json::to_string(value).unwrap()).unwrap()
    }

    fn record() -> Record {
        let arguments = json!({"z": 1, "a": [1.0, i64::MIN, i64::MAX, 1e-7, "\u{0}\u{7f}é"]});
        let binding = Binding::new("tool:turn:0", OperationKind::Tool, "orders:look_up", "1", arguments).unwrap();
        Record::new(binding, json!({"b": null, "a": {"y": [], "x": {}}})).unwrap()
    }

    #[test]
    fn records_are_read_back_with_their_members_in_order() {
        let read = again(&record());
        assert_eq!(read, record());
        let order = |record: &Record| serde_json::to_string(record).unwrap();
        assert_eq!(order(&read), order(&record()));
        assert_eq!(serde_json::to_value(&read).unwrap(), read.to_json());
        assert_eq!(order(&read).len(), read.bytes());
    }

    #[test]
    fn decisions_are_read_back() {
        let wait = Duration::from_nanos(86_400_000_000_001);
        let decisions = [
            Decision::continue_("turn", json!({"round": 2})),
            Decision::sleep("cool-down", wait, "turn", json!([1.0])),
            Decision::wait_event("approved", Some(wait), "pay", json!(null)),
            Decision::wait_event("approved", None, "pay", json!(1)),
            Decision::complete(json!(-0.0)),
            Decision::fail("refused", "no"),
        ];
        for decision in decisions.map(Result::unwrap) {
            assert_eq!(again(&decision), decision);
        }
    }

    #[test]
    fn what_could_not_have_been_stored_is_refused() {
        let refused = [
            json!({"continue": {"entry": "", "state": 1}}),
            json!({"continue": {"entry": "a", "state": "s".repeat(65_535)}}),
            json!({"continue": {"entry": "a"}}),
            json!({"sleep": {"key": "k", "duration_ns": u64::MAX, "checkpoint": {"entry": "a", "state": 1}}}),
            json!({"complete": {"output": u64::MAX}}),
            json!({"complete": {"output": 1, "more": 1}}),
            json!({"stop": {}}),
        ];
        for value in refused {
            assert!(serde_json::from_value::<Decision>(value.clone()).is_err(), "{value}");
        }
        let mut changed = record().to_json();
        changed["input"]["v"] = json!(2);
        let error = serde_json::from_value::<Record>(changed).unwrap_err();
        assert_eq!(error.to_string(), "$.input.v: only version 1 of the input is known");
    }

    #[test]
    fn claims_and_commits_are_read_back() {
        let claim = Claim {
            fence: Fence { workflow_id: "order-7".into(), activation_id: "activation-1".into(), attempt: 3 },
            workflow: "refund".into(),
            checkpoint: Checkpoint::new("start", json!({"order": 7})).unwrap(),
            wake: Wake::Event { key: "approved".into(), payload: json!({"by": "Ada"}).into() },
            records: vec![record().into()],
            failures: 2,
        };
        let claimed = Claimed::Activation(Box::new(claim));
        assert_eq!(serde_json::to_value(again(&claimed)).unwrap(), serde_json::to_value(&claimed).unwrap());
        let nothing = Claimed::Nothing { next: Some(Duration::from_millis(5)) };
        assert_eq!(serde_json::to_value(&nothing).unwrap(), json!({"nothing": {"next_ns": 5_000_000}}));
        for commit in [Commit::Acknowledged, Commit::Unknown, Commit::Refused(Refusal::Superseded)] {
            assert_eq!(again(&commit), commit);
        }
    }

    #[test]
    fn histories_are_read_back() {
        let activation = |decision| ActivationHistory {
            activation_id: "activation-1".into(),
            checkpoint: Checkpoint::new("start", json!(1.0)).unwrap(),
            wake: Some(Wake::Timer { key: "k".into() }),
            attempts: 2,
            failures: 1,
            records: vec![CommittedRecord { record: record().into(), attempt: 2 }],
            decision,
        };
        let history = WorkflowHistory {
            workflow_id: "order-7".into(),
            workflow: "refund".into(),
            activations: vec![
                activation(Some((Decision::continue_("turn", json!(2)).unwrap(), 2))),
                ActivationHistory { wake: None, ..activation(None) },
            ],
        };
        assert_eq!(again(&history), history);
    }
}
