//! Durable workflows, and what befalls the workers that run them.

use std::time::Duration;

/// A workflow: a line of activations, of which each one passes a number on to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkflowCase {
    /// The activations, at least one.
    pub activations: Vec<ActivationCase>,
    /// Whether the last one completes the workflow, and does not fail it.
    pub completes: bool,
}

/// What one activation does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActivationCase {
    /// Its operations, at least one. The key of each follows from its place.
    pub operations: Vec<OperationCase>,
    /// In which order it makes them. An operation may come several times.
    pub steps: Vec<StepCase>,
    /// How it goes on, unless it is the last one.
    pub next: NextCase,
    /// What its entry does with errors.
    pub manners: Manners,
}

/// What an entry does with the error of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manners {
    /// Passes it on.
    PassesOn,
    /// Fails with an error of its own, which says nothing of it.
    Hides,
    /// Panics.
    Panics,
    /// Goes on as if nothing were where a commit was not acknowledged, and tries to make a decision. Passes others on.
    Ignores,
}

/// What a callable does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationCase {
    /// How long each run takes.
    pub takes: Duration,
    /// How its runs end.
    pub ending: CallableEnding,
}

/// How the runs of a callable end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallableEnding {
    /// Each one succeeds.
    Succeeds,
    /// The first one fails, and the entry with it.
    FailsFirst,
    /// Each one fails, and the entry with it.
    Fails,
    /// Each one fails, and the entry goes on without its result.
    FailsUnminded,
}

/// What an entry does next. Operations are named by their places, in a circle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepCase {
    /// Makes operations at the same time.
    AtOnce(Vec<usize>),
    /// In the first attempt only, polls an operation so often and then drops it.
    Dropped {
        /// Which one.
        operation: usize,
        /// How often.
        polls: usize,
    },
}

/// How an activation goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextCase {
    /// At once.
    Continue,
    /// After a time.
    Sleep(Duration),
    /// With an event, or at the timeout.
    WaitEvent {
        /// Which event.
        key: usize,
        /// The timeout.
        timeout: Option<Duration>,
    },
}

/// Workflows, the workers that run them, and all that goes wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerCase {
    /// The workflows, each started once.
    pub workflows: Vec<WorkflowCase>,
    /// For each worker the lives that end too early. After them it lives on.
    pub workers: Vec<Vec<LifeCase>>,
    /// How long the workers hold an activation.
    pub lease: Duration,
    /// What happens to the first requests to the store, one after another.
    pub faults: Vec<StoreFault>,
    /// The events that are delivered.
    pub deliveries: Vec<DeliveryCase>,
    /// How long the world holds up the steps after the first events of the log.
    pub delays: Vec<Duration>,
    /// How the workers replay.
    pub replay: ReplayCase,
}

/// How workers replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplayCase {
    /// They abandon an attempt after each record, and enter it again.
    pub is_constant: bool,
    /// They compare the order of operations with that of the records.
    pub is_strict: bool,
}

/// A life of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LifeCase {
    /// When it ends.
    pub ends: LifeEnd,
    /// How long it takes until the next one.
    pub rest: Duration,
}

/// When a worker is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LifeEnd {
    /// After so many polls.
    Polls(usize),
    /// After a time.
    After(Duration),
}

/// What happens to a request to a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreFault {
    /// How long it is on its way.
    pub before: Duration,
    /// How it ends.
    pub ending: FaultEnding,
    /// How long the answer is on its way.
    pub after: Duration,
}

/// How a request to a store ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultEnding {
    /// As it should.
    Well,
    /// It is done, and its answer is lost.
    AnswerLost,
    /// It is not done, and nobody knows.
    RequestLost,
    /// It is not done, and the store says so.
    Rejected,
    /// As it should, and also if nobody waits any more. A claim is lost with the one who made it.
    Unattended,
    /// Nobody knows, and it is done later.
    Overdue,
}

/// An event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliveryCase {
    /// To which workflow, in a circle.
    pub workflow: usize,
    /// Which event.
    pub key: usize,
    /// When it comes.
    pub at: Duration,
    /// What it says.
    pub payload: u64,
}

impl ActivationCase {
    /// The operation of a place, in a circle.
    pub fn operation(&self, place: usize) -> usize {
        place.checked_rem(self.operations.len()).unwrap_or_default()
    }

    /// The same, one thing after another, with nothing that differs from attempt to attempt.
    #[must_use]
    pub fn in_order(self) -> Self {
        let one_by_one = |step| match step {
            StepCase::AtOnce(places) => places,
            StepCase::Dropped { operation, .. } => vec![operation],
        };
        let places = self.steps.into_iter().flat_map(one_by_one);
        let steps = places.map(|place| StepCase::AtOnce(vec![place])).collect();
        let operations = self.operations.into_iter().map(OperationCase::in_order).collect();
        Self { steps, operations, ..self }
    }

    /// Whether it drops an operation on its way.
    pub fn drops(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, StepCase::Dropped { .. }))
    }
}

impl OperationCase {
    /// What fails and leaves no record has no place in an order.
    fn in_order(self) -> Self {
        let ending = match self.ending {
            CallableEnding::FailsUnminded => CallableEnding::Succeeds,
            ending => ending,
        };
        Self { ending, ..self }
    }
}

impl StoreFault {
    /// Nothing happens.
    pub const NONE: Self = Self { before: Duration::ZERO, ending: FaultEnding::Well, after: Duration::ZERO };
}

/// The key of the operation at a place.
pub fn operation_key(place: usize) -> String {
    format!("operation-{place}")
}

/// The key of an event.
pub fn event_key(place: usize) -> String {
    format!("event-{place}")
}
