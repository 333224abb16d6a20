//! Whose turn it is: parts that go on at the same instant take turns, round by round.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::frame::FrameId;
use super::interpreter::Input;

/// Frames that can go on now, in this round or a later one. A round is no time: it is how often everybody had a turn.
#[derive(Debug)]
pub(super) struct Turns {
    round: u64,
    now: VecDeque<(FrameId, Input)>,
    later: BinaryHeap<Reverse<Turn>>,
    added: u64,
}

/// In a later round, in the order of adding.
#[derive(Debug)]
struct Turn {
    round: u64,
    added: u64,
    frame: FrameId,
    input: Input,
}

impl Default for Turns {
    fn default() -> Self {
        // Round 0 is before every turn.
        Self { round: 1, now: VecDeque::new(), later: BinaryHeap::new(), added: 0 }
    }
}

impl Turns {
    pub(super) fn is_empty(&self) -> bool {
        self.now.is_empty() && self.later.is_empty()
    }

    /// After everybody else who is known by now, `rounds` after this one. Gives the round.
    pub(super) fn add(&mut self, rounds: u64, frame: FrameId, input: Input) -> u64 {
        let round = self.round + rounds;
        if rounds == 0 {
            self.now.push_back((frame, input));
        } else {
            self.added += 1;
            self.later.push(Reverse(Turn { round, added: self.added, frame, input }));
        }
        round
    }

    /// The round that is on.
    pub(super) fn round(&self) -> u64 {
        self.round
    }

    /// The next turn, which may be that of a frame that is gone. `draw` picks one of so many in the same round.
    pub(super) fn take(&mut self, draw: Option<&mut dyn FnMut(usize) -> usize>) -> Option<(FrameId, Input)> {
        if self.now.is_empty() {
            self.round = self.later.peek()?.0.round;
            while self.later.peek().is_some_and(|turn| turn.0.round == self.round) {
                self.now.extend(self.later.pop().map(|turn| (turn.0.frame, turn.0.input)));
            }
        }
        match draw {
            Some(draw) if self.now.len() > 1 => self.now.swap_remove_back(draw(self.now.len())),
            _ => self.now.pop_front(),
        }
    }
}

impl Ord for Turn {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.round, self.added).cmp(&(other.round, other.added))
    }
}

impl PartialOrd for Turn {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Turn {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Turn {}
