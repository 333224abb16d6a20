//! What a client may ask.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::durable::checkpoint::Checkpoint;
use crate::durable::claim::Fence;
use crate::durable::decision::Decision;
use crate::durable::record::Record;
use crate::durable::stored::nanoseconds;

/// The version of the protocol: of its frames, messages, methods and JSON forms. Any change that the other side could not
/// read is another version.
pub(super) const VERSION: u64 = 1;

/// A method with its parameters.
#[derive(Serialize, Deserialize)]
#[serde(tag = "method", content = "params", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Request {
    Hello {
        version: u64,
    },
    Start {
        workflow_id: Arc<str>,
        workflow: Arc<str>,
        checkpoint: Checkpoint,
    },
    Claim {
        workflows: Vec<Arc<str>>,
        #[serde(rename = "lease_ns", with = "nanoseconds")]
        lease: Duration,
    },
    Extend {
        fence: Fence,
        #[serde(rename = "lease_ns", with = "nanoseconds")]
        lease: Duration,
    },
    CommitRecord {
        fence: Fence,
        record: Arc<Record>,
    },
    CommitDecision {
        fence: Fence,
        decision: Decision,
    },
    Retry {
        fence: Fence,
        #[serde(rename = "after_ns", with = "nanoseconds")]
        after: Duration,
        is_failure: bool,
    },
    Deliver {
        workflow_id: Arc<str>,
        key: Arc<str>,
        payload: Value,
    },
    Read {
        workflow_id: Arc<str>,
        from: usize,
    },
    WorkflowIds {
        from: usize,
    },
}

impl Request {
    /// Every method.
    pub(super) const METHODS: [&str; 10] = [
        "hello",
        "start",
        "claim",
        "extend",
        "commit_record",
        "commit_decision",
        "retry",
        "deliver",
        "read",
        "workflow_ids",
    ];
}
