//! The traits that an adapter implements.

use windtunnel_core::env::Env;

use super::{LimitPolicy, Work};

/// Something that limits calls: a guard, a semaphore, a budget, a rate limiter.
///
/// The suite looks at it from outside only: the work that it hands over notes when it begins and ends, on virtual time.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use windtunnel_core::env::Env;
/// use windtunnel_proptests::suites::{
///     LimitFeature, LimitPolicy, LimitRefusal, LimitSubject, Limiter, Settings, Work, limit_suite,
/// };
///
/// struct Mine;
///
/// struct MyLimiter {
///     calls: AtomicU64,
///     calls_max: u64,
/// }
///
/// impl LimitSubject for Mine {
///     type Limiter = MyLimiter;
///
///     fn features(&self) -> Vec<LimitFeature> {
///         vec![LimitFeature::CallsMax]
///     }
///
///     fn limiter(&self, limits: &LimitPolicy, _env: Env) -> Result<MyLimiter, String> {
///         Ok(MyLimiter { calls: AtomicU64::new(0), calls_max: limits.calls_max.unwrap_or(u64::MAX) })
///     }
/// }
///
/// impl Limiter for MyLimiter {
///     async fn call(&self, work: Work) -> Result<(), LimitRefusal> {
///         // Counted too late: whoever comes meanwhile is let in as well.
///         if self.calls.load(Ordering::Relaxed) >= self.calls_max {
///             return Err(LimitRefusal("all calls are made".to_owned()));
///         }
///         let _ended = work.run().await;
///         self.calls.fetch_add(1, Ordering::Relaxed);
///         Ok(())
///     }
/// }
///
/// let report = limit_suite().run("mine", &Mine, &Settings::default());
/// assert_eq!(report.broken(), ["calls_max"]);
/// assert_eq!(report.kept(), ["calls_exact"]);
/// ```
pub trait LimitSubject: Sync + 'static {
    /// What holds one set of limits.
    type Limiter: Limiter;

    /// What it can limit. A point about a feature that is not named here is not applicable.
    fn features(&self) -> Vec<LimitFeature>;

    /// A limiter for these limits, which asks for nothing that [`LimitSubject::features`] does not name. Time comes from
    /// `env`, or from tokio, whose clock is paused and moves with it.
    ///
    /// # Errors
    /// Why it cannot have such limits. Limits of nothing may be refused, but no others.
    fn limiter(&self, limits: &LimitPolicy, env: Env) -> Result<Self::Limiter, String>;
}

/// What holds one set of limits. Several calls are under way at once.
pub trait Limiter: Send + Sync + 'static {
    /// Does the work, at once or after a wait, if the limits let it. A work that fails was done too; one that panics may
    /// panic through.
    fn call(&self, work: Work) -> impl Future<Output = Result<(), LimitRefusal>> + Send;
}

/// A call was refused, and its work not begun.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("refused: {0}")]
pub struct LimitRefusal(pub String);

/// What a limiter may limit, and how. What it cannot do, its adapter does not name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LimitFeature {
    /// How many calls there are at all ([`LimitPolicy::calls_max`] without a window).
    CallsMax,
    /// How many are under way at once ([`LimitPolicy::at_once`]).
    AtOnce,
    /// A call over [`LimitPolicy::at_once`] waits for its turn, and is not refused.
    Waits,
    /// How much all of them cost ([`LimitPolicy::cost_max`], [`Work::cost`]).
    CostMax,
    /// How many calls there are in each window ([`LimitPolicy::window`]); the next window begins where one ends.
    Window,
}

impl LimitFeature {
    /// What a subject without it lacks.
    pub fn name(self) -> &'static str {
        match self {
            Self::CallsMax => "a limit to calls",
            Self::AtOnce => "a limit to calls at once",
            Self::Waits => "calls that wait",
            Self::CostMax => "a limit to costs",
            Self::Window => "windows",
        }
    }
}

/// Whether the subject has the feature.
pub(super) fn has<S: LimitSubject>(subject: &S, feature: LimitFeature) -> bool {
    subject.features().contains(&feature)
}
