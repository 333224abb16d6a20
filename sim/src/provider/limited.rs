//! A model behind limits that several agents share.

use std::fmt;
use std::sync::Arc;

use futures_util::StreamExt;
use parking_lot::Mutex;
use windtunnel_core::env::Env;
use windtunnel_core::model::{Delta, ModelError, ModelRequest, ModelResponse, ModelTransport};
use windtunnel_core::{BoxFuture, BoxStream};

use super::dialect::{Dialect, Refusal};
use super::limiter::{Cost, Decision, Limits, RateLimiter};

/// A provider's account: its limits, and how often it is overloaded. Clones share it, on whatever hosts they are.
///
/// ```
/// use windtunnel_sim::World;
/// use windtunnel_sim::provider::{Dialect, Limits, Provider, Rate};
/// use windtunnel_sim::script::ScriptedModel;
///
/// let run = World::new(7).run(|world| async move {
///     let limits = Limits { requests: Some(Rate::per_minute(60)), ..Limits::default() };
///     let provider = Provider::new(Dialect::Anthropic, limits).overloaded(0.01);
///     let agents = ["ann", "bob"].map(|name| {
///         let env = world.host(name).map(|host| host.env()).unwrap_or_else(|_| world.env());
///         provider.limit(env, ScriptedModel::new([ScriptedModel::says("Two years.")]))
///     });
///     agents.len()
/// });
/// assert_eq!(run.outcome?, 2);
/// # Ok::<(), windtunnel_sim::WorldError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Provider {
    dialect: Dialect,
    limiter: Arc<Mutex<RateLimiter>>,
    overload_rate: f64,
}

impl Provider {
    /// A provider that nobody has asked yet.
    pub fn new(dialect: Dialect, limits: Limits) -> Self {
        let limiter = RateLimiter::new(limits);
        let limiter = if dialect.counts_refused() { limiter.counting_refused() } else { limiter };
        Self { dialect, limiter: Arc::new(Mutex::new(limiter)), overload_rate: 0.0 }
    }

    /// How likely each request finds no capacity, from 0 to 1, drawn from the asker's environment. Default 0.
    #[must_use]
    pub fn overloaded(self, overload_rate: f64) -> Self {
        Self { overload_rate, ..self }
    }

    /// Whether a request of this model is admitted, for a server of one's own. It is under way until the guard is dropped.
    ///
    /// # Errors
    /// What the server is to send instead of an answer.
    pub fn admit(&self, env: &Env, model: &str, cost: Cost) -> Result<Admission, Refusal> {
        if self.overload_rate > 0.0 && env.unit("provider/overload") < self.overload_rate {
            self.limiter.lock().refuse(env.now());
            return Err(self.dialect.overload());
        }
        match self.limiter.lock().decide(cost, env.now()) {
            Decision::Admitted => Ok(Admission { limiter: Arc::clone(&self.limiter) }),
            Decision::Refused(refused) => Err(self.dialect.refusal(&refused, model, env.wall())),
        }
    }

    /// A model behind this provider's limits, for an agent in this environment.
    pub fn limit<M>(&self, env: Env, model: M) -> LimitedModel<M> {
        LimitedModel { provider: self.clone(), env, model }
    }
}

/// A request that was admitted. Dropped, it is over.
#[derive(Debug)]
#[must_use = "dropping it ends the request"]
pub struct Admission {
    limiter: Arc<Mutex<RateLimiter>>,
}

impl Drop for Admission {
    fn drop(&mut self) {
        self.limiter.lock().finish();
    }
}

/// A model behind a [`Provider`]'s limits. A refusal is an error like that of a real transport, with what its hint asks for.
pub struct LimitedModel<M> {
    provider: Provider,
    env: Env,
    model: M,
}

impl<M> LimitedModel<M> {
    /// The model behind the limits.
    pub fn model(&self) -> &M {
        &self.model
    }

    fn admit(&self, request: &ModelRequest) -> Result<Admission, ModelError> {
        let admitted = self.provider.admit(&self.env, &request.model, Cost::estimate(request));
        admitted.map_err(|refusal| refusal.to_error(self.env.wall()))
    }
}

impl<M: ModelTransport> ModelTransport for LimitedModel<M> {
    fn complete<'a>(&'a self, request: &'a ModelRequest) -> BoxFuture<'a, Result<ModelResponse, ModelError>> {
        Box::pin(async move {
            let _admission = self.admit(request)?;
            self.model.complete(request).await
        })
    }

    fn stream<'a>(
        &'a self,
        request: &'a ModelRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<Delta, ModelError>>, ModelError>> {
        Box::pin(async move {
            let admission = self.admit(request)?;
            let deltas = self.model.stream(request).await?;
            Ok(deltas.inspect(move |_| _ = &admission).boxed())
        })
    }
}

impl<M> fmt::Debug for LimitedModel<M> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("LimitedModel").field("provider", &self.provider).finish_non_exhaustive()
    }
}
