//! Windtunnel tests AI agents in a deterministic simulated world.
//!
//! It runs the agent's real code with the clock, chance, models and tools in the hands of a seed, so that a test can
//! wait days in microseconds, fail on purpose, and repeat exactly.
//!
//! - [`executor`]: what happens between an agent's decision to call a tool and the result it gets.
//! - [`tool`] and [`model`]: what agents call.
//! - [`evaluator`]: programs of tool calls that a model plans in one go, evaluated under limits and policies.
//! - [`durable`]: workflows whose model and tool calls are committed before they are used, and not made again.
//! - [`env`](mod@env): the one door to time, chance and identity; production and a world give different ones.
//! - [`event`]: every step that matters, to assert on.
//! - [`fixtures`]: recorded traffic, replays of it, and golden tests.
//! - [`sim`]: worlds, scripts, and exploring seeds. With the feature `alarm`, code in a world that reads the real clock, draws
//!   the system's entropy or starts a thread fails its run, or is served what the world has (`sim::Leaks`).
//!
//! ```
//! use std::time::Duration;
//! use windtunnel::executor::{Executor, ToolCall};
//! use windtunnel::sim::World;
//! use windtunnel::sim::script::{Failure, ScriptedTool, Step};
//! use windtunnel::tool::{Registry, ToolSpec};
//!
//! let run = World::new(7).run(|world| async move {
//!     let spec = ToolSpec { retries: 3, ..ToolSpec::new("fetch", "Fetches.", serde_json::json!({"type": "object"})) };
//!     let script = [Step::fail(Failure::Foreign).after(Duration::from_secs(90)), Step::answer()];
//!     let mut registry = Registry::new();
//!     registry.register(ScriptedTool::new(spec, script)).unwrap();
//!     let executor = Executor::builder(registry).env(world.env()).sink(world.trace()).build();
//!     executor.run_call(ToolCall::new("fetch", serde_json::json!({}))).await.unwrap()
//! });
//! assert_eq!(run.outcome.unwrap().attempts, 2);
//! assert!(run.elapsed > Duration::from_secs(90));
//! ```

pub use windtunnel_core::{
    BoxError, BoxFuture, BoxStream, durable, env, evaluator, event, executor, json, model, tool,
};

/// Recorded traffic, replays of it, and golden tests.
pub use windtunnel_fixtures as fixtures;

/// Worlds, scripts, and exploring seeds.
pub use windtunnel_sim as sim;

/// The README's program is compiled and run with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
