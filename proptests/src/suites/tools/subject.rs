//! What an adapter says.

use futures_util::future::LocalBoxFuture;
use windtunnel_core::env::Env;
use windtunnel_core::evaluator::ToolProvider;

use super::ToolService;
use crate::played::HandClock;
use crate::suites::{Stalled, drive};

/// Providers of one type. Whatever makes one of the tools of a [`ToolService`] is a subject:
///
/// ```
/// use std::sync::Arc;
/// use serde_json::Value;
/// use windtunnel_core::BoxFuture;
/// use windtunnel_core::env::Env;
/// use windtunnel_core::evaluator::{ProviderCall, ProviderError, ToolDefinition, ToolProvider};
/// use windtunnel_proptests::suites::{Settings, ToolService, tool_provider_suite};
///
/// /// Lists its tools in another order each time.
/// struct Turning(ToolService, std::sync::atomic::AtomicUsize);
///
/// impl ToolProvider for Turning {
///     fn list(&self) -> BoxFuture<'_, Result<Vec<Arc<ToolDefinition>>, ProviderError>> {
///         Box::pin(async {
///             let mut tools = self.0.list().await?;
///             let turns = self.1.fetch_add(1, std::sync::atomic::Ordering::Relaxed) % tools.len();
///             tools.rotate_left(turns);
///             Ok(tools)
///         })
///     }
///
///     fn call<'a>(&'a self, call: ProviderCall<'a>) -> BoxFuture<'a, Result<Value, ProviderError>> {
///         self.0.call(call)
///     }
/// }
///
/// let subject = |service: ToolService, _: Env| Turning(service, Default::default());
/// let report = tool_provider_suite().run("mine", &subject, &Settings::default());
/// assert_eq!(report.broken(), ["listing_stable"]);
/// ```
pub trait ToolProviderSubject: 'static {
    /// The providers.
    type Provider: ToolProvider;

    /// A provider of these tools. It takes its time from `env`, if it takes any.
    fn provider(&self, service: ToolService, env: Env) -> Self::Provider;

    /// What they have. A point about a feature that is not named here is not applicable. All by default.
    fn features(&self) -> Vec<ToolFeature> {
        ToolFeature::ALL.to_vec()
    }

    /// Runs a future: on this thread, and on a clock that moves when it can only wait, unless an adapter says otherwise.
    ///
    /// # Errors
    /// [`Stalled`], if it does not end.
    fn drive(&self, clock: &HandClock, future: LocalBoxFuture<'_, ()>) -> Result<(), Stalled> {
        drive(clock, future)
    }
}

impl<F, P> ToolProviderSubject for F
where
    F: Fn(ToolService, Env) -> P + 'static,
    P: ToolProvider + 'static,
{
    type Provider = P;

    fn provider(&self, service: ToolService, env: Env) -> P {
        self(service, env)
    }
}

/// What a provider may have. Whoever lacks one says so in [`ToolProviderSubject::features`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ToolFeature {
    /// It checks arguments itself; an evaluator does so before it calls.
    ChecksArguments,
    /// A call that is dropped is over at once, also at the tool.
    EndsWhenDropped,
    /// Control flow passes through.
    ControlFlow,
    /// A refusal ([`SessionEnding::Refused`](crate::cases::SessionEnding::Refused)).
    Refusals,
    /// A tool's own word on its arguments
    /// ([`SessionEnding::RejectsArguments`](crate::cases::SessionEnding::RejectsArguments)).
    RejectsArguments,
}

impl ToolFeature {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::ChecksArguments, Self::EndsWhenDropped, Self::ControlFlow, Self::Refusals, Self::RejectsArguments];

    /// What a subject without it lacks.
    pub fn name(self) -> &'static str {
        match self {
            Self::ChecksArguments => "a check of arguments",
            Self::EndsWhenDropped => "an end of what is dropped",
            Self::ControlFlow => "control flow",
            Self::Refusals => "refusals",
            Self::RejectsArguments => "a tool's word on its arguments",
        }
    }
}
