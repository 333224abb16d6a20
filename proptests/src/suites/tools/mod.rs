//! The suite for providers of tools.

mod calls;
mod failures;
mod interrupted;
mod listing;
mod service;
mod subject;
mod suite;
mod trial;

pub use service::ToolService;
pub use subject::{ToolFeature, ToolProviderSubject};
pub use suite::tool_provider_suite;
