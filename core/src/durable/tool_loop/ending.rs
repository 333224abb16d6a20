//! What a step of a loop comes to.

use serde::{Deserialize, Serialize};

use super::state::ToolLoopState;
use crate::durable::decision::Decision;
use crate::model::{Role, Usage};

/// How far a loop came in one activation.
#[derive(Debug)]
pub enum ToolLoopStep {
    /// It goes on in another activation: the entry returns this decision.
    Next(Decision),
    /// It is over.
    Ended {
        /// Why.
        end: ToolLoopEnd,
        /// Where it stopped.
        state: Box<ToolLoopState>,
    },
}

/// Why a loop is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolLoopEnd {
    /// The model answered without calling a tool.
    Answer,
    /// The model still called tools in its last turn. Their results are in the conversation.
    TurnLimit,
    /// The model asked for more calls than were left. None of its last turn was made.
    CallLimit,
}

/// What a workflow that is nothing but a loop completes with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolLoopOutput {
    /// Why it is over.
    pub end: ToolLoopEnd,
    /// The model's last text; empty, if it ended otherwise than with an answer.
    pub answer: String,
    /// How many times the model was asked.
    pub turns: u32,
    /// How many tool calls were made.
    pub calls: u32,
    /// Tokens read and written.
    pub usage: Usage,
}

impl ToolLoopOutput {
    pub(super) fn new(end: ToolLoopEnd, state: &ToolLoopState) -> Self {
        let last = state.messages().last().filter(|last| end == ToolLoopEnd::Answer && last.role == Role::Assistant);
        Self {
            end,
            answer: last.map(|last| last.content.clone()).unwrap_or_default(),
            turns: state.turns,
            calls: state.calls,
            usage: state.usage,
        }
    }
}
