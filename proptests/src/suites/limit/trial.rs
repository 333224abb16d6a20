//! What is tried: calls, each at its time.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::join_all;
use parking_lot::Mutex;
use windtunnel_core::env::Env;

use super::policy::as_rust;
use super::work::WorkNote;
use super::{CallEnding, LimitPolicy, LimitSubject, LimitedCall, Limiter, PlayedLimit, Work};
use crate::suites::Case;
use crate::suites::retry::in_world;

/// Calls through one limiter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitTrial {
    /// What is limited.
    pub limits: LimitPolicy,
    /// The calls. Of those at one instant, the first one comes first.
    pub calls: Vec<CallPlan>,
}

/// One call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallPlan {
    /// When it is made.
    pub at: Duration,
    /// How long its work takes.
    pub takes: Duration,
    /// What it costs.
    pub cost: u64,
    /// How its work ends. Default: with a value.
    pub ending: WorkEnding,
    /// How long after it was made it is dropped, if it has not ended before. Default: it is not.
    pub cancel_after: Option<Duration>,
}

/// How the work of a call ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WorkEnding {
    /// With a value.
    #[default]
    Value,
    /// With an error.
    Error,
    /// By a panic.
    Panic,
}

impl LimitTrial {
    /// Tries it, in a world of its own.
    pub fn play<S: LimitSubject>(&self, subject: &S) -> PlayedLimit {
        let notes: Vec<_> = self.calls.iter().map(|_| Arc::<Mutex<WorkNote>>::default()).collect();
        let endings = Mutex::new(vec![CallEnding::Open; self.calls.len()]);
        let ended = in_world(0, |env| async {
            let env = env;
            let limiter = subject.limiter(&self.limits, env.clone())?;
            let calls = self.calls.iter().zip(&notes).enumerate().map(|(index, (plan, note))| {
                let (limiter, env, endings) = (&limiter, env.clone(), &endings);
                async move {
                    let ending = plan.make(limiter, env, Arc::clone(note)).await;
                    endings.lock()[index] = ending;
                }
            });
            join_all(calls).await;
            Ok::<(), String>(())
        });
        let trouble = match ended {
            Ok(Ok(())) => None,
            Ok(Err(reason)) => Some(format!("the limits were refused: {reason}")),
            Err(ending) => Some(format!("{ending:?}")),
        };
        let calls = notes.iter().zip(endings.into_inner()).map(|(note, ending)| {
            let WorkNote { began, ended } = *note.lock();
            LimitedCall { began, ended, ending }
        });
        PlayedLimit { calls: calls.collect(), trouble }
    }
}

impl CallPlan {
    async fn make(&self, limiter: &impl Limiter, env: Env, note: Arc<Mutex<WorkNote>>) -> CallEnding {
        env.until(self.at).await;
        let work = Work::new(env.clone(), self.cost, self.takes, self.ending, note);
        let call = AssertUnwindSafe(limiter.call(work)).catch_unwind();
        let caught = match self.cancel_after {
            None => call.await,
            Some(after) => match env.timeout(after, call).await {
                Ok(caught) => caught,
                Err(_elapsed) => return CallEnding::Cancelled,
            },
        };
        match caught {
            Ok(Ok(())) => CallEnding::Done,
            Ok(Err(_refusal)) => CallEnding::Refused,
            Err(_panic) => CallEnding::Panicked,
        }
    }

    fn as_rust(&self) -> String {
        let Self { at, takes, cost, ending, cancel_after } = *self;
        let mut fields = vec![format!("at: {}", as_rust(at)), format!("takes: {}", as_rust(takes))];
        if cost != 0 {
            fields.push(format!("cost: {}", if cost == u64::MAX { "u64::MAX".to_owned() } else { cost.to_string() }));
        }
        if ending != WorkEnding::Value {
            fields.push(format!("ending: WorkEnding::{ending:?}"));
        }
        if let Some(after) = cancel_after {
            fields.push(format!("cancel_after: Some({})", as_rust(after)));
        }
        format!("CallPlan {{ {}, ..CallPlan::default() }}", fields.join(", "))
    }
}

impl Case for LimitTrial {
    fn show(&self) -> String {
        let calls: Vec<_> = self.calls.iter().map(|call| format!("\n    {}", call.as_rust())).collect();
        format!("limits: {}\ncalls:{}", self.limits, calls.concat())
    }

    fn reproduce(&self) -> Option<String> {
        let calls: Vec<_> = self.calls.iter().map(|call| format!("        {},\n", call.as_rust())).collect();
        Some(format!(
            "let trial = LimitTrial {{\n    limits: {},\n    calls: vec![\n{}    ],\n}};\n\
             println!(\"{{}}\", trial.play(&subject));",
            self.limits,
            calls.concat(),
        ))
    }
}
