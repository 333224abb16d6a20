//! Faults over recorded traffic, in the words of the service that was asked.

use std::fs;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use windtunnel_fixtures::cassette::{Body, End, Frame, HttpRequest, HttpResponse};
use windtunnel_fixtures::matching::Call;
use windtunnel_fixtures::server::{Interference, Overlay};
use windtunnel_fixtures::wire::Dialect as Wire;
use windtunnel_sim::fault::{FaultAction, FaultKind, FaultPlan, RandomFaults, ServedFaults};
use windtunnel_sim::provider::{Dialect, Limit, Refusal, Refused, Standing};

use super::arguments::ServeOptions;
use crate::failure::Failure;

/// The requests a minute that a refused client is told it may make.
const REQUESTS_A_MINUTE: u64 = 60;

/// Faults over recorded traffic.
#[derive(Debug)]
pub(super) struct Faults {
    pub(super) served: ServedFaults,
}

impl Faults {
    /// The faults that were asked for, if any were.
    pub(super) fn of(options: &ServeOptions) -> Result<Option<Self>, Failure> {
        let ServeOptions { faults, fault_rate, fault_kinds, seed, .. } = options;
        if faults.is_none() && fault_rate.is_none() {
            return Ok(None);
        }
        let plan = match faults {
            None => FaultPlan::default(),
            Some(path) => {
                let file = path.display().to_string();
                let text =
                    fs::read_to_string(path).map_err(|source| Failure::Unreadable { file: file.clone(), source })?;
                FaultPlan::from_json(&text).map_err(|error| Failure::Selection(format!("{file}: {error}")))?
            }
        };
        let kinds = || fault_kinds.clone().unwrap_or_else(|| ServedFaults::KINDS.to_vec());
        let random = fault_rate.map(|rate| RandomFaults::of(kinds()).rate(rate).faults_max(u32::MAX));
        let served = ServedFaults::new(&plan, random.as_ref(), *seed);
        Ok(Some(Self { served: served.map_err(|error| Failure::Selection(error.to_string()))? }))
    }

    /// What came, and what did not, a line each.
    pub(super) fn lines(&self) -> Vec<String> {
        let delivered = self.served.delivered();
        let came = delivered.iter().map(|(kind, count)| format!("{count} times {}", kind.name()));
        let undelivered = self.served.undelivered();
        let missed = undelivered.iter().map(|fault| format!("a planned {} did not come", fault.action.kind().name()));
        came.chain(missed).collect()
    }

    /// The fault that a request meets, and what it does.
    pub(super) fn met(&self, request: &Call<'_>) -> Option<(FaultKind, Option<Interference>)> {
        let Call::Http { upstream, request } = request else { return None };
        let model = model(request);
        let action = self.served.request(upstream, &model)?;
        Some((action.kind(), interference(&action, dialect(&request.path), &model)))
    }
}

impl Overlay for Faults {
    fn interference(&self, request: &Call<'_>) -> Option<Interference> {
        self.met(request)?.1
    }
}

/// The model that a request names: in its body, or in its path.
pub(super) fn model(request: &HttpRequest) -> String {
    let named = match &request.body {
        Some(Body::Json(body)) => body.get("model").and_then(Value::as_str),
        _ => None,
    };
    let in_path = || request.path.rsplit("/models/").next().and_then(|name| name.split(':').next());
    named.or_else(in_path).unwrap_or_default().to_owned()
}

/// Whose words are spoken at a path. What is not known speaks as OpenAI, as most gateways do.
fn dialect(path: &str) -> Dialect {
    match Wire::of_path(path) {
        Some(Wire::Anthropic) => Dialect::Anthropic,
        Some(Wire::Gemini) => Dialect::Gemini,
        Some(Wire::OpenAiChat | Wire::OpenAiResponses) | None => Dialect::OpenAi,
    }
}

