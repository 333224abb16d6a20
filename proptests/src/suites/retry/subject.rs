//! The traits that an adapter implements.

use windtunnel_core::env::Env;

use super::{Operation, OperationError, RetryPolicy};

/// Something that retries: a library, or a retry loop of your own.
///
/// The suite looks at it from outside only. It hands it operations that note when they are called, on virtual time, and needs
/// to trust nothing that the subject says of itself.
///
/// ```
/// use windtunnel_core::env::Env;
/// use windtunnel_proptests::suites::{Operation, RetryClient, RetryFailure, RetryFeature, RetryPolicy, RetrySubject};
/// use windtunnel_proptests::suites::{Settings, retry_suite};
///
/// struct Mine;
///
/// struct MyClient {
///     policy: RetryPolicy,
///     env: Env,
/// }
///
/// impl RetrySubject for Mine {
///     type Client = MyClient;
///
///     fn features(&self) -> Vec<RetryFeature> {
///         vec![RetryFeature::Layers, RetryFeature::Growth, RetryFeature::Factor]
///     }
///
///     fn client(&self, policy: &RetryPolicy, env: Env) -> Result<MyClient, String> {
///         Ok(MyClient { policy: policy.clone(), env })
///     }
/// }
///
/// impl RetryClient for MyClient {
///     async fn run(&self, operation: Operation) -> Result<(), RetryFailure> {
///         let mut failures = 0;
///         loop {
///             let Err(error) = operation.call().await else { return Ok(()) };
///             failures += 1;
///             // One more than allowed: it waits before it notices.
///             self.env.sleep(self.policy.wait(failures)).await;
///             if failures > self.policy.retries {
///                 return Err(error.into());
///             }
///         }
///     }
/// }
///
/// let report = retry_suite().run("mine", &Mine, &Settings::default());
/// assert_eq!(report.broken(), ["ends_at_once"]);
/// ```
pub trait RetrySubject: Sync + 'static {
    /// What runs operations under one policy.
    type Client: RetryClient;

    /// What it can do beside retrying with a wait. A point about a feature that is not named here is not applicable.
    fn features(&self) -> Vec<RetryFeature>;

    /// A client for one policy. What its runs share, such as a budget or a source of chance, they share in it. The policy asks
    /// for nothing that [`RetrySubject::features`] does not name.
    ///
    /// Time comes from `env`, or from tokio, whose clock is paused and moves with it; chance comes from `env`, which is seeded
    /// with the policy's seed, or from that seed.
    ///
    /// # Errors
    /// Why it cannot have such a policy. Settings at the edge of what makes sense may be refused, but no ordinary ones.
    fn client(&self, policy: &RetryPolicy, env: Env) -> Result<Self::Client, String>;
}

/// What runs operations under one policy, several at once if need be.
pub trait RetryClient: Send + Sync + 'static {
    /// Calls the operation until it succeeds, or another call would be in vain or too much.
    fn run(&self, operation: Operation) -> impl Future<Output = Result<(), RetryFailure>> + Send;
}

/// Why a run ended without success.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RetryFailure {
    /// With the failure of a call.
    #[error(transparent)]
    Operation(#[from] OperationError),
    /// With an error of its own, as at a deadline.
    #[error("{0}")]
    GaveUp(String),
}

/// What a retry loop may be able to do. What it cannot do, its adapter does not name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RetryFeature {
    /// A run may be what the operation of another run does.
    Layers,
    /// Waits that grow. Without it [`RetryPolicy::factor`] is 1 where waits matter.
    Growth,
    /// Factors other than 2, if waits grow.
    Factor,
    /// Jitter ([`RetryPolicy::is_jittered`]).
    Jitter,
    /// Jitter that follows from a seed ([`RetryPolicy::seed`]).
    Seed,
    /// Failures that are not retried ([`ErrorClass`](super::ErrorClass)).
    Classes,
    /// A limit to all waits together ([`RetryPolicy::waits_max`]).
    WaitsDeadline,
    /// A limit to the whole run ([`RetryPolicy::elapsed_max`]).
    ElapsedDeadline,
    /// Waits that a failure asks for ([`OperationError::retry_after`]).
    RetryAfter,
    /// A limit to those ([`RetryPolicy::retry_after_max`]).
    RetryAfterMax,
    /// Waits that a failure asks for in the words of HTTP ([`OperationError::retry_after_header`]).
    RetryAfterHeader,
    /// A budget that runs share ([`RetryPolicy::budget`]).
    Budget,
    /// A word before each wait, in which it is told ([`Operation::announce`]).
    Announcements,
}

impl RetryFeature {
    /// What a subject without it lacks.
    pub fn name(self) -> &'static str {
        match self {
            Self::Layers => "runs inside of each other",
            Self::Growth => "waits that grow",
            Self::Factor => "factors other than 2",
            Self::Jitter => "jitter",
            Self::Seed => "a seed",
            Self::Classes => "a classifier",
            Self::WaitsDeadline => "a limit to all waits",
            Self::ElapsedDeadline => "a limit to the whole run",
            Self::RetryAfter => "Retry-After",
            Self::RetryAfterMax => "a limit to Retry-After",
            Self::RetryAfterHeader => "the header Retry-After",
            Self::Budget => "a budget",
            Self::Announcements => "announcements of waits",
        }
    }
}

/// Whether the subject has the feature.
pub(super) fn has<S: RetrySubject>(subject: &S, feature: RetryFeature) -> bool {
    subject.features().contains(&feature)
}
