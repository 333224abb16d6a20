//! What is explored: something that steps and a recipe make a run of.

use std::fmt;

use proptest::strategy::BoxedStrategy;
use serde_json::Value;
use windtunnel_core::event::Event;
use windtunnel_sim::fault::DeliveredFault;
use windtunnel_sim::{Recipe, WorldError};

use super::Step;
use crate::Violation;

/// What is explored: a [`StateMachine`](super::StateMachine) in its world ([`InWorld`](super::InWorld)), or a case file of
/// which the operations are the parts (`InCase`, feature `case`).
pub trait Subject: Sync {
    /// What steps do.
    type Operation: Clone + fmt::Debug + Send + Sync + 'static;

    /// Any step.
    fn steps(&self) -> BoxedStrategy<Step<Self::Operation>>;

    /// Runs the steps with all that this seed draws.
    fn draw(&self, steps: &[Step<Self::Operation>], seed: u64) -> Played;

    /// Runs them as the recipe says, and keeps which tasks went on if it is told to.
    fn repeat(&self, steps: &[Step<Self::Operation>], recipe: &Recipe, keeps_choices: bool) -> Played;

    /// The body of a test that repeats the run, in Rust.
    fn rust_body(&self, steps: &[Step<Self::Operation>], recipe: &Recipe) -> String;

    /// A case file that fails by this, if there is one.
    fn case_file(&self, steps: &[Step<Self::Operation>], recipe: &Recipe, error: &WorldError) -> Option<Value>;
}

/// What came of a run.
#[derive(Debug)]
#[must_use]
pub struct Played {
    /// Whether it came to its end, and all rules held.
    pub outcome: Result<(), WorldError>,
    /// The rule that was broken, with what was seen, if one of a machine's own was.
    pub violation: Option<Violation>,
    /// All its events.
    pub trace: Vec<Event>,
    /// The faults that came.
    pub faults: Vec<DeliveredFault>,
    /// Which tasks went on, if that was kept.
    pub choices: Vec<u64>,
    /// The digest of the events.
    pub digest: String,
}
