//! A durable workflow that does what a case says.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};
use windtunnel_core::BoxError;
use windtunnel_core::durable::{
    Decision, DurableError, ErrorKind, Fence, OperationCall, OperationKind, Wake, Workflow, WorkflowContext,
};
use windtunnel_core::env::Env;

use crate::cases::{
    ActivationCase, CallableEnding, Manners, NextCase, OperationCase, StepCase, WorkflowCase, event_key, operation_key,
};
use crate::models::arithmetic;
use crate::{Effect, EffectLog};

const ENTRY: &str = "activation";

/// The workflow of a case, under a name, which writes down what it does. It starts with [`played_workflow_start`].
pub fn played_workflow(name: &str, case: &WorkflowCase, env: &Env, effects: &EffectLog) -> Workflow {
    let (case, env, effects) = (Arc::new(case.clone()), env.clone(), effects.clone());
    Workflow::new(name).entry(ENTRY, move |context: WorkflowContext, state: Value| {
        let (case, env, effects) = (Arc::clone(&case), env.clone(), effects.clone());
        async move {
            let place = state["activation"].as_u64().unwrap_or_default() as usize;
            let Some(activation) = case.activations.get(place) else {
                return Err("there is no such activation".into());
            };
            let fence = Fence {
                workflow_id: Arc::clone(context.workflow_id()),
                activation_id: Arc::clone(context.activation_id()),
                attempt: context.attempt(),
            };
            effects.write(env.now(), &fence, Effect::EntryBegan);
            let begun_with = state["number"].as_u64().unwrap_or_default();
            let runs = state["runs"].as_array().cloned().unwrap_or_default();
            let mut played = Played { context, activation, env, effects, fence, begun_with, number: begun_with, runs };
            played.hear(place > 0 && matches!(case.activations[place - 1].next, NextCase::WaitEvent { .. }));
            for step in &activation.steps {
                if let Err(error) = played.step(step).await {
                    return Err(failed(activation.manners, error));
                }
            }
            Ok::<_, BoxError>(played.decide(&case, place)?)
        }
    })
}

/// The entry and the state that a [`played_workflow`] starts with.
pub fn played_workflow_start() -> (&'static str, Value) {
    (ENTRY, json!({"activation": 0, "number": 0, "runs": []}))
}

/// How an entry fails.
fn failed(manners: Manners, error: DurableError) -> BoxError {
    match manners {
        Manners::PassesOn | Manners::Ignores => error.into(),
        Manners::Hides => "something is wrong".into(),
        // Unwinds as a panic does, without the panic hook: a test's output stays readable.
        Manners::Panics => std::panic::resume_unwind(Box::new("something is wrong")),
    }
}

struct Played<'a> {
    context: WorkflowContext,
    activation: &'a ActivationCase,
    env: Env,
    effects: EffectLog,
    fence: Fence,
    begun_with: u64,
    number: u64,
    /// Of which runs the results were used.
    runs: Vec<Value>,
}

