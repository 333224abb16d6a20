//! One tool's attempts, played from its script.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::Value;
use windtunnel_core::env::Env;

use super::invocations::{Invocation, Invocations};
use super::step::{Step, Then};

type AfterScript<F> = Box<dyn Fn(&Env) -> Step<F> + Send + Sync>;

/// A tool's script, and how far it has been played: the nth attempt, counted over all calls, does the nth step.
pub(super) struct Attempts<F> {
    tool: Arc<str>,
    script: Vec<Step<F>>,
    /// How long an attempt takes whose step has no delay.
    delay: Duration,
    after_script: Option<AfterScript<F>>,
    made: AtomicUsize,
    invocations: Option<Invocations>,
}

impl<F: Clone> Attempts<F> {
    pub(super) fn of(tool: &str) -> Self {
        Self {
            tool: tool.into(),
            script: Vec::new(),
            delay: Duration::ZERO,
            after_script: None,
            made: AtomicUsize::new(0),
            invocations: None,
        }
    }

    pub(super) fn script(self, steps: impl IntoIterator<Item = Step<F>>) -> Self {
        Self { script: steps.into_iter().collect(), ..self }
    }

    pub(super) fn after_script(self, step: impl Fn(&Env) -> Step<F> + Send + Sync + 'static) -> Self {
        Self { after_script: Some(Box::new(step)), ..self }
    }

    pub(super) fn delay(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }

    pub(super) fn log_to(self, invocations: Invocations) -> Self {
        Self { invocations: Some(invocations), ..self }
    }

    /// Makes the next attempt. Without a value in the script, `answer` gives one.
    #[expect(clippy::panic, reason = "the script asks for it")]
    pub(super) async fn make<E>(
        &self,
        env: &Env,
        arguments: Arc<Value>,
        (call_id, attempt): (impl FnOnce() -> Arc<str>, u32),
        answer: impl FnOnce(&Value) -> Result<Value, E>,
        fail: impl FnOnce(F) -> E,
    ) -> Result<Value, E> {
        let Step { delay, then } = self.next_step(env);
        if let Some(invocations) = &self.invocations {
            let (tool, arguments) = (Arc::clone(&self.tool), Arc::clone(&arguments));
            invocations.push(Invocation { tool, arguments, call_id: call_id(), attempt });
        }
        let delay = if delay.is_zero() { self.delay } else { delay };
        if !delay.is_zero() {
            env.until(env.now().saturating_add(delay)).await;
        }
        match then {
            Then::Answer(Some(value)) => Ok(value),
            Then::Answer(None) => answer(&arguments),
            Then::Fail(failure) => Err(fail(failure)),
            Then::Hang => std::future::pending().await,
            Then::Panic => panic!("the script of tool {:?} panics", self.tool),
        }
    }

    fn next_step(&self, env: &Env) -> Step<F> {
        let attempt = self.made.fetch_add(1, Ordering::Relaxed);
        match (self.script.get(attempt), &self.after_script) {
            (Some(step), _) => step.clone(),
            (None, Some(after_script)) => after_script(env),
            (None, None) => Step::answer(),
        }
    }
}

impl<F: fmt::Debug> fmt::Debug for Attempts<F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Attempts")
            .field("script", &self.script)
            .field("made", &self.made)
            .finish_non_exhaustive()
    }
}
