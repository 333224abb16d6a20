//! How Gemini refuses.
//!
//! Texts, members, metrics and their identifiers are those of responses to paid accounts that public repositories have
//! recorded: the text says to the nanosecond how long to wait, and `RetryInfo` in whole seconds that are shorter. Gemini
//! documents no limit on written tokens: its names follow those of read ones.

use serde_json::{Value, json};

use super::dialect::Refusal;
use super::duration::go_duration;
use super::limiter::{Limit, Refused};

pub(super) fn refusal(refused: &Refused, model: &str) -> Refusal {
    let (metric, id) = match refused.standing.limit {
        Limit::Requests => ("generate_requests_per_model", "GenerateRequestsPerMinutePerProjectPerModel"),
        Limit::InputTokens => {
            ("generate_content_paid_tier_input_token_count", "GenerateContentPaidTierInputTokensPerModelPerMinute")
        }
        Limit::OutputTokens => {
            ("generate_content_paid_tier_output_token_count", "GenerateContentPaidTierOutputTokensPerModelPerMinute")
        }
        Limit::RequestsADay => ("generate_requests_per_model_per_day", "GenerateRequestsPerDayPerProjectPerModel"),
        Limit::AtOnce => return exhausted("Resource has been exhausted (e.g. check quota).", &[]),
        Limit::TokensPaidFor => return without_credits(),
    };
    let (metric, capacity) = (format!("generativelanguage.googleapis.com/{metric}"), refused.standing.capacity);
    let retry = refused.wait.map(|wait| format!("\nPlease retry in {}.", go_duration(wait))).unwrap_or_default();
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
        .map(|wait| json!({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": format!("{}s", wait.as_secs())}));
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
    let message = "This model is currently experiencing high demand. Spikes in demand are usually temporary. Please try again \
                   later.";
    Refusal::new(503, [], json!({"error": {"code": 503, "message": message, "status": "UNAVAILABLE"}}))
}
