//! Where guests take faults.

use std::fmt;
use std::sync::Arc;

use windtunnel_core::BoxError;
use windtunnel_core::durable::JournalStore;
use windtunnel_core::env::Env;
use windtunnel_core::event::{Emitter, EventKind, Subject};
use windtunnel_core::model::ModelTransport;
use windtunnel_core::tool::{Tool, ToolError};

use super::action::duration;
use super::claim::Claim;
use super::kind::Target;
use super::{FaultAction, FaultyJournal, FaultyModel, FaultyTool, Injector};
use crate::world::{HostParts, subject_of_world};

/// Gives faults to tools, models and journals. Cheap to clone.
///
/// ```
/// use windtunnel_core::BoxError;
/// use windtunnel_sim::World;
/// use windtunnel_sim::fault::FaultPlan;
///
/// let plan = FaultPlan::from_json(r#"[{"when": {"event": "tool.body"}, "do": {"fault": "tool.lose_acknowledgment"}}]"#)?;
/// let run = World::new(7).faults(plan).run(|world| async move {
///     let pay = || async {
///         world.effects().happen("payment", None).await;
///         Ok::<_, BoxError>("receipt")
///     };
///     let first = world.faults().call("pay", pay).await;
///     let second = world.faults().call("pay", pay).await;
///     (first.is_err(), second.is_ok(), world.effects().count("payment"))
/// });
/// assert_eq!(run.outcome?, (true, true, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Faults {
    env: Env,
    emitter: Emitter,
    injector: Arc<Injector>,
}

impl Faults {
    pub(crate) fn new(env: Env, parts: &HostParts) -> Self {
        let emitter = Emitter::new(env.clone(), vec![Arc::clone(&parts.sink)]);
        Self { env, emitter, injector: Arc::clone(&parts.injector) }
    }

    /// A tool that takes faults.
    pub fn tool<T: Tool>(&self, tool: T) -> FaultyTool<T> {
        FaultyTool::new(tool, self.clone())
    }

    /// A model that takes faults.
    pub fn model<M: ModelTransport>(&self, model: M) -> FaultyModel<M> {
        FaultyModel::new(model, self.clone())
    }

    /// A journal that takes faults.
    pub fn journal<S: JournalStore>(&self, journal: S) -> FaultyJournal<S> {
        FaultyJournal::new(journal, self.clone())
    }

    /// Runs the body of a tool that is just a function, with the fault that comes to it: it may run not at all, once or twice.
    ///
    /// # Errors
    /// Those of the body, and of faults: [`ToolError`]s.
    pub async fn call<T, F, Fut>(&self, tool: &str, body: F) -> Result<T, BoxError>
    where
        F: Fn() -> Fut,
        Fut: Future<Output = Result<T, BoxError>>,
    {
        let malformed = |_| Err(ToolError::new("the answer is malformed").into());
        self.call_of(tool, &subject_of_world(), body, malformed).await
    }

    pub(super) async fn call_of<T, F, Fut>(
        &self,
        tool: &str,
        subject: &Subject,
        body: F,
        malformed: impl FnOnce(T) -> Result<T, BoxError>,
    ) -> Result<T, BoxError>
    where
        F: Fn() -> Fut,
        Fut: Future<Output = Result<T, BoxError>>,
    {
        let event = || EventKind::ToolBody { tool: tool.into() };
        let Some(claim) = self.take(Target::Tool, tool, subject, event).await else { return body().await };
        if let Some(FaultAction::ToolMalformedResult {}) = claim.action() {
            let answer = body().await?;
            let _delivered = claim.deliver();
            return malformed(answer);
        }
        match claim.deliver() {
            Some(FaultAction::ToolError { retryable: true }) => Err(ToolError::retryable("the tool failed").into()),
            Some(FaultAction::ToolError { retryable: false }) => Err(ToolError::new("the tool failed").into()),
            Some(FaultAction::ToolHang {}) => std::future::pending().await,
            Some(FaultAction::ToolDelay { delay_s }) => {
                self.env.sleep(duration(delay_s)).await;
                body().await
            }
            Some(FaultAction::ToolDuplicate {}) => {
                let first = body().await;
                let _unseen = body().await;
                first
            }
            Some(FaultAction::ToolLoseAcknowledgment {}) => {
                let _unseen = body().await;
                Err(ToolError::retryable("the connection was lost before the answer came").into())
            }
            Some(FaultAction::ToolLateAnswer { delay_s }) => {
                let answer = body().await;
                self.env.sleep(duration(delay_s)).await;
                answer
            }
            _ => body().await,
        }
    }

    /// Says that somebody is about to act, and takes the fault that comes to it.
    pub(super) async fn take(
        &self,
        target: Target,
        name: &str,
        subject: &Subject,
        kind: impl FnOnce() -> EventKind,
    ) -> Option<Claim<'_>> {
        self.emitter.emit(subject, kind).await;
        self.injector.claim(target, name, self.env.host())
    }

    pub(super) fn env(&self) -> &Env {
        &self.env
    }
}

impl fmt::Debug for Faults {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Faults").field("host", &self.env.host()).finish_non_exhaustive()
    }
}
