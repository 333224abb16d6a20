//! What is predicted of one evaluation.

use std::time::Duration;

use serde_json::Value;

use super::interpreter::{Interpreter, Stop};
use super::{BranchEnd, ProgramEnd, ProgramFailure};
use crate::cases::{ProgramCase, ProgramTree};

/// What a correct evaluator makes of a [`ProgramCase`].
///
/// ```
/// use serde_json::json;
/// use windtunnel_core::evaluator::Mode;
/// use windtunnel_proptests::cases::{Expression, ProgramCase, ProgramTree, Version2Program};
/// use windtunnel_proptests::models::{ProgramEnd, ProgramPrediction};
///
/// let negate = Expression::ToolCall {
///     tool: "negate".to_owned(),
///     arguments: vec![("n".to_owned(), Expression::Literal(json!(3)))],
/// };
/// let program = ProgramTree::Version2(Version2Program { definitions: vec![], body: vec![negate], mode: Mode::Single });
/// let prediction = ProgramPrediction::of(&ProgramCase::plain(program)).unwrap();
/// assert_eq!(prediction.end, ProgramEnd::Value(json!(-3)));
/// assert_eq!((prediction.nodes, prediction.tool_calls, prediction.peak_depth), (3, 1, 3));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramPrediction {
    /// How it ends.
    pub end: ProgramEnd,
    /// Evaluations of nodes, and the one that a limit refused.
    pub nodes: u64,
    /// Attempts, and the one that a limit refused.
    pub tool_calls: u64,
    /// The greatest depth.
    pub peak_depth: u64,
    /// The most user functions in each other.
    pub peak_call_depth: u64,
    /// The calls that made an attempt: in order where nothing is done at once.
    pub calls: Vec<PredictedCall>,
    /// How long it takes.
    pub elapsed: Duration,
    /// Whether all else follows from the rules. It does where nothing is done at once, and where nothing fails
    /// and no tool counts its calls; else siblings decide who comes first.
    pub is_certain: bool,
    /// Whether the peaks and `elapsed` do too. They may not where branches that run at once share a memo: the first that
    /// asks evaluates it, at its own depth.
    pub is_ordered: bool,
}

/// One call of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictedCall {
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub arguments: Value,
    /// How many attempts were made.
    pub attempts: u32,
}

impl ProgramPrediction {
    /// Plays the case through; nothing if it is too long to be played.
    pub fn of(case: &ProgramCase) -> Option<Self> {
        let mut interpreter = Interpreter::new(case);
        let result = match &case.program {
            ProgramTree::Version1(program) => interpreter.run_version_1(program),
            ProgramTree::Version2(program) => interpreter.run_version_2(program),
        };
        let end = match result {
            Ok(end) => end,
            Err(Stop::Failed(failure)) => ProgramEnd::Failed(failure),
            Err(Stop::Deadline) => {
                ProgramEnd::Failed(ProgramFailure::limit(windtunnel_core::evaluator::Resource::WallClockSeconds))
            }
            Err(Stop::Interrupted) => ProgramEnd::Interrupted,
            Err(Stop::TooLong) => return None,
        };
        Some(Self { end, ..interpreter.into_prediction() })
    }

    /// The outcomes of the branches, where failures are collected.
    pub fn branches(&self) -> &[BranchEnd] {
        match &self.end {
            ProgramEnd::Branches(branches) => branches,
            _ => &[],
        }
    }
}
