//! Two layers of retries around a model. The inner one does what the provider asks for, if that is short; the outer one
//! tries again after a second, whatever the inner one has left to it.

use std::time::Duration;

use parking_lot::Mutex;
use windtunnel::BoxFuture;
use windtunnel::BoxStream;
use windtunnel::env::Env;
use windtunnel::model::{Delta, ModelError, ModelRequest, ModelResponse, ModelTransport};
use windtunnel::sim::provider::{Dialect, Limits, Provider, Rate};
use windtunnel::sim::script::ScriptedModel;
use windtunnel::sim::{Assertions, WorldHandle};

use super::{Animal, Breaks, Twin};

const RULE: &str = "no request comes before the provider asked for it";
/// What the inner layer waits for by itself.
const SHORT_WAIT_MAX: Duration = Duration::from_secs(20);
const OUTER_DELAY: Duration = Duration::from_secs(1);

pub(crate) const HASTY_OUTER_RETRY: Animal = Animal {
    name: "hasty outer retry",
    after: "mastra#19885",
    breaks: Breaks::Rule(RULE),
    scenario: |world, twin| Box::pin(scenario(world, twin)),
};

async fn scenario(world: WorldHandle, twin: Twin) {
    let env = world.env();
    let limits = Limits { requests: Some(Rate::in_windows(6, Duration::from_secs(60))), ..Limits::default() };
    let script = ScriptedModel::by_conversation([[ScriptedModel::says("Two years.")]]);
    let model = Provider::new(Dialect::Anthropic, limits).limit(env.clone(), script);
    let door = Door {
        model: world.faults().model(model),
        env: env.clone(),
        assertions: world.assertions(),
        opens: Mutex::default(),
    };
    for _question in 0..5 {
        let _answer = outer(&env, &door, twin).await;
    }
}

async fn outer(env: &Env, model: &impl ModelTransport, twin: Twin) -> Option<ModelResponse> {
    for _ in 0..4 {
        match inner(env, model).await {
            Ok(response) => return Some(response),
            Err(error) => {
                let asked_for = match twin {
                    Twin::Faulty => None,
                    Twin::Correct => error.retry_after,
                };
                env.sleep(asked_for.unwrap_or_default().max(OUTER_DELAY)).await;
            }
        }
    }
    None
}

async fn inner(env: &Env, model: &impl ModelTransport) -> Result<ModelResponse, ModelError> {
    let request = ModelRequest::default();
    match model.complete(&request).await {
        Err(ModelError { retry_after: Some(wait), .. }) if wait <= SHORT_WAIT_MAX => {
            env.sleep(wait).await;
            model.complete(&request).await
        }
        answer => answer,
    }
}

/// Sees each request as the provider does.
struct Door<M> {
    model: M,
    env: Env,
    assertions: Assertions,
    /// Before this time the provider has asked for nothing.
    opens: Mutex<Duration>,
}

impl<M: ModelTransport> ModelTransport for Door<M> {
    fn complete<'a>(&'a self, request: &'a ModelRequest) -> BoxFuture<'a, Result<ModelResponse, ModelError>> {
        Box::pin(async move {
            self.assertions.always(RULE, self.env.now() >= *self.opens.lock());
            let answer = self.model.complete(request).await;
            if let Err(ModelError { retry_after: Some(wait), .. }) = &answer {
                *self.opens.lock() = self.env.now() + *wait;
            }
            answer
        })
    }

    fn stream<'a>(
        &'a self,
        request: &'a ModelRequest,
    ) -> BoxFuture<'a, Result<BoxStream<'a, Result<Delta, ModelError>>, ModelError>> {
        self.model.stream(request)
    }
}
