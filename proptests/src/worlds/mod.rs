//! State-machine tests of whole worlds: random operations, waits and faults, made small together.
//!
//! Say what is done to a system, what a model of it knows, and what must hold: [`StateMachine`]. An [`Exploration`] draws
//! sequences of operations with waits between them, and lets each seed draw faults while they run. A run in which a rule is
//! broken is made as small as can be, all of it together: its steps, their values, its faults, where and for how long they
//! come, the seed and the order of tasks. The [`WorldFailure`] prints it as a test in Rust and, where the machine can say it
//! so, as a case file for `windtunnel run`.
//!
//! A shop that asks again when it does not hear from its bank, and so pays twice:
//!
//! ```
//! use proptest::prelude::*;
//! use windtunnel_core::BoxError;
//! use windtunnel_proptests::Violation;
//! use windtunnel_proptests::worlds::{Exploration, StateMachine, Step};
//! use windtunnel_sim::{RandomFaults, WorldHandle};
//!
//! #[derive(Clone, Debug, PartialEq)]
//! enum Operation {
//!     Pay { amount: u32 },
//! }
//!
//! #[derive(Debug)]
//! struct Shop;
//!
//! impl StateMachine for Shop {
//!     type Operation = Operation;
//!     type System = WorldHandle;
//!     /// How often it was told to pay.
//!     type Model = usize;
//!
//!     fn operations(&self) -> BoxedStrategy<Operation> {
//!         (1_u32..100).prop_map(|amount| Operation::Pay { amount }).boxed()
//!     }
//!
//!     fn faults(&self) -> RandomFaults {
//!         RandomFaults::swarm().rate(0.2)
//!     }
//!
//!     fn model(&self) -> usize {
//!         0
//!     }
//!
//!     async fn set_up(&self, world: &WorldHandle) -> WorldHandle {
//!         world.clone()
//!     }
//!
//!     async fn apply(&self, world: &mut WorldHandle, told: &mut usize, _: &Operation) -> Result<(), Violation> {
//!         let pay = || async {
//!             world.effects().happen("payment", None).await;
//!             Ok::<_, BoxError>(())
//!         };
//!         let attempts = async {
//!             while world.faults().call("pay", pay).await.is_err() {}
//!         };
//!         let _in_time = world.env().timeout(std::time::Duration::from_secs(60), attempts).await;
//!         *told += 1;
//!         Ok(())
//!     }
//!
//!     fn check(&self, world: &WorldHandle, told: &usize) -> Result<(), Violation> {
//!         let paid = world.effects().count("payment");
//!         if paid <= *told { Ok(()) } else { Err(Violation::new("paid once", format!("paid {paid} times, told {told}"))) }
//!     }
//! }
//!
//! let found = Exploration::of(Shop).run().unwrap_err();
//! assert_eq!(found.steps, [Step::Do(Operation::Pay { amount: 1 })]);
//! assert_eq!(found.recipe.faults.faults.len(), 1);
//! assert!(found.rust_test.contains("fn paid_once_does_not_hold()"));
//! ```
//!
//! Operations are drawn before anything runs, and left out when their turn comes if the model finds no sense in them
//! ([`StateMachine::is_possible`]): after a fault only the run itself says what the system's state is. That is why this is
//! no `proptest-state-machine`, whose reference machine walks through all transitions before the first of them is applied,
//! whose system is called without a world around it, and which knows nothing of faults that must shrink with the steps.

#[cfg(feature = "case")]
mod case_text;
mod drawn;
mod exploration;
mod failure;
#[cfg(feature = "case")]
mod in_case;
mod in_world;
mod machine;
mod repeat;
mod rust_text;
mod smallest;
mod step;
mod subject;

pub use exploration::{Exploration, Explored};
pub use failure::WorldFailure;
#[cfg(feature = "case")]
pub use in_case::{CaseWorld, InCase};
pub use in_world::InWorld;
pub use machine::StateMachine;
pub use repeat::repeat;
#[cfg(feature = "case")]
pub use repeat::repeat_case;
pub use step::Step;
pub use subject::{Played, Subject};
pub use windtunnel_sim::Recipe;
