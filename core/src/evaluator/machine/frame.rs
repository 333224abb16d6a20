//! One pending evaluation.

use std::sync::Arc;

use serde_json::Value;
use smallvec::SmallVec;

use super::super::datum::Datum;
use super::super::syntax::{Children, NodeId};
use super::branches::Branches;
use super::items::Items;
use super::scope::Scope;

/// A frame: its place, and which of those that stood there it is. So what is meant for a frame that is gone never reaches
/// the next one in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::evaluator) struct FrameId {
    pub(super) place: u32,
    pub(super) born: u32,
}

/// The values of arguments: most calls have few, and those take no memory of their own.
pub(super) type Values = SmallVec<[Datum; 2]>;

/// A node that is being evaluated. Small, since a recursion may keep millions.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) node: NodeId,
    /// Which of the parent's values this one becomes.
    pub(super) slot: u32,
    /// From 1.
    pub(super) depth: u32,
    /// The user functions that are active.
    pub(super) call_depth: u32,
    pub(super) scope: Option<Arc<Scope>>,
    pub(super) state: State,
}

/// What a frame waits for.
#[derive(Debug)]
pub(super) enum State {
    /// A permit to begin, where only so many expressions may be evaluated at once.
    Queued,
    /// Its turn, or its tool's definition.
    Entering,
    /// A conditional's condition.
    Condition,
    /// Arguments that are evaluated one after another: the one at `next`, or the tool's definition when none is left.
    Arguments { values: Values, next: u32 },
    /// Parameters that are evaluated at once: `waiting` of them.
    Parameters { values: Values, waiting: u32, is_failing: bool },
    /// A tool's answer, or the pause before the next attempt. The arguments are kept where one may follow.
    Calling { number: u64, attempt: u32, arguments: Option<Box<Value>> },
    /// The list of a map, filter or reduce.
    Iterable,
    /// The lambda, applied to an item.
    Items(Box<Items>),
    /// The expressions of a program's body.
    Branches(Box<Branches>),
    /// The expression of a memo that nobody has evaluated yet.
    MemoOwner,
    /// A memo that another frame evaluates.
    MemoWaiter,
    /// Its cancelled parts to end, before it fails.
    Failing,
}

impl State {
    /// Room for the values of `children`, none of them known yet.
    pub(super) fn values(children: Children) -> Values {
        children.iter().map(|_| Datum::Null).collect()
    }
}
