//! A system that is driven through operations, with a model of it.

use std::fmt;
use std::time::Duration;

use proptest::sample::select;
use proptest::strategy::{BoxedStrategy, Strategy};
use serde_json::Value;
use windtunnel_sim::{RandomFaults, World, WorldHandle};

use super::Step;
use super::rust_text::debug_as_rust;
use crate::Violation;

/// A system of yours in a world, the operations that are done to it, and a model that says what may come of them.
///
/// The system is set up anew in the world of each run. Operations are applied one after another, with waits between them,
/// while faults come from the seed; what runs in the background, such as tasks of hosts, goes on meanwhile. The model is told
/// what was seen, so that it can follow what a fault left open: an operation that failed may have happened.
pub trait StateMachine: fmt::Debug + Sync {
    /// Something that is done to the system. Its `Debug` form is what reports show, and what printed tests are made of.
    type Operation: Clone + fmt::Debug + Send + Sync + 'static;
    /// The system under test, as a run's scenario holds it.
    type System;
    /// What is known of it. Small, and independent of the system's code.
    type Model;

    /// Any operation. It is drawn before anything runs: what makes no sense when its turn comes is left out
    /// ([`is_possible`](Self::is_possible)).
    fn operations(&self) -> BoxedStrategy<Self::Operation>;

    /// How long nothing is done, where that is drawn. Default: from 1 ms to a minute.
    fn waits(&self) -> BoxedStrategy<Duration> {
        select(&[1_u64, 10, 100, 1_000, 10_000, 60_000][..]).prop_map(Duration::from_millis).boxed()
    }

    /// The world of a seed. Default: one that heals after an hour and ends after a day.
    fn world(&self, seed: u64) -> World {
        const HOUR: Duration = Duration::from_secs(60 * 60);
        World::new(seed).heal_after(HOUR).time_limit(24 * HOUR)
    }

    /// What goes wrong at random. Default: [`RandomFaults::swarm`].
    fn faults(&self) -> RandomFaults {
        RandomFaults::swarm()
    }

    /// What is known of the system before anything is done to it.
    fn model(&self) -> Self::Model;

    /// Sets the system up: its hosts, tools, executors.
    fn set_up(&self, world: &WorldHandle) -> impl Future<Output = Self::System>;

    /// Whether an operation makes sense now. Default: always.
    fn is_possible(&self, _model: &Self::Model, _operation: &Self::Operation) -> bool {
        true
    }

    /// Does it, tells the model what was seen, and says if that is nothing that may come of it. Give each rule a name of its
    /// own: a failure is made small as long as the same rule is broken.
    fn apply(
        &self,
        system: &mut Self::System,
        model: &mut Self::Model,
        operation: &Self::Operation,
    ) -> impl Future<Output = Result<(), Violation>>;

    /// What holds after each step, whatever has gone wrong. Default: nothing.
    ///
    /// # Errors
    /// The rule that is broken, and what was seen.
    fn check(&self, _system: &Self::System, _model: &Self::Model) -> Result<(), Violation> {
        Ok(())
    }

    /// What holds at the end, once the system has come to rest: wait for that here. Default: nothing more.
    fn settle(
        &self,
        _system: &mut Self::System,
        _model: &mut Self::Model,
    ) -> impl Future<Output = Result<(), Violation>> {
        std::future::ready(Ok(()))
    }

    /// The same steps as a case file, without seed and faults, if one can say them: its `always` names the rules as the
    /// violations do. It is printed with a failure if it fails by the same rule (feature `case`). Default: none.
    fn case_file(&self, _steps: &[Step<Self::Operation>]) -> Option<Value> {
        None
    }

    /// An operation as Rust, for printed tests. Default: its derived `Debug` form with the name of its type before it, which
    /// is Rust where it holds numbers, flags and structs of such.
    fn operation_as_rust(&self, operation: &Self::Operation) -> String {
        debug_as_rust(operation)
    }

    /// This machine as Rust, for printed tests. Default: as for operations.
    fn as_rust(&self) -> String {
        debug_as_rust(self)
    }
}
