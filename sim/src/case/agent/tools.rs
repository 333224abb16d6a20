//! The tools, which are outside of all processes: how far their scripts are played, and what they did, survives a crash.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use windtunnel_core::env::Env;
use windtunnel_core::executor::ToolContext;
use windtunnel_core::tool::{Tool, ToolSpec};
use windtunnel_core::{BoxError, BoxFuture};
use windtunnel_fixtures::replay::{RecordedAnswer, ReplayTool};

use super::crashes::{CrashPoint, Place};
use super::definition::AgentTool;
use super::effects::Attempted;
use super::process::Process;
use super::scene::Log;
use crate::case::cassettes::Playing;
use crate::script::{Invocation, Step, Then};

/// A tool as the world has it.
pub(super) struct OutsideTool {
    name: Arc<str>,
    spec: ToolSpec,
    attempts: Attempts,
    is_idempotent: bool,
    env: Env,
}

/// Where what an attempt comes to is from.
enum Attempts {
    Scripted {
        next_step: Box<dyn Fn() -> Step + Send + Sync>,
        /// What the file says of each step's effect.
        effects: Vec<Option<bool>>,
        made: AtomicUsize,
    },
    Recorded(ReplayTool),
}

/// What an attempt comes to.
pub(super) struct Attempt {
    delay: Duration,
    ending: Ending,
}

enum Ending {
    Scripted(Then),
    Recorded(Result<Value, BoxError>),
}

/// The tool as one process sees it.
pub(super) struct ProcessTool {
    outside: Arc<OutsideTool>,
    process: Process,
}

impl OutsideTool {
    pub(super) fn new(tool: &AgentTool, playing: &Playing, env: &Env) -> Self {
        let spec = tool.tool.spec.clone();
        let attempts = match tool.tool.cassette {
            Some(cassette) => Attempts::Recorded(playing.tool(cassette, spec.clone())),
            None => Attempts::Scripted {
                next_step: Box::new(tool.tool.script.player(&spec.name, env.clone())),
                effects: tool.manners.effects.clone(),
                made: AtomicUsize::new(0),
            },
        };
        let is_idempotent = tool.manners.is_idempotent;
        Self { name: spec.name.as_str().into(), attempts, is_idempotent, env: env.clone(), spec }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// An attempt reaches the tool: what it comes to, and whether it has an effect.
    pub(super) fn begin(&self, log: &Log, arguments: &Arc<Value>, context: &ToolContext) -> (Attempt, bool) {
        log.invocations.push(Invocation {
            tool: Arc::clone(&self.name),
            arguments: Arc::clone(arguments),
            call_id: context.call_id().into(),
            attempt: context.attempt(),
        });
        self.attempts.next(arguments, context)
    }

    /// The effect comes: whether something happens by it.
    pub(super) fn have_effect(&self, log: &Log, arguments: &Arc<Value>, context: &ToolContext, place: &Place) -> bool {
        log.ledger.lock().add(&Attempted {
            tool: &self.name,
            arguments,
            idempotency_key: &context.idempotency_key().cloned().unwrap_or_default(),
            call_id: context.call_id(),
            place,
            time: self.env.now(),
            is_idempotent: self.is_idempotent,
        })
    }

    /// The answer, which takes its time.
    #[expect(clippy::panic, reason = "the script asks for it")]
    pub(super) async fn end(
        &self,
        log: &Log,
        Attempt { delay, ending }: Attempt,
        arguments: &Arc<Value>,
        context: &ToolContext,
        env: &Env,
    ) -> Result<Value, BoxError> {
        if !delay.is_zero() {
            env.until(env.now().saturating_add(delay)).await;
        }
        let answer = match ending {
            Ending::Scripted(Then::Answer(value)) => value.unwrap_or_else(|| json!({"echo": &**arguments})),
            Ending::Scripted(Then::Fail(failure)) => return Err(failure.error()),
            Ending::Scripted(Then::Hang) => std::future::pending().await,
            Ending::Scripted(Then::Panic) => panic!("the script of tool {:?} panics", self.name),
            Ending::Recorded(result) => result?,
        };
        let idempotency_key = context.idempotency_key().cloned().unwrap_or_default();
        Ok(match self.is_idempotent {
            true => log.ledger.lock().answer(&self.name, &idempotency_key, answer),
            false => answer,
        })
    }
}

impl Attempts {
    /// What the next attempt comes to, and whether it has an effect: of recorded ones, those that returned.
    fn next(&self, arguments: &Value, context: &ToolContext) -> (Attempt, bool) {
        match self {
            Self::Scripted { next_step, effects, made } => {
                let Step { delay, then } = next_step();
                let told = effects.get(made.fetch_add(1, Ordering::Relaxed)).copied().flatten();
                let has_effect = told.unwrap_or(matches!(then, Then::Answer(_) | Then::Hang));
                (Attempt { delay, ending: Ending::Scripted(then) }, has_effect)
            }
            Self::Recorded(tool) => {
                let (delay, result) = match tool.answer(arguments, context) {
                    Ok(RecordedAnswer { after, result }) => (after, result),
                    Err(miss) => (Duration::ZERO, Err(miss.into())),
                };
                let has_effect = result.is_ok();
                (Attempt { delay, ending: Ending::Recorded(result) }, has_effect)
            }
        }
    }
}

impl ProcessTool {
    pub(super) fn new(outside: &Arc<OutsideTool>, process: &Process) -> Self {
        Self { outside: Arc::clone(outside), process: process.clone() }
    }

    /// The effect comes at once; the answer takes its time.
    async fn attempt(&self, arguments: Arc<Value>, context: &ToolContext) -> Result<Value, BoxError> {
        let (outside, log) = (&*self.outside, &self.process.scene.log);
        let (attempt, has_effect) = outside.begin(log, &arguments, context);
        if has_effect {
            let place = self.process.place_of(context.idempotency_key().map_or("", |key| key));
            outside.have_effect(log, &arguments, context, &place);
            self.process.pass(CrashPoint::AfterEffect, &place).await;
        }
        outside.end(log, attempt, &arguments, context, &outside.env).await
    }
}

impl Tool for ProcessTool {
    fn spec(&self) -> ToolSpec {
        self.outside.spec.clone()
    }

    fn call(&self, arguments: Arc<Value>, context: ToolContext) -> BoxFuture<'_, Result<Value, BoxError>> {
        Box::pin(async move { self.attempt(arguments, &context).await })
    }
}
