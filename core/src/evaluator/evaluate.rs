//! Evaluating a program: the driver of the machine. It awaits what the machine asks for, and owns all that it awaits.

use std::collections::BTreeMap;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use futures_core::future::BoxFuture;

use super::attempt::Attempts;
use super::budget::Budget;
use super::datum::Datum;
use super::error::EvaluationError;
use super::flight::{self, Flight};
use super::limits::{ExecutionLimits, LimitExceeded};
use super::machine::{FrameId, Input, Machine, Order, Progress, Request};
use super::outcome::{Answer, Evaluation};
use super::policy::ExecutionPolicy;
use super::provider::ToolProvider;
use super::report::Report;
use super::syntax::{NodeId, Program, Tree};
use crate::env::Env;
use crate::event::{Emitter, Sink};

/// Evaluates programs with the tools of one provider.
///
/// ```
/// use std::num::NonZeroU64;
/// use serde_json::json;
/// use windtunnel_core::BoxError;
/// use windtunnel_core::evaluator::{Evaluator, ExecutionLimits, Program};
/// use windtunnel_core::executor::Executor;
/// use windtunnel_core::json::Bounds;
/// use windtunnel_core::tool::{FunctionTool, Registry};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), BoxError> {
/// let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}});
/// let mut registry = Registry::new();
/// registry.register(FunctionTool::json("add", "Adds.", schema, |arguments, _| async move {
///     Ok::<_, BoxError>(json!(arguments["a"].as_i64().unwrap_or(0) + arguments["b"].as_i64().unwrap_or(0)))
/// }))?;
/// let program = Program::parse(
///     r#"{"type": "program", "mode": "single", "body": [{"type": "function", "name": "add", "params": [
///         {"type": "value", "name": "a", "value": 20},
///         {"type": "value", "name": "b", "value": 22}
///     ]}]}"#,
///     Program::BOUNDS,
/// )?;
/// let limits = ExecutionLimits { max_tool_calls: NonZeroU64::new(10), ..ExecutionLimits::default() };
/// let evaluation = Evaluator::new(Executor::new(registry)).limits(limits).evaluate(&program).await;
/// assert_eq!(evaluation.consumption.nodes, 4);
/// assert_eq!(evaluation.into_value()?, json!(42));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Evaluator {
    provider: Arc<dyn ToolProvider>,
    env: Env,
    emitter: Emitter,
    limits: ExecutionLimits,
    policy: ExecutionPolicy,
    order: Order,
    parent_id: Option<Arc<str>>,
}

impl Evaluator {
    /// An evaluator without limits and without retries, on the operating system's environment.
    pub fn new(provider: impl ToolProvider + 'static) -> Self {
        let env = Env::system();
        Self {
            provider: Arc::new(provider),
            emitter: Emitter::new(env.clone(), Vec::new()),
            env,
            limits: ExecutionLimits::default(),
            policy: ExecutionPolicy::default(),
            order: Order::Written,
            parent_id: None,
        }
    }

    /// Takes time, chance and identity from `env`. Default: the operating system's.
    #[must_use]
    pub fn env(self, env: Env) -> Self {
        Self { emitter: self.emitter.in_env(env.clone()), env, ..self }
    }

    /// Sends the events of evaluations to `sink` too. Default: nowhere.
    #[must_use]
    pub fn sink(self, sink: impl Sink + 'static) -> Self {
        Self { emitter: self.emitter.and(Arc::new(sink)), ..self }
    }

    /// What one evaluation may use. Default: no limit.
    #[must_use]
    pub fn limits(self, limits: ExecutionLimits) -> Self {
        Self { limits, ..self }
    }

    /// What happens when tools fail. Default: no retries, and the first failure is the evaluation's.
    #[must_use]
    pub fn policy(self, policy: ExecutionPolicy) -> Self {
        Self { policy, ..self }
    }

    /// Lets siblings go on in an order drawn from the environment, as they may in production, where tools answer when
    /// they like. Default: as they are written. What a program comes to must not depend on it.
    #[must_use]
    pub fn shuffle_siblings(self) -> Self {
        Self { order: Order::Drawn, ..self }
    }

    pub(super) fn reporting_to(self, emitter: Emitter) -> Self {
        Self { emitter, ..self }
    }

    /// The call that evaluations are nested in.
    pub(super) fn nested_in(self, call_id: &str) -> Self {
        Self { parent_id: Some(call_id.into()), ..self }
    }

    /// Evaluates a program under a fresh budget. Dropping the future ends every tool that it called.
    ///
    /// A result that is an error is one too: see [`Evaluation::result`].
    pub async fn evaluate(&self, program: &Program) -> Evaluation {
        self.evaluate_with(program, &BTreeMap::new()).await
    }

    /// Evaluates with other values for some leaves of the program (V11).
    pub(super) async fn evaluate_with(&self, program: &Program, overrides: &BTreeMap<NodeId, Datum>) -> Evaluation {
        let provider = &*self.provider;
        let own_run = provider.run_id().is_none().then(|| self.env.next_id("run"));
        let run_id = provider.run_id().map_or_else(|| own_run.clone().unwrap_or_default(), Arc::from);
        let report = Report::new(&self.emitter, run_id, self.env.next_id("program"), self.parent_id.clone());
        let mut machine = Machine::new(program, &self.policy, overrides, Budget::new(self.limits), self.order);
        if provider.needs_places() {
            machine.name_places();
        }
        // Open before the first event: a world may drop the evaluation while it acts there.
        let mut open =
            Open { evaluator: self, report: &report, machine, began: self.env.now(), own_run, is_over: false };
        report.started(program).await;
        let result = self.drive(&mut open.machine, &report, open.began).await;
        let evaluation = Evaluation { result, consumption: open.machine.budget().consumption() };
        open.is_over = true;
        report.finished(&evaluation, self.env.now().saturating_sub(open.began)).await;
        evaluation
    }

