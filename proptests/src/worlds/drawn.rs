//! A step that was drawn, and can be made simpler again and again.

use proptest::strategy::{BoxedStrategy, Strategy, ValueTree};
use proptest::test_runner::{Config, Reason, RngAlgorithm, TestRng, TestRunner};

use super::Step;

/// A step that was drawn, as simple as it has become.
pub(super) struct Drawn<O> {
    pub(super) step: Step<O>,
    strategy: BoxedStrategy<Step<O>>,
    bytes: [u8; 32],
    /// How its tree came to it. A tree cannot be copied, and does not come back from a value that was tried in vain: so it is
    /// made anew.
    moves: Vec<Move>,
}

/// A step on its way to simpler ones.
pub(super) struct Moving<O> {
    tree: Box<dyn ValueTree<Value = Step<O>>>,
    moves: Vec<Move>,
}

#[derive(Clone, Copy, Debug)]
enum Move {
    Simplify,
    Complicate,
}

/// What draws from these bytes alone.
pub(super) fn runner_of(bytes: &[u8; 32]) -> TestRunner {
    let config = Config { failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, bytes))
}

impl<O: Clone + std::fmt::Debug> Drawn<O> {
    /// The step that the strategy draws from these bytes.
    pub(super) fn new(strategy: BoxedStrategy<Step<O>>, bytes: [u8; 32]) -> Result<Self, Reason> {
        let step = strategy.new_tree(&mut runner_of(&bytes))?.current();
        Ok(Self { step, strategy, bytes, moves: Vec::new() })
    }

    /// The step where it is, ready to go on. It was drawn before, so that it can be drawn again.
    pub(super) fn moving(&self) -> Option<Moving<O>> {
        let tree = self.strategy.new_tree(&mut runner_of(&self.bytes)).ok()?;
        let mut moving = Moving { tree, moves: Vec::new() };
        for step in &self.moves {
            moving.go(*step);
        }
        Some(moving)
    }

    /// It is now where that one is.
    pub(super) fn stays(&mut self, moving: &Moving<O>) {
        self.step = moving.step();
        self.moves.clone_from(&moving.moves);
    }
}

impl<O: Clone + std::fmt::Debug> Moving<O> {
    pub(super) fn step(&self) -> Step<O> {
        self.tree.current()
    }

    /// To a simpler one, if there is one.
    pub(super) fn simplify(&mut self) -> bool {
        self.go(Move::Simplify)
    }

    /// Back from one that was tried in vain, if there is one on the way.
    pub(super) fn complicate(&mut self) -> bool {
        self.go(Move::Complicate)
    }

    fn go(&mut self, step: Move) -> bool {
        self.moves.push(step);
        match step {
            Move::Simplify => self.tree.simplify(),
            Move::Complicate => self.tree.complicate(),
        }
    }
}