impl Played<'_> {
    /// Takes in what was waited for.
    fn hear(&mut self, has_waited: bool) {
        let heard = match self.context.wake() {
            Wake::Event { payload, .. } => payload.as_u64().unwrap_or_default(),
            _ => arithmetic::NO_EVENT,
        };
        if has_waited {
            self.number = arithmetic::with(self.number, heard);
        }
    }

    async fn step(&mut self, step: &StepCase) -> Result<(), DurableError> {
        match step {
            StepCase::AtOnce(places) => {
                let operations = places.iter().map(|place| self.operation(self.activation.operation(*place)));
                let results = join_all(operations).await;
                results.into_iter().zip(places).try_for_each(|(result, place)| self.take(*place, result))
            }
            StepCase::Dropped { operation, polls } if self.fence.attempt == 1 => {
                let mut polls_left = *polls;
                let place = self.activation.operation(*operation);
                let mut operation = Box::pin(self.operation(place));
                poll_fn(|context| {
                    polls_left = polls_left.saturating_sub(1);
                    let is_over = polls_left == 0 || operation.as_mut().poll(context).is_ready();
                    if is_over { Poll::Ready(()) } else { Poll::Pending }
                })
                .await;
                drop(operation);
                let given_up = Effect::GivenUp(operation_key(place).into());
                self.effects.write(self.env.now(), &self.fence, given_up);
                Ok(())
            }
            StepCase::Dropped { .. } => Ok(()),
        }
    }

    /// Goes on with the result of an operation.
    fn take(&mut self, place: usize, result: Result<Value, DurableError>) -> Result<(), DurableError> {
        let ending = self.activation.operations[self.activation.operation(place)].ending;
        let value = match result {
            Ok(output) => {
                self.runs.push(output["run"].clone());
                output["value"].as_u64().unwrap_or_default()
            }
            Err(error) => match error.kind() {
                ErrorKind::CallFailed if ending == CallableEnding::FailsUnminded => arithmetic::NO_RESULT,
                ErrorKind::CommitUnacknowledged | ErrorKind::ActivationPoisoned
                    if self.activation.manners == Manners::Ignores =>
                {
                    0
                }
                _ => return Err(error),
            },
        };
        self.number = arithmetic::with(self.number, value);
        Ok(())
    }

    fn operation(&self, place: usize) -> impl Future<Output = Result<Value, DurableError>> + Send + use<> {
        let (key, case) = (operation_key(place), self.activation.operations[place].clone());
        let (context, env, effects, fence) =
            (self.context.clone(), self.env.clone(), self.effects.clone(), self.fence.clone());
        let arguments = json!({"begun_with": self.begun_with, "operation": place});
        async move {
            let callable =
                Callable { env: env.clone(), effects: effects.clone(), fence: fence.clone(), key: key.as_str().into() };
            let body = move |arguments: Value, call: OperationCall| callable.run(case, arguments, call);
            let kind = if place.is_multiple_of(2) { OperationKind::Tool } else { OperationKind::Model };
            let result = context.operation(&key, kind, "world:effect", "1", arguments, body).await;
            if let Ok(output) = &result {
                effects.write(env.now(), &fence, Effect::Released(key.as_str().into(), Value::clone(output)));
            }
            result
        }
    }

    fn decide(&self, case: &WorkflowCase, place: usize) -> Result<Decision, DurableError> {
        if place + 1 == case.activations.len() {
            return match case.completes {
                true => self.context.complete(&json!({"number": self.number, "runs": self.runs})),
                false => self.context.fail("refused", "as the case says"),
            };
        }
        let state = json!({"activation": place + 1, "number": self.number, "runs": self.runs});
        match self.activation.next {
            NextCase::Continue => self.context.continue_(ENTRY, &state),
            NextCase::Sleep(duration) => self.context.sleep("nap", duration, ENTRY, &state),
            NextCase::WaitEvent { key, timeout } => self.context.wait_event(&event_key(key), timeout, ENTRY, &state),
        }
    }
}

/// The outside effect of an operation.
struct Callable {
    env: Env,
    effects: EffectLog,
    fence: Fence,
    key: Arc<str>,
}

impl Callable {
    async fn run(self, case: OperationCase, arguments: Value, call: OperationCall) -> Result<Value, BoxError> {
        let (run, runs_before) = self.effects.begin_run(self.env.now(), &self.fence, &self.key, &call.idempotency_key);
        let mut running = Running { callable: &self, run, is_over: false };
        self.env.pause().await;
        if case.takes > Duration::ZERO {
            self.env.until(self.env.now() + case.takes).await;
        }
        let is_ok = match case.ending {
            CallableEnding::Succeeds => true,
            CallableEnding::FailsFirst => runs_before > 0,
            CallableEnding::Fails | CallableEnding::FailsUnminded => false,
        };
        running.is_over = true;
        self.effects.write(self.env.now(), &self.fence, Effect::CallableEnded { run, is_ok });
        if !is_ok {
            return Err("it fails as the case says".into());
        }
        let number = |name: &str| arguments[name].as_u64().unwrap_or_default();
        // The run makes every result another one, so that none can be taken for that of another run.
        Ok(json!({"value": arithmetic::result(number("begun_with"), number("operation") as usize), "run": run}))
    }
}

/// Says so if a callable is dropped on its way.
struct Running<'a> {
    callable: &'a Callable,
    run: u64,
    is_over: bool,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            let Callable { env, effects, fence, .. } = self.callable;
            effects.write(env.now(), fence, Effect::CallableDropped { run: self.run });
        }
    }
}