    async fn drive(
        &self,
        machine: &mut Machine<'_>,
        report: &Report<'_>,
        began: Duration,
    ) -> Result<Answer, EvaluationError> {
        let attempts = Attempts { program: machine.program(), provider: &*self.provider, env: &self.env, report };
        let mut deadline = Deadline::new(&self.env, began, self.limits.timeout);
        let mut flight = Flight::default();
        let mut draw = |count: usize| self.draw(count);
        let mut answered = None;
        loop {
            let progress = machine.run(answered.take(), &mut draw);
            for frame in machine.take_cancelled() {
                flight.cancel(frame);
            }
            let pause = match progress {
                Progress::Done(result) => return result,
                Progress::Request(request) => {
                    if matches!(request, Request::Attempt { .. }) {
                        deadline.check(&self.env)?;
                    }
                    let (frame, mut work) = attempts.begin(request);
                    // Many tools answer at once; they need no place among those that do not.
                    match poll_fn(|context| Poll::Ready(Pin::new(&mut work).poll(context))).await {
                        Poll::Ready(input) => {
                            flight::end(work);
                            answered = Some((frame, input));
                        }
                        Poll::Pending => flight.add(frame, work),
                    }
                    continue;
                }
                Progress::Paused => Some(self.env.pause()),
                Progress::Idle if flight.is_empty() => return Err(*waits_for_itself(machine)),
                Progress::Idle => None,
            };
            deadline.check(&self.env)?;
            for (frame, input) in wait(&mut flight, &mut deadline, pause).await? {
                machine.supply(frame, input);
            }
        }
    }

    fn draw(&self, count: usize) -> usize {
        let count = count as u64;
        (self.env.random_u64("evaluator/order") % count.max(1)) as usize
    }
}

/// Nothing is under way and nothing can go on. The machine refuses each way to this that is known.
fn waits_for_itself(machine: &Machine<'_>) -> Box<EvaluationError> {
    machine.invalid(Tree::ROOT, "the evaluation waits for itself".to_owned())
}

/// Waits for a future to land, and for the pause to end or, without one, for the deadline. Gives all that have landed, in
/// order.
async fn wait(
    flight: &mut Flight<'_>,
    deadline: &mut Deadline,
    mut pause: Option<BoxFuture<'static, ()>>,
) -> Result<Vec<(FrameId, Input)>, LimitExceeded> {
    poll_fn(|context| {
        let mut landed = Vec::new();
        while let Poll::Ready(one) = flight.poll_landed(context) {
            landed.push(one);
        }
        // What is ready at the very deadline counts, and so does what can go on then.
        match &mut pause {
            _ if !landed.is_empty() => Poll::Ready(Ok(landed)),
            Some(pause) => pause.as_mut().poll(context).map(|()| Ok(landed)),
            None => deadline.poll(context).map(Err),
        }
    })
    .await
}

/// When the evaluation's time is over.
struct Deadline {
    /// The limit, when that is, and what waits for it.
    limit: Option<(Duration, Duration, BoxFuture<'static, ()>)>,
}

impl Deadline {
    fn new(env: &Env, began: Duration, timeout: Option<Duration>) -> Self {
        let limit = timeout.map(|limit| {
            let at = began.saturating_add(limit);
            (limit, at, env.until(at))
        });
        Self { limit }
    }

    /// Fails past the deadline; at it there may still be something to do.
    fn check(&self, env: &Env) -> Result<(), LimitExceeded> {
        match &self.limit {
            Some((limit, at, _)) if env.now() > *at => Err(LimitExceeded::timeout(*limit)),
            _ => Ok(()),
        }
    }

    fn poll(&mut self, context: &mut std::task::Context<'_>) -> Poll<LimitExceeded> {
        match &mut self.limit {
            Some((limit, _, over)) => over.as_mut().poll(context).map(|()| LimitExceeded::timeout(*limit)),
            None => Poll::Pending,
        }
    }
}

/// An evaluation that is open. Dropped open, it still says that the program finished, and ends its run.
struct Open<'p> {
    evaluator: &'p Evaluator,
    report: &'p Report<'p>,
    machine: Machine<'p>,
    began: Duration,
    own_run: Option<Arc<str>>,
    is_over: bool,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            let used = self.machine.budget().consumption();
            let duration = self.evaluator.env.now().saturating_sub(self.began);
            self.report.dropped(used.nodes, used.tool_calls, duration);
        }
        if let Some(run_id) = &self.own_run {
            self.evaluator.provider.end_run(run_id);
        }
    }
}

impl fmt::Debug for Evaluator {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Evaluator")
            .field("limits", &self.limits)
            .field("policy", &self.policy)
            .field("order", &self.order)
            .finish_non_exhaustive()
    }
}