fn interference(action: &FaultAction, dialect: Dialect, model: &str) -> Option<Interference> {
    Some(match action {
        FaultAction::ModelRateLimited { retry_after_s } => {
            Interference::Instead(response(rate_limited(dialect, model, retry_after_s.map(seconds)), Duration::ZERO))
        }
        FaultAction::ModelServerError {} => Interference::Instead(response(server_error(dialect), Duration::ZERO)),
        FaultAction::ModelOverloaded {} => Interference::Instead(response(dialect.overload(), Duration::ZERO)),
        // As a gateway before the provider says it.
        FaultAction::ModelTimeout { after_s } => {
            let refusal = Refusal { status: 504, ..server_error(dialect) };
            Interference::Instead(response(refusal, seconds(*after_s)))
        }
        FaultAction::ModelDelay { delay_s } => Interference::Delay(seconds(*delay_s)),
        FaultAction::ModelStalledStream { after_s } => Interference::Stall(seconds(*after_s)),
        FaultAction::ModelTruncatedStream {} => Interference::Cut(End::Cut),
        FaultAction::ModelMalformedJson {} => Interference::Malformed,
        _ => return None,
    })
}

fn rate_limited(dialect: Dialect, model: &str, wait: Option<Duration>) -> Refusal {
    let standing = Standing { limit: Limit::Requests, capacity: REQUESTS_A_MINUTE, remaining: 0, reset: wait };
    let refused = Refused { standing, requested: 1, wait, standings: vec![standing] };
    // Anthropic says times of day, and a server that repeats itself has none.
    dialect.refusal(&refused, model, SystemTime::UNIX_EPOCH)
}

fn server_error(dialect: Dialect) -> Refusal {
    let message = "The server had an error while processing your request";
    let body = match dialect {
        Dialect::OpenAi => json!({"error": {"message": message, "type": "server_error", "param": null, "code": null}}),
        Dialect::Anthropic => json!({"type": "error", "error": {"type": "api_error", "message": message}}),
        Dialect::Gemini => json!({"error": {"code": 500, "message": message, "status": "INTERNAL"}}),
    };
    let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    Refusal { status: 500, headers, body }
}

fn response(refusal: Refusal, after: Duration) -> HttpResponse {
    let Refusal { status, headers, body } = refusal;
    let us = u64::try_from(after.as_micros()).unwrap_or(u64::MAX);
    let frames = vec![Frame { at_us: us, bytes: body.to_string().into_bytes() }];
    HttpResponse { status, headers, head_us: us, frames, end: End::Clean, end_us: us }
}

/// The plan's numbers have been checked.
fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instead(action: &FaultAction, path: &str) -> (u16, String, Option<String>) {
        match interference(action, dialect(path), "m") {
            Some(Interference::Instead(response)) => {
                let hint = response.header("retry-after").map(str::to_owned);
                (response.status, String::from_utf8(response.body()).unwrap(), hint)
            }
            _ => (0, String::new(), None),
        }
    }

    #[test]
    fn each_service_refuses_in_its_own_words() {
        let limited = FaultAction::ModelRateLimited { retry_after_s: Some(2.0) };
        let (status, body, hint) = instead(&limited, "/v1/messages");
        assert!(status == 429 && body.contains("rate_limit_error") && hint.as_deref() == Some("2"), "{body} {hint:?}");
        let (status, body, hint) = instead(&limited, "/v1/chat/completions");
        assert!(status == 429 && body.contains("Please try again in 2s") && hint.as_deref() == Some("2"), "{body}");
        let (status, body, hint) = instead(&limited, "/v1beta/models/gemini:generateContent");
        assert!(status == 429 && body.contains("\"retryDelay\":\"2s\"") && hint.is_none(), "{body}");
        assert_eq!(instead(&FaultAction::ModelOverloaded {}, "/v1/messages").0, 529);
        assert_eq!(instead(&FaultAction::ModelTimeout { after_s: 1.0 }, "/v1/messages").0, 504);
    }

    #[test]
    fn every_kind_that_is_served_does_something() {
        for kind in ServedFaults::KINDS {
            let random = RandomFaults::of([kind]).rate(1.0);
            let action = ServedFaults::new(&FaultPlan::default(), Some(&random), 0).unwrap().request("openai", "m");
            assert!(interference(&action.unwrap(), Dialect::OpenAi, "m").is_some(), "{}", kind.name());
        }
    }
}
