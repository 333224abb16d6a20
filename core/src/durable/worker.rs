//! Drives activations: claims one, replays its journal, runs it, commits its decision.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use super::activation::OrderCheck;
use super::checkpoint::Checkpoint;
use super::claim::{Claim, Claimed, Fence};
use super::decision::Decision;
use super::encoding::encode;
use super::error::DurableError;
use super::retry::{ActivationRetry, AttemptError};
use super::run::Run;
use super::store::{JournalStore, Started, StoreError};
use super::workflow::Workflow;
use crate::env::Env;
use crate::event::{Emitter, Sink};

const LEASE: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_secs(1);

/// A worker over one store. Many may share a store, in one process or in many; and one worker may run many times at once.
///
/// ```
/// use serde_json::json;
/// use windtunnel_core::BoxError;
/// use windtunnel_core::durable::{
///     Decision, JournalStore, MemoryStore, OperationKind, Worker, Workflow, WorkflowContext,
/// };
/// use windtunnel_core::env::Env;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), BoxError> {
/// let greet = Workflow::new("greet").entry("start", |context: WorkflowContext, name: String| async move {
///     let arguments = json!({"name": name});
///     let text: String = context
///         .operation("tool:greet", OperationKind::Tool, "greetings:hello", "1", arguments, |arguments, call| async move {
///             // A service that takes `call.idempotency_key` can tell a repeat.
///             Ok::<_, BoxError>(format!("hello {}, {} digits", arguments["name"], call.idempotency_key.len()))
///         })
///         .await?;
///     context.complete(&text)
/// });
/// let env = Env::system();
/// let store = MemoryStore::new(env.clone());
/// let worker = Worker::new(store.clone()).env(env).workflow(greet);
/// worker.start("greeting-1", "greet", "start", &"Ada").await?;
/// worker.run_until_idle().await?;
/// let history = store.read("greeting-1").await?.ok_or("it was started")?;
/// assert_eq!(history.outcome(), Some(&Decision::complete(json!("hello \"Ada\", 64 digits"))?));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Worker {
    pub(super) store: Arc<dyn JournalStore>,
    pub(super) workflows: BTreeMap<Arc<str>, Workflow>,
    names: Vec<Arc<str>>,
    pub(super) env: Env,
    pub(super) emitter: Emitter,
    pub(super) lease: Duration,
    poll: Duration,
    pub(super) retry: ActivationRetry,
    pub(super) order: OrderCheck,
    pub(super) replays_always: bool,
}

/// What one turn of a worker came to.
#[derive(Debug)]
pub enum Turn {
    /// An attempt was made.
    Attempt {
        /// Which one.
        fence: Fence,
        /// How it ended.
        ending: Ending,
    },
    /// Nothing is due.
    Nothing {
        /// After which time something is, if that is known.
        next: Option<Duration>,
    },
}

/// How an attempt ended.
#[derive(Debug)]
#[non_exhaustive]
pub enum Ending {
    /// Its decision is committed. With an error, that made the workflow fail.
    Decided {
        /// The decision.
        decision: Decision,
        /// Why the workflow failed, if its last attempt did.
        error: Option<AttemptError>,
    },
    /// It failed, and another one is due after a time.
    Retried {
        /// The time.
        after: Duration,
        /// What it failed with.
        error: AttemptError,
    },
    /// Another attempt has claimed the activation since: nothing of this one counts but what it had committed before.
    Superseded,
    /// Whether its decision is committed could not be found out. If it is not, another attempt follows when the lease is
    /// over.
    Uncertain,
}

