//! What the tools of a program do, attempt by attempt, and all that an evaluation is given.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;
use windtunnel_core::evaluator::{ErrorKind, ExecutionLimits, ExecutionPolicy};

use super::{ProgramTool, ProgramTree};

/// One evaluation.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramCase {
    /// The program.
    pub program: ProgramTree,
    /// What its tools do.
    pub tools: ToolBehaviours,
    /// What it may use.
    pub limits: ExecutionLimits,
    /// What happens when tools fail.
    pub policy: ExecutionPolicy,
}

impl ProgramCase {
    /// The program alone: its tools answer at once, without limits and retries.
    pub fn plain(program: ProgramTree) -> Self {
        let (limits, policy) = (ExecutionLimits::default(), ExecutionPolicy::default());
        Self { program, tools: ToolBehaviours::default(), limits, policy }
    }
}

/// What the tools do. Those without scripts give their value at once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolBehaviours {
    /// Which script a call follows.
    pub keying: Keying,
    /// The scripts of each tool; calls take them in a circle.
    pub scripts: BTreeMap<ProgramTool, Vec<AttemptScript>>,
}

/// Which script a call follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keying {
    /// The nth call of a tool follows its nth script. What a call does then depends on the calls before it.
    #[default]
    Calls,
    /// The arguments say. What a call does then depends on nothing else.
    Arguments,
}

/// The attempts of one call. The last one repeats; without any, the value comes at once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AttemptScript {
    /// The attempts, in order.
    pub steps: Vec<AttemptStep>,
}

/// One attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttemptStep {
    /// How often it lets others go on at the same instant, before anything else.
    pub yields: u8,
    /// How long it then takes.
    pub takes: Duration,
    /// How it ends.
    pub ending: AttemptEnding,
}

/// How an attempt ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptEnding {
    /// With the tool's value.
    Value,
    /// With a failure of this kind.
    Failure(ErrorKind),
    /// By a panic, which nothing classifies.
    Panic,
    /// With control flow, which ends the evaluation.
    Interrupted,
}

impl AttemptEnding {
    /// The kind of failure, if it is one.
    pub fn failure(self) -> Option<ErrorKind> {
        match self {
            Self::Failure(kind) => Some(kind),
            Self::Panic => Some(ErrorKind::Unclassified),
            Self::Value | Self::Interrupted => None,
        }
    }
}

impl AttemptStep {
    /// The value, at once.
    pub const VALUE: Self = Self { yields: 0, takes: Duration::ZERO, ending: AttemptEnding::Value };
}

impl AttemptScript {
    /// What attempt `attempt` (from 1) does.
    pub fn step(&self, attempt: u32) -> AttemptStep {
        let index = usize::try_from(attempt.saturating_sub(1)).unwrap_or(usize::MAX);
        self.steps.get(index).or(self.steps.last()).copied().unwrap_or(AttemptStep::VALUE)
    }
}

impl ToolBehaviours {
    /// What attempt `attempt` (from 1) of a tool's call number `call` (from 1) with these arguments does.
    pub fn step(&self, tool: ProgramTool, call: u64, arguments: &Value, attempt: u32) -> AttemptStep {
        let scripts = self.scripts.get(&tool).map(Vec::as_slice).unwrap_or_default();
        let key = match self.keying {
            Keying::Calls => call.saturating_sub(1),
            Keying::Arguments => key(&without_messages(arguments)),
        };
        let index = key.checked_rem(scripts.len() as u64).and_then(|index| usize::try_from(index).ok());
        index.and_then(|index| scripts.get(index)).map_or(AttemptStep::VALUE, |script| script.step(attempt))
    }
}

/// FNV-1a of the JSON text.
fn key(value: &Value) -> u64 {
    let hash = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    value.to_string().bytes().fold(0xcbf2_9ce4_8422_2325, hash)
}

/// The value without the wording of collected failures, which no model knows.
pub fn without_messages(value: &Value) -> Value {
    match value {
        Value::Array(elements) => elements.iter().map(without_messages).collect(),
        Value::Object(members) => {
            let told = members.iter().filter(|(name, _)| *name != "message");
            Value::Object(told.map(|(name, member)| (name.clone(), without_messages(member))).collect())
        }
        scalar => scalar.clone(),
    }
}
