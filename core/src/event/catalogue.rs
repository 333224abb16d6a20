//! The catalogue of events (E13).

use std::sync::Arc;

use serde::Serialize;

/// What happened, with its data, which is its JSON form. Durations are in seconds, costs in US dollars, attempts count from 1.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum EventKind {
    /// A run scope was entered.
    RunStarted {},
    /// A run scope was left; no event of the run follows.
    RunFinished {},
    /// A call arrived.
    ToolStarted {
        /// The tool's name.
        tool: Arc<str>,
    },
    /// An attempt is about to run.
    ToolAttempt {
        /// The tool's name.
        tool: Arc<str>,
        /// This attempt.
        attempt: u32,
    },
    /// An attempt failed and another will follow.
    ToolRetry {
        /// The tool's name.
        tool: Arc<str>,
        /// The attempt that failed.
        attempt: u32,
        /// How it failed: `timeout`, `retryable` (a `ToolError` that says so), `foreign` or `panic`.
        cause: &'static str,
        /// How long to wait before the next one, in seconds.
        delay_s: f64,
    },
    /// A call has its result.
    ToolFinished {
        /// The tool's name.
        tool: Arc<str>,
        /// `ok` or `error`.
        status: &'static str,
        /// The error's kind (E6).
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'static str>,
        /// How many attempts ran.
        attempts: u32,
        /// Whether the value came from the cache.
        cached: bool,
        /// From arrival to result, in seconds.
        duration_s: f64,
    },
    /// A call waits for a decision that comes later (E8).
    ToolPending {
        /// The tool's name.
        tool: Arc<str>,
        /// The approval it waits for.
        approval_id: Arc<str>,
    },
    /// The cache had the value.
    ToolCacheHit {
        /// The tool's name.
        tool: Arc<str>,
    },
    /// A decision was asked for.
    ApprovalRequested {
        /// The tool's name.
        tool: Arc<str>,
        /// The approval.
        approval_id: Arc<str>,
    },
    /// A decision came.
    ApprovalDecided {
        /// The tool's name.
        tool: Arc<str>,
        /// The approval.
        approval_id: Arc<str>,
        /// Whether the call may run.
        approved: bool,
        /// Whether the reviewer changed the arguments.
        edited: bool,
    },
    /// A program's evaluation began.
    ProgramStarted {
        /// The program's name, empty if it has none.
        program: Arc<str>,
        /// Its schema's version.
        version: &'static str,
    },
    /// An evaluation is about to make one attempt of a call.
    ProgramCall {
        /// The tool's name.
        tool: Arc<str>,
        /// Where the call stands in the program, such as `$.body[1].params[0]`. A body of a function or lambda stands there
        /// once, however often it is evaluated.
        path: Arc<str>,
        /// This attempt.
        attempt: u32,
    },
    /// An attempt of an evaluation's call ended.
    ProgramAnswer {
        /// The tool's name.
        tool: Arc<str>,
        /// This attempt.
        attempt: u32,
        /// `ok`, `error` or `interrupted`.
        status: &'static str,
        /// The error's kind (V6a).
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'static str>,
        /// How long it took, in seconds.
        duration_s: f64,
    },
    /// An attempt of an evaluation's call failed and another will follow (V7).
    ProgramRetry {
        /// The tool's name.
        tool: Arc<str>,
        /// The attempt that failed.
        attempt: u32,
        /// The kind of its error (V6a).
        cause: &'static str,
        /// How long to wait before the next one, in seconds.
        delay_s: f64,
    },
    /// A program's evaluation is over.
    ProgramFinished {
        /// `ok`, `error`, `interrupted` by control flow, or `cancelled` when it was dropped.
        status: &'static str,
        /// The error's kind (V6a).
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'static str>,
        /// How many nodes it evaluated.
        nodes: u64,
        /// How many attempts of tools it made.
        tool_calls: u64,
        /// From beginning to end, in seconds.
        duration_s: f64,
    },
    /// A model was asked for a turn.
    ModelStarted {
        /// The model's name.
        model: Arc<str>,
        /// The turn, from 1.
        turn: u32,
    },
    /// A model answered or failed.
    ModelFinished {
        /// The model's name.
        model: Arc<str>,
        /// The turn, from 1.
        turn: u32,
        /// `ok` or `error`.
        status: &'static str,
        /// The error's kind.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'static str>,
        /// How many tools it called.
        tool_calls: usize,
        /// Tokens it read.
        input_tokens: u64,
        /// Tokens it wrote.
        output_tokens: u64,
    },
    /// An attempt of a workflow's activation begins.
    ActivationStarted {
        /// The workflow's name.
        workflow: Arc<str>,
        /// Where it begins.
        entry: Arc<str>,
        /// This attempt.
        attempt: u64,
        /// Why the activation began: `started`, `continued`, `timer`, `event` or `timeout`.
        wake: &'static str,
        /// How many records it can replay.
        records: usize,
    },
    /// The decision of an attempt is about to be committed.
    ActivationDecided {
        /// The workflow's name.
        workflow: Arc<str>,
        /// This attempt.
        attempt: u64,
        /// `continue`, `sleep`, `wait_event`, `complete` or `fail`.
        decision: &'static str,
    },
    /// The commit of a decision was not acknowledged, and what was really committed has been read back.
    ActivationReconciled {
        /// The workflow's name.
        workflow: Arc<str>,
        /// This attempt.
        attempt: u64,
        /// `decided`, `open`, `superseded` or, if it could not be read, `unknown`.
        status: &'static str,
    },
    /// An attempt abandons itself to replay what it has committed, to find what replays otherwise.
    ActivationReplayed {
        /// The workflow's name.
        workflow: Arc<str>,
        /// This attempt.
        attempt: u64,
        /// How many records it can replay.
        records: usize,
    },
    /// An attempt failed and another will follow.
    ActivationRetry {
        /// The workflow's name.
        workflow: Arc<str>,
        /// The attempt that failed.
        attempt: u64,
        /// The kind of its error (D4a), `entry-failed` or `entry-panicked`.
        cause: &'static str,
        /// How long to wait before the next one, in seconds.
        delay_s: f64,
    },
    /// An attempt is over.
    ActivationFinished {
        /// The workflow's name.
        workflow: Arc<str>,
        /// This attempt.
        attempt: u64,
        /// `decided`, `failed`, `superseded`, `uncertain`, or `cancelled` when it was dropped.
        status: &'static str,
        /// What it decided.
        #[serde(skip_serializing_if = "Option::is_none")]
        decision: Option<&'static str>,
        /// The kind of its error.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'static str>,
        /// How many callables ran.
        executed: usize,
        /// How many requests were answered from the journal.
        replayed: usize,
        /// From beginning to end, in seconds.
        duration_s: f64,
    },
    /// The callable of an operation is about to run.
    OperationStarted {
        /// The key.
        operation: Arc<str>,
        /// `model` or `tool`.
        kind: &'static str,
        /// The callable's name.
        callable: Arc<str>,
        /// This attempt of the activation.
        attempt: u64,
    },
    /// The callable of an operation ended: its effect has happened, and nothing is committed yet (D8).
    OperationExecuted {
        /// The key.
        operation: Arc<str>,
        /// `ok` or `error`.
        status: &'static str,
        /// The error's kind (D4a).
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'static str>,
        /// How long it took, in seconds.
        duration_s: f64,
    },
    /// The record of an operation is about to be committed.
    OperationCommit {
        /// The key.
        operation: Arc<str>,
        /// The size of the record.
        bytes: usize,
    },
    /// The store answered to the commit of a record.
    OperationCommitted {
        /// The key.
        operation: Arc<str>,
        /// `acknowledged`, `refused` or `unknown`.
        status: &'static str,
    },
    /// A request was answered from the journal.
    OperationReplayed {
        /// The key.
        operation: Arc<str>,
        /// `model` or `tool`.
        kind: &'static str,
        /// The callable's name.
        callable: Arc<str>,
    },
    /// A request was refused: its callable did not run.
    OperationRefused {
        /// The key, unless it is no key.
        operation: Arc<str>,
        /// The error's kind (D4a).
        error: &'static str,
    },
    /// The body of a tool that can be given faults is about to run.
    ToolBody {
        /// The tool's name.
        tool: Arc<str>,
    },
    /// A model that can be given faults is about to be asked.
    ModelRequest {
        /// The model's name.
        model: Arc<str>,
    },
    /// A journal that can be given faults is about to be asked to commit.
    JournalCommit {
        /// `record` or `decision`.
        commit: &'static str,
    },
    /// Something really happened outside, whatever is known of it inside.
    EffectHappened {
        /// What happened.
        effect: Arc<str>,
        /// The idempotency key under which it was asked for.
        #[serde(skip_serializing_if = "Option::is_none")]
        key: Option<Arc<str>>,
    },
    /// A guest says where it is.
    Mark {
        /// What it calls the place.
        mark: Arc<str>,
    },
    /// The program of a host begins a life.
    HostStarted {},
    /// A host's process was killed.
    HostCrashed {},
    /// A host lost its power.
    HostPowerCut {},
    /// A host's process stands still.
    HostPaused {},
    /// A host's process goes on.
    HostResumed {},
    /// A host's wall clock was set.
    ClockSet {
        /// How far it is ahead of the world's, in seconds; below 0, behind.
        ahead_s: f64,
    },
    /// A host asks another one for a connection.
    NetworkConnect {
        /// The other host.
        to: Arc<str>,
        /// Its port.
        port: u16,
    },
    /// A host hands bytes to a connection.
    NetworkSend {
        /// The host at the other end.
        to: Arc<str>,
        /// How many.
        bytes: usize,
    },
    /// A host has taken bytes from a connection.
    NetworkReceive {
        /// The host at the other end.
        from: Arc<str>,
        /// How many.
        bytes: usize,
    },
    /// A host writes to a file of its disk.
    DiskWrite {
        /// How many bytes.
        bytes: usize,
    },
    /// A host asks its disk to make a file or a directory durable.
    DiskSync {},
    /// Nothing gets through to another host any more.
    LinkCut {
        /// The other host.
        to: Arc<str>,
    },
    /// Everything gets through to another host again.
    LinkRestored {
        /// The other host.
        to: Arc<str>,
    },
    /// All connections with another host were broken.
    LinkReset {
        /// The other host.
        to: Arc<str>,
    },
    /// The way to another host has other properties now.
    LinkSet {
        /// The other host.
        to: Arc<str>,
        /// The shortest time that a packet takes, in seconds.
        latency_min_s: f64,
        /// The longest, in seconds.
        latency_max_s: f64,
        /// How likely a packet is lost.
        loss: f64,
    },
    /// A fault was delivered.
    FaultDelivered {
        /// Its kind, such as `host.crash`.
        fault: &'static str,
    },
    /// All faults are over and repaired: from now on the world must come to its end.
    WorldHealed {},
    /// An assertion does not hold.
    AssertionFailed {
        /// Its name.
        assertion: Arc<str>,
    },
}
