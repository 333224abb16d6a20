//! Models: what they are asked, what they answer, and the transport between.

mod error;
mod message;
mod refusal;
mod retry_after;
mod stream;
mod transport;

pub use error::{ModelError, ModelErrorKind};
pub use message::{FinishReason, Message, ModelRequest, ModelResponse, Role, ToolDefinition, Usage};
pub use retry_after::{RETRY_AFTER_MAX, http_date, retry_after};
pub use stream::{Delta, ResponseBuilder};
pub use transport::ModelTransport;
