//! Tools and models as services of other hosts: JSON-RPC 2.0 over a stream of bytes, one message a line, a connection a call.
//!
//! [`serve_tools`] and [`serve_model`] answer on a host of a world; [`answer_tools`] and [`answer_model`] on any stream.
//! [`RemoteTool`] and [`RemoteModel`] ask.
//!
//! ```
//! use serde_json::json;
//! use windtunnel_core::BoxError;
//! use windtunnel_core::executor::Executor;
//! use windtunnel_core::tool::{FunctionTool, Registry, ToolSpec};
//! use windtunnel_sim::World;
//! use windtunnel_sim::service::{RemoteTool, serve_tools};
//!
//! let any = || json!({"type": "object"});
//! let run = World::new(7).run(|world| async move {
//!     world.host("bank")?.start(move |process| async move {
//!         let effects = process.effects();
//!         let pay = FunctionTool::json("pay", "Pays.", any(), move |_arguments, _context| {
//!             let effects = effects.clone();
//!             async move {
//!                 effects.happen("payment", None).await;
//!                 Ok::<_, BoxError>("receipt 1")
//!             }
//!         });
//!         let mut tools = Registry::new();
//!         if tools.register(process.faults().tool(pay)).is_ok() {
//!             let _ended = serve_tools(process, 7000, tools).await;
//!         }
//!     });
//!     let agent = world.host("agent")?.process();
//!     let calling = agent.clone();
//!     let connect = move || {
//!         let process = calling.clone();
//!         async move { process.connect("bank", 7000).await }
//!     };
//!     let mut tools = Registry::new();
//!     tools.register(RemoteTool::new(ToolSpec::new("pay", "Pays.", any()), connect))?;
//!     Ok::<_, BoxError>(Executor::builder(tools).env(agent.env()).build().run("pay", json!({})).await?)
//! });
//! assert_eq!(run.outcome?.unwrap(), "receipt 1");
//! # Ok::<(), windtunnel_sim::WorldError>(())
//! ```

mod caller;
mod error;
mod line;
mod message;
mod model_answers;
mod remote_model;
mod remote_tool;
mod server;
mod tool_answers;

pub use error::ServiceError;
pub use line::LINE_BYTES_MAX;
pub use model_answers::answer_model;
pub use remote_model::RemoteModel;
pub use remote_tool::RemoteTool;
pub use server::{serve_model, serve_tools};
pub use tool_answers::answer_tools;
