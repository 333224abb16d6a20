//! Providers of models that have had enough: shared limits on the world's time, and each provider's own way to refuse.
//!
//! [`RateLimiter`] decides and knows no world; [`Dialect`] says its refusals as OpenAI, Anthropic or Gemini would, down to
//! status, headers and body; [`LimitedModel`] puts both before a model that several agents share.

mod anthropic;
mod bucket;
mod dialect;
mod duration;
mod gemini;
mod limited;
mod limiter;
mod openai;
mod timestamp;

pub use bucket::{Bucket, Rate};
pub use dialect::{Dialect, Refusal};
pub use limited::{Admission, LimitedModel, Provider};
pub use limiter::{Cost, Decision, Limit, Limits, RateLimiter, Refused, Standing};
