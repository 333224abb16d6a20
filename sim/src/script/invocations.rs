//! What reached scripted tools.

use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::Value;

/// One attempt that reached a scripted tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Invocation {
    /// The tool's name.
    pub tool: Arc<str>,
    /// The arguments.
    pub arguments: Arc<Value>,
    /// The id of the call, the same for all its attempts.
    pub call_id: Arc<str>,
    /// Which attempt of the call it is, from 1.
    pub attempt: u32,
}

/// A log of invocations, in order. Clones share it, and so may several tools.
#[derive(Clone, Debug, Default)]
pub struct Invocations {
    log: Arc<Mutex<Vec<Invocation>>>,
}

impl Invocations {
    /// The invocations so far.
    pub fn to_vec(&self) -> Vec<Invocation> {
        self.log.lock().clone()
    }

    pub(crate) fn push(&self, invocation: Invocation) {
        self.log.lock().push(invocation);
    }
}