/// A workflow was not started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The worker does not know the workflow, so it would never run.
    #[error("there is no workflow {workflow:?} here; add it to the worker before it is started")]
    UnknownWorkflow {
        /// Its name.
        workflow: String,
    },
    /// The entry or the state does not serve.
    #[error(transparent)]
    Invalid(#[from] DurableError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Worker {
    /// A worker without workflows, on the operating system's environment.
    pub fn new(store: impl JournalStore + 'static) -> Self {
        let env = Env::system();
        Self {
            store: Arc::new(store),
            workflows: BTreeMap::new(),
            names: Vec::new(),
            emitter: Emitter::new(env.clone(), Vec::new()),
            env,
            lease: LEASE,
            poll: POLL,
            retry: ActivationRetry::default(),
            order: OrderCheck::None,
            replays_always: false,
        }
    }

    /// Runs this workflow too.
    #[must_use]
    pub fn workflow(mut self, workflow: Workflow) -> Self {
        self.workflows.insert(Arc::clone(workflow.name()), workflow);
        self.names = self.workflows.keys().cloned().collect();
        self
    }

    /// Takes time, chance and identity from `env`. Default: the operating system's.
    #[must_use]
    pub fn env(self, env: Env) -> Self {
        Self { emitter: self.emitter.in_env(env.clone()), env, ..self }
    }

    /// Sends the events of attempts to `sink` too. Default: nowhere.
    #[must_use]
    pub fn sink(self, sink: impl Sink + 'static) -> Self {
        Self { emitter: self.emitter.and(Arc::new(sink)), ..self }
    }

    /// How long an activation is held without a sign of life; a worker that is alive gives one three times as often. So the
    /// work of a worker that is gone, by a crash or because its future was dropped, stands still for as long. Default: 60 s.
    #[must_use]
    pub fn lease(self, lease: Duration) -> Self {
        Self { lease, ..self }
    }

    /// How often [`Worker::run`] looks for what is due, at least. Default: every second.
    #[must_use]
    pub fn poll_every(self, poll: Duration) -> Self {
        Self { poll, ..self }
    }

    /// When failed attempts are made again. Default: two more times, with the backoff of executors.
    #[must_use]
    pub fn retry(self, retry: ActivationRetry) -> Self {
        Self { retry, ..self }
    }

    /// Compares the order of operations with that of the records. Default: an operation is found by its key.
    #[must_use]
    pub fn order(self, order: OrderCheck) -> Self {
        Self { order, ..self }
    }

    /// For tests: after each committed record the attempt is abandoned and run again from its journal, so that an entry
    /// which would replay otherwise does so now: it asks for something new before it has asked for all that was recorded, or
    /// decides without ([`DurableError::OutOfOrder`]), or asks for something else under a recorded key
    /// ([`DurableError::BindingMismatch`]). Callables that run at the same time as another one's commit are dropped and run
    /// again.
    #[must_use]
    pub fn always_replay(self) -> Self {
        Self { replays_always: true, ..self }
    }

    /// Starts a workflow. Repeated with the same content it changes nothing.
    ///
    /// # Errors
    /// [`StartError`] if the worker has no such workflow or entry, the state cannot be stored, or the store fails.
    pub async fn start<S: Serialize + ?Sized>(
        &self,
        workflow_id: &str,
        workflow: &str,
        entry: &str,
        state: &S,
    ) -> Result<Started, StartError> {
        let Some(known) = self.workflows.get(workflow) else {
            return Err(StartError::UnknownWorkflow { workflow: workflow.to_owned() });
        };
        known.check_entry(entry)?;
        let checkpoint = Checkpoint::new(entry, encode("the state of the checkpoint", state)?)?;
        Ok(self.store.start(workflow_id, workflow, checkpoint).await?)
    }

    /// Makes one attempt of the activation that is due for longest, if one is.
    ///
    /// # Errors
    /// [`StoreError`] if nothing could be claimed.
    pub async fn turn(&self) -> Result<Turn, StoreError> {
        match self.store.claim(&self.names, self.lease).await? {
            Claimed::Nothing { next } => Ok(Turn::Nothing { next }),
            Claimed::Activation(claim) => {
                let fence = claim.fence.clone();
                let ending = self.attempt(*claim).await;
                Ok(Turn::Attempt { fence, ending })
            }
        }
    }

    async fn attempt(&self, claim: Claim) -> Ending {
        Run::new(self, claim).attempt().await
    }

    /// Runs until nothing is due, and nothing will be unless an event comes. Durable sleeps are waited for.
    ///
    /// # Errors
    /// [`StoreError`] if nothing could be claimed.
    pub async fn run_until_idle(&self) -> Result<(), StoreError> {
        loop {
            match self.turn().await? {
                Turn::Attempt { .. } => {}
                Turn::Nothing { next: None } => return Ok(()),
                Turn::Nothing { next: Some(next) } => {
                    tracing::info!(
                        seconds = next.as_secs_f64(),
                        "nothing is due: a sleep or the lease of another worker ends then"
                    );
                    self.wait(next).await;
                }
            }
        }
    }

    /// Runs for ever. A store that fails is asked again.
    pub async fn run(&self) -> Infallible {
        loop {
            match self.turn().await {
                Ok(Turn::Attempt { .. }) => {}
                Ok(Turn::Nothing { next }) => self.wait(next.map_or(self.poll, |next| next.min(self.poll))).await,
                Err(error) => {
                    tracing::warn!("the journal store failed; it is asked again");
                    tracing::debug!(cause = crate::causes::text(&error), "the journal store's error");
                    self.wait(self.poll).await;
                }
            }
        }
    }

    /// By the clock: an injected sleep is for pauses between attempts.
    async fn wait(&self, duration: Duration) {
        self.env.until(self.env.now().saturating_add(duration)).await;
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Worker")
            .field("workflows", &self.names)
            .field("lease", &self.lease)
            .field("retry", &self.retry)
            .field("order", &self.order)
            .field("always_replay", &self.replays_always)
            .finish_non_exhaustive()
    }
}
