//! What the failure of one part does to the others (V8).
//!
//! A failure takes turns like everything else: what has parts at once hears of it two rounds later, cancels the other
//! parts, and waits as many rounds as they take to end before it fails itself. Siblings elsewhere go on meanwhile, as
//! they would if each had a task of its own. All of it is one instant.

use super::super::error::EvaluationError;
use super::super::syntax::{MemoId, Node};
use super::branches::Failure;
use super::frame::{Frame, FrameId, State};
use super::interpreter::{Input, Machine, Step};

/// How many rounds after the end of its last part a frame goes on.
pub(super) const ROUNDS_TO_HEAR: u64 = 2;

/// How many rounds a part takes to end that is cancelled while it waits for something.
const ROUNDS_TO_END: u64 = 1;

impl<'p> Machine<'p> {
    /// An error in a frame ends it, and what it is the only part of.
    pub(super) fn fail(&mut self, id: FrameId, error: Box<EvaluationError>) -> Step {
        if error.kind().is_none() {
            return Step::Done(Box::new(Err(*error)));
        }
        let mut released = Vec::new();
        let mut current = id;
        let step = loop {
            let (frame, parent) = self.take_out(current, &mut released);
            let Some(parent) = parent else { break Step::Done(Box::new(Err(*error))) };
            match &self.frames.get(parent).state {
                State::Branches(branches) if branches.is_sequential() && !branches.does_collect() => current = parent,
                State::Parameters { .. } => {
                    self.end_child(parent);
                    break self.fail_part(parent, frame.slot, error);
                }
                State::Branches(_) => break self.fail_part(parent, frame.slot, error),
                _ => current = parent,
            }
        };
        released.into_iter().for_each(|key| self.release_memo(key));
        step
    }

    /// A part of a frame that has parts at once failed.
    pub(super) fn fail_part(&mut self, id: FrameId, slot: u32, error: Box<EvaluationError>) -> Step {
        let is_first = match &mut self.frames.get_mut(id).state {
            State::Branches(branches) if branches.does_collect() => {
                let failure = Failure::of(&error);
                return self.take_branch(id, slot, Err(failure));
            }
            State::Branches(branches) => branches.begin_to_fail(),
            State::Parameters { is_failing, .. } => !std::mem::replace(is_failing, true),
            _ => false,
        };
        // A permit is free before anybody hears of the failure.
        self.leave(id);
        if is_first {
            self.schedule(1, id, Input::Hear(error));
        }
        Step::Wait
    }

    /// Cancels all parts of a frame, which then fails.
    pub(super) fn cancel_parts(&mut self, id: FrameId, error: Box<EvaluationError>) -> Step {
        let round = self.turns.round();
        let mut released = Vec::new();
        let mut at_work = 0;
        let mut open = vec![(id, Ending::default())];
        let rounds = loop {
            let Some((current, ending)) = open.pop() else { break 0 };
            if let Some(child) = self.frames.first_child(current) {
                open.extend([(current, ending), (child, Ending::default())]);
                continue;
            }
            let Some((_, around)) = open.last_mut() else { break ending.last };
            let turn = self.frames.rounds_to_turn(current, round);
            let (frame, _) = self.take_out(current, &mut released);
            self.cancelled.push(current);
            at_work += u64::from(!ending.has_parts && !matches!(frame.state, State::Queued));
            around.add(ending.rounds(&frame, turn));
        };
        for _ in 1..at_work {
            self.budget.end_work();
        }
        self.frames.get_mut(id).state = State::Failing;
        released.into_iter().for_each(|key| self.release_memo(key));
        Step::Later(heard(0, rounds), id, Input::Failed(error))
    }

    fn take_out(&mut self, id: FrameId, released: &mut Vec<MemoId>) -> (Frame, Option<FrameId>) {
        let (frame, parent) = self.frames.remove(id);
        self.end_strand(id);
        if let (State::MemoOwner, Node::Memo { key, .. }) = (&frame.state, self.tree.node(frame.node)) {
            released.push(*key);
        }
        (frame, parent)
    }
}

/// When a frame that fails in round `failing` has heard that its last part ended in round `last`.
fn heard(failing: u64, last: u64) -> u64 {
    if last > failing { last + ROUNDS_TO_HEAR } else { failing }
}

/// When the parts of a cancelled frame end, in rounds from now.
#[derive(Clone, Copy, Default)]
struct Ending {
    first: u64,
    last: u64,
    has_parts: bool,
}

impl Ending {
    fn add(&mut self, rounds: u64) {
        self.first = if self.has_parts { self.first.min(rounds) } else { rounds };
        self.last = self.last.max(rounds);
        self.has_parts = true;
    }

    /// When the frame itself ends: at its own turn, or when its parts have ended and it has heard of it.
    fn rounds(self, frame: &Frame, turn: Option<u64>) -> u64 {
        let has_parts_at_once = match &frame.state {
            State::Parameters { .. } => true,
            State::Branches(branches) => !branches.is_sequential(),
            _ => false,
        };
        match (self.has_parts, has_parts_at_once) {
            (false, _) => turn.unwrap_or(ROUNDS_TO_END),
            (true, true) => heard(self.first + ROUNDS_TO_HEAR, self.last.max(turn.unwrap_or(0))),
            (true, false) => self.last,
        }
    }
}
