//! The world: where time, chance, models and tools belong to a seed.
//!
//! [`World`] runs async code on time that jumps from one event to the next, on as many [hosts](Host) as it has, each with
//! a [disk](Disk), over a network; the faults of both are yours to make ([`fault`]). [`explore()`] runs it over many seeds
//! and reports the first that fails; a [`Campaign`] does so with faults. [`script`] plays tools, reviewers and models,
//! [`service`] puts them on hosts of their own. [`report`] shows runs in a browser, and [`export`] writes them for other
//! tools. The feature `case` adds case files, which say all of that in JSON or TOML.
//! The feature `alarm` notices guests that reach past their world (`Leaks`).

mod assertion;
mod campaign;
#[cfg(feature = "case")]
pub mod case;
mod determinism;
mod disk;
mod effect;
pub mod export;
pub mod fault;
mod host;
mod network;
pub mod provider;
pub mod report;
mod schedule;
pub mod script;
pub mod service;
mod trace;
mod world;

pub use assertion::{AssertionKind, Assertions, Tally};
pub use campaign::{
    Campaign, CampaignReport, Coverage, DeterminismError, ExploreError, Failure, Minimal, PairCoverage, Recipe,
    RecipeError, Skipped, SweepPoint, SweepReport, Watched, explore, explore_in, minimize,
};
pub use determinism::Divergence;
pub use disk::{Disk, File, Metadata, OpenOptions};
pub use effect::{Effect, Effects};
pub use fault::{EventPattern, FaultPlan, RandomFaults};
pub use host::{Host, HostError, Process};
pub use network::{LinkSettings, TcpListener, TcpStream};
pub use schedule::{Schedule, Task, TaskError};
pub use trace::Trace;
pub use world::{Activity, Leaks, Reaction, Run, Trigger, Waiting, World, WorldError, WorldHandle};
