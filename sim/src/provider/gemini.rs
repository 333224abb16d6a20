//! How Gemini refuses.

use std::time::Duration;

use serde_json::{Value, json};

use super::dialect::Refusal;
use super::limiter::{Limit, Refused};

pub(super) fn refusal(refused: &Refused, model: &str) -> Refusal {
    let (metric, id) = match refused.standing.limit {
        Limit::Requests => ("requests", "GenerateRequestsPerMinutePerProjectPerModel"),
        Limit::InputTokens => ("input_token_count", "GenerateContentInputTokensPerModelPerMinute"),
        Limit::OutputTokens => ("output_token_count", "GenerateContentOutputTokensPerModelPerMinute"),
        Limit::RequestsADay => ("requests", "GenerateRequestsPerDayPerProjectPerModel"),
        Limit::AtOnce => return exhausted("Resource has been exhausted (e.g. check quota).", &[]),
        Limit::TokensPaidFor => return without_credits(),
    };
    let (metric, capacity) =
        (format!("generativelanguage.googleapis.com/generate_content_{metric}"), refused.standing.capacity);
    let retry = refused.wait.map(|wait| format!("\nPlease retry in {}.", seconds(wait))).unwrap_or_default();
    let message = format!(
        "You exceeded your current quota, please check your plan and billing details. For more information on this error, \
         head to: https://ai.google.dev/gemini-api/docs/rate-limits. To monitor your current usage, head to: \
         https://ai.dev/rate-limit. \n* Quota exceeded for metric: {metric}, limit: {capacity}, model: {model}{retry}"
    );
    let failure = json!({
        "@type": "type.googleapis.com/google.rpc.QuotaFailure",
        "violations": [{
            "quotaMetric": metric,
            "quotaId": id,
            "quotaDimensions": {"location": "global", "model": model},
            "quotaValue": capacity.to_string(),
        }],
    });
    let help = json!({
        "@type": "type.googleapis.com/google.rpc.Help",
        "links": [{
            "description": "Learn more about Gemini API quotas",
            "url": "https://ai.google.dev/gemini-api/docs/rate-limits",
        }],
    });
    let info = refused
        .wait
        .map(|wait| json!({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": seconds(wait)}));
    exhausted(&message, &[help, failure].into_iter().chain(info).collect::<Vec<_>>())
}

fn exhausted(message: &str, details: &[Value]) -> Refusal {
    let mut error = json!({"code": 429, "message": message, "status": "RESOURCE_EXHAUSTED"});
    if !details.is_empty() {
        error["details"] = details.into();
    }
    Refusal::new(429, [], json!({"error": error}))
}

fn without_credits() -> Refusal {
    let message = "Your prepayment credits are depleted. Please go to AI Studio at https://ai.studio/projects to manage your \
                   project and billing. Learn more at https://ai.google.dev/gemini-api/docs/billing#prepay.";
    Refusal::new(402, [], json!({"error": {"code": 402, "message": message, "status": "RESOURCE_EXHAUSTED"}}))
}

pub(super) fn overload() -> Refusal {
    let message = "The model is overloaded. Please try again later.";
    Refusal::new(503, [], json!({"error": {"code": 503, "message": message, "status": "UNAVAILABLE"}}))
}

/// As Protocol Buffers write a duration: seconds, with as many digits as it takes.
fn seconds(duration: Duration) -> String {
    match duration.subsec_nanos() {
        0 => format!("{}s", duration.as_secs()),
        nanos => format!("{}.{}s", duration.as_secs(), format!("{nanos:09}").trim_end_matches('0')),
    }
}
