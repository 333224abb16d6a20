//! Whose turn it is: parts that go on at the same instant take turns, round by round.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use super::frame::FrameId;
use super::interpreter::Input;

/// Frames that can go on now, in this round or a later one. A round is no time: it is how often everybody had a turn.
#[derive(Debug, Default)]
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

impl Turns {
    pub(super) fn is_empty(&self) -> bool {
        self.now.is_empty() && self.later.is_empty()
    }

    /// After everybody else who is known by now, `rounds` after this one.
    pub(super) fn add(&mut self, rounds: u64, frame: FrameId, input: Input) {
        if rounds == 0 {
            self.now.push_back((frame, input));
            return;
        }
        self.added += 1;
        self.later.push(Reverse(Turn { round: self.round + rounds, added: self.added, frame, input }));
    }

    /// The next turn. `draw` picks one of so many in the same round.
    pub(super) fn take(&mut self, draw: Option<&mut dyn FnMut(usize) -> usize>) -> Option<(FrameId, Input)> {
        if self.now.is_empty() {
            self.round = self.later.peek()?.0.round;
            while self.later.peek().is_some_and(|turn| turn.0.round == self.round) {
                self.now.extend(self.later.pop().map(|turn| (turn.0.frame, turn.0.input)));
            }
        }
        match draw {
            Some(draw) if self.now.len() > 1 => self.now.remove(draw(self.now.len())),
            _ => self.now.pop_front(),
        }
    }

    /// How many rounds each frame still waits for its last turn.
    pub(super) fn waits(&self) -> BTreeMap<FrameId, u64> {
        let now = self.now.iter().map(|(frame, _)| (*frame, 0));
        let later = self.later.iter().map(|turn| (turn.0.frame, turn.0.round - self.round));
        let mut waits = BTreeMap::new();
        for (frame, rounds) in now.chain(later) {
            let wait = waits.entry(frame).or_insert(rounds);
            *wait = rounds.max(*wait);
        }
        waits
    }

    /// Takes the turns of other frames away.
    pub(super) fn keep(&mut self, mut is_kept: impl FnMut(FrameId) -> bool) {
        self.now.retain(|(frame, _)| is_kept(*frame));
        self.later.retain(|turn| is_kept(turn.0.frame));
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
