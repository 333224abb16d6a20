//! What an agent is asked and does, and what befalls it.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::time::Duration;

use serde_json::{Value, json};
use windtunnel_core::durable::ToolLoopEnd;
use windtunnel_core::executor::ToolCall;
use windtunnel_proptests::cases::{LifeCase, StoreFault};

/// An agent, whose model asks for these calls turn by turn and then answers.
#[derive(Clone, Debug)]
pub(super) struct AgentCase {
    pub(super) turns: Vec<TurnCase>,
    pub(super) turns_max: u32,
    pub(super) calls_max: u32,
    pub(super) turns_per_activation: NonZeroU32,
    /// What the executor's run guard allows.
    pub(super) run_calls_max: Option<u64>,
    pub(super) approval_timeout: Option<Duration>,
}

#[derive(Clone, Debug)]
pub(super) struct TurnCase {
    pub(super) calls: Vec<CallCase>,
    /// How often the model fails before it answers.
    pub(super) failures: usize,
}

#[derive(Clone, Debug)]
pub(super) struct CallCase {
    /// As the model gives it.
    pub(super) id: String,
    pub(super) tool: AgentTool,
    pub(super) arguments: Value,
    pub(super) review: Review,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AgentTool {
    LookUp,
    /// Once in a run.
    Open,
    /// With approval.
    Pay,
    /// Both.
    Close,
    /// The executor does not have it.
    Unknown,
}

/// What a reviewer does with a call that waits.
#[derive(Clone, Debug)]
pub(super) struct Review {
    pub(super) when: ReviewTime,
    pub(super) answer: ReviewAnswer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReviewTime {
    /// Before anything waits for it.
    Early,
    /// So long after it was seen to wait.
    After(Duration),
    Never,
}

#[derive(Clone, Debug)]
pub(super) enum ReviewAnswer {
    Approves,
    Edits(Value),
    Denies,
    /// Says something that is no decision.
    Mumbles,
}

/// What befalls the agent's worker.
#[derive(Clone, Debug)]
pub(super) struct AgentFaults {
    /// One after another; each has an executor of its own. The last one lives on.
    pub(super) lives: Vec<LifeCase>,
    pub(super) faults: Vec<StoreFault>,
    pub(super) replays_always: bool,
}

impl AgentFaults {
    pub(super) const NONE: Self = Self { lives: Vec::new(), faults: Vec::new(), replays_always: false };
}

impl AgentTool {
    pub(super) const KNOWN: [Self; 4] = [Self::LookUp, Self::Open, Self::Pay, Self::Close];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::LookUp => "look_up",
            Self::Open => "open",
            Self::Pay => "pay",
            Self::Close => "close",
            Self::Unknown => "fly",
        }
    }

    pub(super) fn needs_approval(self) -> bool {
        matches!(self, Self::Pay | Self::Close)
    }

    pub(super) fn is_once_per_run(self) -> bool {
        matches!(self, Self::Open | Self::Close)
    }
}

impl ReviewAnswer {
    /// What is delivered.
    pub(super) fn payload(&self) -> Value {
        match self {
            Self::Approves => json!({"approve": {}}),
            Self::Edits(arguments) => json!({"approve": {"edited_arguments": arguments}}),
            Self::Denies => json!({"deny": {"reason": "no"}}),
            Self::Mumbles => json!({"approval": true}),
        }
    }
}

impl TurnCase {
    pub(super) fn calls(&self) -> Vec<ToolCall> {
        let call = |call: &CallCase| ToolCall::new(call.tool.name(), call.arguments.clone()).with_id(&*call.id);
        self.calls.iter().map(call).collect()
    }

    /// What the calls are called: by their ids, or by their places where these do not serve. Written without the code of
    /// the loop.
    pub(super) fn names(&self) -> Vec<String> {
        let given: Vec<&str> = self.calls.iter().map(|call| &*call.id).collect();
        let mut names: Vec<String> = Vec::new();
        for (place, id) in given.iter().enumerate() {
            let is_usable = (1..=64).contains(&id.len()) && !id.chars().any(char::is_control);
            let is_free = |name: &str| !names.iter().any(|taken| taken == name);
            if is_usable && is_free(id) {
                names.push((*id).to_owned());
                continue;
            }
            let plain = format!("call-{}", place + 1);
            let others = (1..).map(|again| format!("{plain}-{again}"));
            let mut all = std::iter::once(plain.clone()).chain(others);
            names.push(all.find(|name| is_free(name) && !given.contains(&&**name)).unwrap());
        }
        names
    }
}

/// How a loop ends, by its budget alone.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Budgeted {
    pub(super) end: ToolLoopEnd,
    pub(super) turns: u32,
    pub(super) calls: u32,
}

impl AgentCase {
    pub(super) fn budgeted(&self) -> Budgeted {
        let (mut turns, mut calls) = (0, 0);
        loop {
            if turns == self.turns_max {
                return Budgeted { end: ToolLoopEnd::TurnLimit, turns, calls };
            }
            let asked = self.turns.get(turns as usize).map_or(0, |turn| turn.calls.len() as u32);
            turns += 1;
            if asked == 0 {
                return Budgeted { end: ToolLoopEnd::Answer, turns, calls };
            }
            if calls + asked > self.calls_max {
                return Budgeted { end: ToolLoopEnd::CallLimit, turns, calls };
            }
            calls += asked;
        }
    }

    /// All calls with their turns and the names that they go by.
    pub(super) fn named_calls(&self) -> impl Iterator<Item = (usize, String, &CallCase)> {
        let turns = self.turns.iter().enumerate();
        turns.flat_map(|(turn, case)| {
            case.names().into_iter().zip(&case.calls).map(move |(name, call)| (turn, name, call))
        })
    }

    /// Whether a plain loop does the same: nothing waits, nothing is bounded by calls or fails for the model, and the run's
    /// guards see no repeat, which the two know each in its own way (E7).
    pub(super) fn is_plain(&self) -> bool {
        let calls = || self.turns.iter().flat_map(|turn| &turn.calls);
        let guards = self.run_calls_max.is_some() || calls().any(|call| call.tool.is_once_per_run());
        let ids: BTreeSet<_> = calls().map(|call| &call.id).collect();
        let repeats = ids.len() < calls().count();
        self.budgeted().end != ToolLoopEnd::CallLimit
            && !calls().any(|call| call.tool.needs_approval())
            && self.turns.iter().all(|turn| turn.failures == 0)
            && !(guards && repeats)
    }
}
