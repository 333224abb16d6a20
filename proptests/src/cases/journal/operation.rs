//! What is asked of a store of journals, in an order.

use std::time::Duration;

use serde_json::Value;

/// One thing that is done with a store, or with the world around it. What it says of claims is relative, so that a case
/// keeps its sense when operations are taken out of it.
#[derive(Clone, Debug, PartialEq)]
pub enum StoreOperation {
    /// A workflow is started.
    Start {
        /// Its identifier.
        workflow_id: String,
        /// Its name.
        workflow: String,
        /// The state of its first activation.
        state: Value,
    },
    /// Whatever is due is claimed.
    Claim {
        /// The names of the workflows that will do.
        workflows: Vec<String>,
        /// How long the claim is held.
        lease: Duration,
    },
    /// The lease of a claim begins anew.
    Extend {
        /// Of which one.
        fence: FenceChoice,
        /// For how long.
        lease: Duration,
    },
    /// The result of an operation is committed.
    CommitRecord {
        /// By which attempt.
        fence: FenceChoice,
        /// Under this key.
        key: String,
        /// This result.
        output: OutputChoice,
    },
    /// Many small results are committed, under keys of their own.
    CommitMany {
        /// By which attempt.
        fence: FenceChoice,
        /// How many.
        count: usize,
    },
    /// An activation is ended.
    CommitDecision {
        /// By which attempt.
        fence: FenceChoice,
        /// So.
        decision: DecisionChoice,
    },
    /// A claim is given up.
    Retry {
        /// Which one.
        fence: FenceChoice,
        /// When the next one may come.
        after: Duration,
        /// Whether the attempt has failed.
        is_failure: bool,
    },
    /// An event is delivered.
    Deliver {
        /// To which workflow.
        workflow_id: String,
        /// Under which key.
        key: String,
        /// What it says.
        payload: Value,
    },
    /// A workflow is read. All workflows are read after each operation in any case: this one may ask for an unknown one.
    Read {
        /// Which one.
        workflow_id: String,
    },
    /// The identifiers of all workflows are read.
    WorkflowIds,
    /// An earlier request is made again, exactly.
    Again {
        /// How many requests lie between.
        back: usize,
    },
    /// Time passes.
    Advance(Advance),
    /// The store is closed and opened again.
    Reopen,
}

/// With which fence a commit comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FenceChoice {
    /// That of an earlier claim, counted back from the last one.
    Claimed {
        /// How many claims came after it.
        back: usize,
    },
    /// An attempt that nobody has claimed yet, of an activation that was claimed.
    Unclaimed {
        /// How many claims came after it.
        back: usize,
    },
    /// An activation that does not exist, of a workflow that was claimed.
    OtherActivation {
        /// How many claims came after it.
        back: usize,
    },
    /// A workflow that does not exist.
    Stranger,
}

/// What a committed operation resulted in.
#[derive(Clone, Debug, PartialEq)]
pub enum OutputChoice {
    /// This value.
    Value(Value),
    /// A text of such a length that the journal is exactly full with its record, or that the record is as large as one may
    /// be, whichever is less.
    Fills,
    /// The same, one byte longer, where a record may be.
    Overflows,
}

/// How an activation ends.
#[derive(Clone, Debug, PartialEq)]
pub enum DecisionChoice {
    /// Another one follows at once.
    Continue {
        /// Its state.
        state: Value,
    },
    /// Another one follows after a time.
    Sleep {
        /// The time.
        duration: Duration,
    },
    /// Another one follows with an event.
    WaitEvent {
        /// Its key.
        key: String,
        /// How long it is waited for.
        timeout: Option<Duration>,
    },
    /// The workflow ends with a result.
    Complete {
        /// The result.
        output: Value,
    },
    /// The workflow ends without one.
    Fail,
}

/// How much time passes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Advance {
    /// So much.
    By(Duration),
    /// As much as until something is due that is not yet, or a nanosecond less or more. Nothing, where nothing will be.
    ToDue {
        /// Which one of those, in the order of their times, in a circle.
        nth: usize,
        /// Which side of it.
        side: Side,
    },
}

/// Around an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// A nanosecond before it.
    Before,
    /// Exactly then.
    At,
    /// A nanosecond after it.
    After,
}
