//! Memo values: evaluated once in an evaluation, shared by whoever asks for them (V3).

use std::collections::VecDeque;

use super::super::datum::Datum;
use super::super::syntax::{MemoId, Node, NodeId};
use super::frame::{FrameId, State};
use super::interpreter::{Input, Machine, Step, Stepped};

/// What is known of one memo key.
#[derive(Debug)]
pub(super) enum Memo {
    /// Nothing.
    Unknown,
    /// A frame evaluates it, and others wait, in order.
    Evaluated { owner: FrameId, waiters: VecDeque<FrameId> },
    /// Its value.
    Known(Datum),
}

impl<'p> Machine<'p> {
    pub(super) fn enter_memo(&mut self, id: FrameId, key: MemoId, expression: NodeId) -> Stepped {
        match &mut self.memos[key.0 as usize] {
            Memo::Known(datum) => {
                let datum = datum.clone();
                Ok(self.finish(id, datum))
            }
            Memo::Unknown => {
                self.own(id, key);
                self.descend(id, expression)
            }
            Memo::Evaluated { owner, .. } => {
                let owner = *owner;
                if self.waits_for(owner, id) {
                    let key = &self.tree.memo_keys[key.0 as usize];
                    let problem = format!("the value of memo key {key:?} needs itself");
                    return Err(self.invalid(self.frames.get(id).node, problem));
                }
                if let Memo::Evaluated { waiters, .. } = &mut self.memos[key.0 as usize] {
                    waiters.push_back(id);
                }
                self.frames.get_mut(id).state = State::MemoWaiter;
                Ok(Step::Wait)
            }
        }
    }

    fn own(&mut self, id: FrameId, key: MemoId) {
        self.memos[key.0 as usize] = Memo::Evaluated { owner: id, waiters: VecDeque::new() };
        self.frames.get_mut(id).state = State::MemoOwner;
        self.begin_memo_strand(id, key);
    }

    /// Whether `owner` cannot end before `id` does, directly or by memos that others evaluate.
    fn waits_for(&self, mut owner: FrameId, id: FrameId) -> bool {
        // Inside one branch version 2 does one thing at a time: each owner leads to one innermost frame.
        for _ in 0..=self.memos.len() {
            if self.frames.ancestors(id).any(|ancestor| ancestor == owner) {
                return true;
            }
            let innermost = std::iter::successors(Some(owner), |inner| self.frames.first_child(*inner)).last();
            let Some(frame) = innermost.map(|inner| self.frames.get(inner)) else { return false };
            let (State::MemoWaiter, Node::Memo { key, .. }) = (&frame.state, self.tree.node(frame.node)) else {
                return false;
            };
            let Memo::Evaluated { owner: next, .. } = self.memos[key.0 as usize] else { return false };
            owner = next;
        }
        false
    }

    /// The owner has the value: whoever waited has it too.
    pub(super) fn keep_memo(&mut self, id: FrameId, datum: Datum) -> Step {
        if let Node::Memo { key, .. } = self.tree.node(self.frames.get(id).node) {
            let memo = std::mem::replace(&mut self.memos[key.0 as usize], Memo::Known(datum.clone()));
            if let Memo::Evaluated { waiters, .. } = memo {
                // Some of them may have been cancelled.
                let waiters: Vec<_> = waiters.into_iter().filter(|waiter| self.frames.contains(*waiter)).collect();
                for waiter in waiters {
                    self.schedule(1, waiter, Input::Value { slot: 0, datum: datum.clone() });
                }
            }
        }
        self.finish(id, datum)
    }

    /// The owner was cancelled: the first that waits evaluates the expression itself.
    pub(super) fn release_memo(&mut self, key: MemoId) {
        let memo = std::mem::replace(&mut self.memos[key.0 as usize], Memo::Unknown);
        let Memo::Evaluated { mut waiters, .. } = memo else { return };
        // Some of them may have been cancelled.
        let Some(next) = std::iter::from_fn(|| waiters.pop_front()).find(|waiter| self.frames.contains(*waiter)) else {
            return;
        };
        self.own(next, key);
        if let Memo::Evaluated { waiters: still_waiting, .. } = &mut self.memos[key.0 as usize] {
            *still_waiting = waiters;
        }
        let Node::Memo { expression, .. } = self.tree.node(self.frames.get(next).node) else { return };
        let child = self.add_child(next, *expression, 0);
        self.schedule(1, child, Input::Enter);
    }
}
