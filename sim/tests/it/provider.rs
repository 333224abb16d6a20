//! Providers of models that refuse: their dialects, and agents that share one.

use std::time::{Duration, SystemTime};

use futures_util::{StreamExt, TryStreamExt};
use serde_json::json;
use windtunnel_core::env::Env;
use windtunnel_core::executor::{Executor, LoopError, LoopOptions};
use windtunnel_core::model::{Message, ModelErrorKind, ModelRequest, ModelTransport};
use windtunnel_core::tool::Registry;
use windtunnel_sim::provider::{
    Cost, Decision, Dialect, LimitedModel, Limits, Provider, Rate, RateLimiter, Refusal, Refused,
};
use windtunnel_sim::script::ScriptedModel;
use windtunnel_sim::{Process, World, WorldHandle};

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// 2025-06-02T15:14:45Z.
fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_748_877_285)
}

const MINUTE: Duration = Duration::from_secs(60);

/// The first refusal under these limits, of requests that are made 20.5 ms apart.
fn first_refusal(limits: Limits, cost: Cost) -> Refused {
    let mut limiter = RateLimiter::new(limits);
    let refused = (0..1000).find_map(|nth| match limiter.decide(cost, Duration::from_micros(20_500) * nth) {
        Decision::Admitted => None,
        Decision::Refused(refused) => Some(refused),
    });
    refused.unwrap()
}

fn show(refusal: &Refusal) -> String {
    let headers: String = refusal.headers.iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
    let error = refusal.to_error(now());
    format!("{}\n{headers}{:#}\n=> {} after {:?}", refusal.status, refusal.body, error.kind.as_str(), error.retry_after)
}

fn of_requests(dialect: Dialect) -> String {
    let rates = Limits {
        requests: Some(Rate::per_minute(3)),
        input_tokens: Some(Rate::per_minute(30_000)),
        output_tokens: Some(Rate::per_minute(8_000)),
        ..Limits::default()
    };
    show(&dialect.refusal(&first_refusal(rates, Cost { input_tokens: 500, output_tokens: 100 }), "model-1", now()))
}

#[test]
fn openai_refuses_with_a_text_and_durations_of_go() {
    insta::assert_snapshot!(of_requests(Dialect::OpenAi), @r#"
    429
    content-type: application/json
    retry-after-ms: 19939
    retry-after: 20
    x-ratelimit-limit-requests: 3
    x-ratelimit-remaining-requests: 0
    x-ratelimit-reset-requests: 59.939s
    x-ratelimit-limit-tokens: 30000
    x-ratelimit-remaining-tokens: 28530
    x-ratelimit-reset-tokens: 2.939s
    {
      "error": {
        "message": "Rate limit reached for model-1 in organization org-windtunnel on requests per min (RPM): Limit 3, Used 3, Requested 1. Please try again in 19.939s. Visit https://platform.openai.com/account/rate-limits to learn more.",
        "type": "requests",
        "param": null,
        "code": "rate_limit_exceeded"
      }
    }
    => rate-limited after Some(19.939s)
    "#);
}

#[test]
fn anthropic_refuses_with_a_header_and_instants() {
    insta::assert_snapshot!(of_requests(Dialect::Anthropic), @r#"
    429
    content-type: application/json
    retry-after: 20
    x-should-retry: true
    anthropic-ratelimit-requests-limit: 3
    anthropic-ratelimit-requests-remaining: 0
    anthropic-ratelimit-requests-reset: 2025-06-02T15:15:45Z
    anthropic-ratelimit-input-tokens-limit: 30000
    anthropic-ratelimit-input-tokens-remaining: 28530
    anthropic-ratelimit-input-tokens-reset: 2025-06-02T15:14:48Z
    anthropic-ratelimit-output-tokens-limit: 8000
    anthropic-ratelimit-output-tokens-remaining: 7708
    anthropic-ratelimit-output-tokens-reset: 2025-06-02T15:14:48Z
    {
      "type": "error",
      "error": {
        "type": "rate_limit_error",
        "message": "This request would exceed your organization's rate limit of 3 requests per minute (org: windtunnel, model: model-1). For details, refer to: https://docs.claude.com/en/api/rate-limits. You can see the response headers for current usage. Please reduce the prompt length or the maximum tokens requested, or try again later. You may also contact sales at https://claude.com/contact-sales to discuss your options for a rate limit increase."
      },
      "request_id": "req_windtunnel"
    }
    => rate-limited after Some(20s)
    "#);
}

#[test]
fn gemini_refuses_with_details() {
    insta::assert_snapshot!(of_requests(Dialect::Gemini), @r#"
    429
    content-type: application/json
    {
      "error": {
        "code": 429,
        "message": "You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits. To monitor your current usage, head to: https://ai.dev/rate-limit. \n* Quota exceeded for metric: generativelanguage.googleapis.com/generate_requests_per_model, limit: 3, model: model-1\nPlease retry in 19.9385s.",
        "status": "RESOURCE_EXHAUSTED",
        "details": [
          {
            "@type": "type.googleapis.com/google.rpc.Help",
            "links": [
              {
                "description": "Learn more about Gemini API quotas",
                "url": "https://ai.google.dev/gemini-api/docs/rate-limits"
              }
            ]
          },
          {
            "@type": "type.googleapis.com/google.rpc.QuotaFailure",
            "violations": [
              {
                "quotaMetric": "generativelanguage.googleapis.com/generate_requests_per_model",
                "quotaId": "GenerateRequestsPerMinutePerProjectPerModel",
                "quotaDimensions": {
                  "location": "global",
                  "model": "model-1"
                },
                "quotaValue": "3"
              }
            ]
          },
          {
            "@type": "type.googleapis.com/google.rpc.RetryInfo",
            "retryDelay": "19s"
          }
        ]
      }
    }
    => rate-limited after Some(19.9385s)
    "#);
}

/// The message or code of a refusal, and what a transport makes of it.
fn short(dialect: Dialect, limits: Limits, cost: Cost) -> String {
    let refusal = dialect.refusal(&first_refusal(limits, cost), "model-1", now());
    let error = refusal.to_error(now());
    let message: String = error.message.chars().filter(|letter| *letter != '\n').collect();
    format!("{} {} after {:?}: {message}\n", refusal.status, error.kind.as_str(), error.retry_after)
}

#[test]
fn every_limit_is_told_in_every_dialect() {
    let cost = Cost { input_tokens: 600, output_tokens: 300 };
    let none = Limits::default();
    let limits = [
        Limits { input_tokens: Some(Rate::per_minute(1000)), ..none },
        Limits { output_tokens: Some(Rate::per_minute(500)), ..none },
        Limits { input_tokens: Some(Rate::per_minute(599)), ..none },
        Limits { requests_a_day: Some(2), ..none },
        Limits { at_once: Some(1), ..none },
        Limits { tokens_paid_for: Some(1799), ..none },
    ];
    let dialects = [Dialect::OpenAi, Dialect::Anthropic, Dialect::Gemini];
    let told: String = limits.iter().flat_map(|limits| dialects.map(|dialect| short(dialect, *limits, cost))).collect();
    insta::assert_snapshot!(told, @"
    429 rate-limited after Some(11.98s): Rate limit reached for model-1 in organization org-windtunnel on tokens per min (TPM): Limit 1000, Used 600, Requested 600. Please try again in 11.98s. Visit https://platform.openai.com/account/rate-limits to learn more.
    429 rate-limited after Some(12s): This request would exceed your organization's rate limit of 1,000 input tokens per minute (org: windtunnel, model: model-1). For details, refer to: https://docs.claude.com/en/api/rate-limits. You can see the response headers for current usage. Please reduce the prompt length or the maximum tokens requested, or try again later. You may also contact sales at https://claude.com/contact-sales to discuss your options for a rate limit increase.
    429 rate-limited after Some(11.9795s): You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits. To monitor your current usage, head to: https://ai.dev/rate-limit. * Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_paid_tier_input_token_count, limit: 1000, model: model-1Please retry in 11.9795s.
    429 rate-limited after Some(11.98s): Rate limit reached for model-1 in organization org-windtunnel on tokens per min (TPM): Limit 500, Used 300, Requested 300. Please try again in 11.98s. Visit https://platform.openai.com/account/rate-limits to learn more.
    429 rate-limited after Some(12s): This request would exceed your organization's rate limit of 500 output tokens per minute (org: windtunnel, model: model-1). For details, refer to: https://docs.claude.com/en/api/rate-limits. You can see the response headers for current usage. Please reduce the prompt length or the maximum tokens requested, or try again later. You may also contact sales at https://claude.com/contact-sales to discuss your options for a rate limit increase.
    429 rate-limited after Some(11.9795s): You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits. To monitor your current usage, head to: https://ai.dev/rate-limit. * Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_paid_tier_output_token_count, limit: 500, model: model-1Please retry in 11.9795s.
    429 rate-limited after None: Request too large for model-1 in organization org-windtunnel on tokens per min (TPM): Limit 599, Requested 600. The input or output tokens must be reduced in order to run successfully. Visit https://platform.openai.com/account/rate-limits to learn more.
    429 rate-limited after None: This request would exceed your organization's rate limit of 599 input tokens per minute (org: windtunnel, model: model-1). For details, refer to: https://docs.claude.com/en/api/rate-limits. You can see the response headers for current usage. Please reduce the prompt length or the maximum tokens requested, or try again later. You may also contact sales at https://claude.com/contact-sales to discuss your options for a rate limit increase.
    429 rate-limited after None: You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits. To monitor your current usage, head to: https://ai.dev/rate-limit. * Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_paid_tier_input_token_count, limit: 599, model: model-1
    429 rate-limited after Some(86399.959s): Rate limit reached for model-1 in organization org-windtunnel on requests per day (RPD): Limit 2, Used 2, Requested 1. Please try again in 23h59m59.959s. Visit https://platform.openai.com/account/rate-limits to learn more.
    429 rate-limited after Some(86400s): This request would exceed your organization's rate limit of 2 requests per day (org: windtunnel, model: model-1). For details, refer to: https://docs.claude.com/en/api/rate-limits. You can see the response headers for current usage. Please reduce the prompt length or the maximum tokens requested, or try again later. You may also contact sales at https://claude.com/contact-sales to discuss your options for a rate limit increase.
    429 rate-limited after Some(86399.959s): You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits. To monitor your current usage, head to: https://ai.dev/rate-limit. * Quota exceeded for metric: generativelanguage.googleapis.com/generate_requests_per_model_per_day, limit: 2, model: model-1Please retry in 23h59m59.959s.
    429 rate-limited after None: Rate limit reached for model-1 in organization org-windtunnel on concurrent requests: Limit 1, Used 1, Requested 1. Visit https://platform.openai.com/account/rate-limits to learn more.
    429 rate-limited after None: Number of concurrent connections has exceeded your rate limit. Please try again later or contact sales at https://www.anthropic.com/contact-sales to discuss your options for a rate limit increase.
    429 rate-limited after None: Resource has been exhausted (e.g. check quota).
    429 quota-exhausted after None: You have no credits remaining. Add credits to continue using the API at https://platform.openai.com/settings/organization/billing/.
    429 quota-exhausted after None: You have reached your API usage limits: your organization has crossed its monthly API usage threshold, set based on your organization's API tier.
    402 quota-exhausted after None: Your prepayment credits are depleted. Please go to AI Studio at https://ai.studio/projects to manage your project and billing. Learn more at https://ai.google.dev/gemini-api/docs/billing#prepay.
    ");
}

#[test]
fn an_overload_has_no_hint() {
    let told = [Dialect::OpenAi, Dialect::Anthropic, Dialect::Gemini].map(|dialect| show(&dialect.overload()));
    insta::assert_snapshot!(told.join("\n\n"), @r#"
    503
    content-type: application/json
    {
      "error": {
        "message": "The engine is currently overloaded, please try again later",
        "type": "service_unavailable_error",
        "param": null,
        "code": "server_is_overloaded"
      }
    }
    => overloaded after None

    529
    content-type: application/json
    x-should-retry: true
    {
      "type": "error",
      "error": {
        "type": "overloaded_error",
        "message": "Overloaded"
      },
      "request_id": "req_windtunnel"
    }
    => overloaded after None

    503
    content-type: application/json
    {
      "error": {
        "code": 503,
        "message": "This model is currently experiencing high demand. Spikes in demand are usually temporary. Please try again later.",
        "status": "UNAVAILABLE"
      }
    }
    => overloaded after None
    "#);
}

/// What becomes of three requests that are too large and then a small one.
fn after_large_ones(dialect: Dialect) -> String {
    let run = World::new(7).run(|world| async move {
        let limits = Limits {
            requests: Some(Rate::per_minute(3)),
            input_tokens: Some(Rate::per_minute(10)),
            ..Limits::default()
        };
        let provider = Provider::new(dialect, limits);
        let mut told = String::new();
        for input_tokens in [11, 11, 11, 1] {
            let cost = Cost { input_tokens, output_tokens: 0 };
            told += &match provider.admit(&world.env(), "model-1", cost) {
                Ok(_) => "admitted".to_owned(),
                Err(refusal) => format!("refused for {:?}, ", refusal.to_error(now()).retry_after),
            };
        }
        told
    });
    run.outcome.unwrap()
}

#[test]
fn openai_counts_refused_requests_and_others_do_not() {
    // The third one has taken the last request, and a header says when all of them are back.
    let counted = "refused for None, refused for None, refused for Some(60s), refused for Some(20s), ";
    assert_eq!(after_large_ones(Dialect::OpenAi), counted);
    for dialect in [Dialect::Anthropic, Dialect::Gemini] {
        assert_eq!(after_large_ones(dialect), format!("{}admitted", "refused for None, ".repeat(3)));
    }
}

#[test]
fn whoever_waits_as_long_as_a_refusal_says_is_admitted() {
    let rates = Limits {
        requests: Some(Rate::per_minute(7)),
        input_tokens: Some(Rate { capacity: 1000, refill: 3, per: ms(17) }),
        output_tokens: Some(Rate::in_windows(900, MINUTE)),
        ..Limits::default()
    };
    for mut limiter in [RateLimiter::new(rates), RateLimiter::new(rates).counting_refused()] {
        let mut now = Duration::from_nanos(12_345);
        for nth in 0..200 {
            let cost = Cost { input_tokens: nth * 37 % 1001, output_tokens: nth * 91 % 901 };
            if let Decision::Refused(refused) = limiter.decide(cost, now) {
                let wait = refused.wait.unwrap();
                let too_early = limiter.clone().decide(cost, now + wait - Duration::from_nanos(1));
                assert!(matches!(too_early, Decision::Refused(_)), "{cost:?}, {refused:?}");
                now += wait;
                assert_eq!(limiter.decide(cost, now), Decision::Admitted, "{cost:?}, {refused:?}");
            }
        }
    }
}

#[test]
fn no_cost_and_no_time_is_too_large_for_a_limiter() {
    let most = Cost { input_tokens: u64::MAX, output_tokens: u64::MAX };
    let mut paid = RateLimiter::new(Limits { tokens_paid_for: Some(u64::MAX), ..Limits::default() });
    assert_eq!(paid.decide(most, Duration::MAX), Decision::Admitted);
    assert!(matches!(paid.decide(Cost { input_tokens: 1, output_tokens: 0 }, Duration::ZERO), Decision::Admitted));
    let never = Rate { capacity: u64::MAX, refill: 1, per: Duration::MAX };
    let limits = Limits { requests_a_day: Some(0), input_tokens: Some(never), ..Limits::default() };
    let mut limiter = RateLimiter::new(limits).counting_refused();
    for now in [Duration::ZERO, Duration::MAX] {
        let Decision::Refused(refused) = limiter.decide(most, now) else { panic!("a day has no requests") };
        assert_eq!((refused.wait, refused.standing.remaining), (None, 0));
        for dialect in [Dialect::OpenAi, Dialect::Anthropic, Dialect::Gemini] {
            assert_eq!(dialect.refusal(&refused, "model-1", SystemTime::UNIX_EPOCH).status, 429);
        }
    }
}

/// Which of eight hosts, that ask at one instant, are admitted.
async fn at_one_instant(world: WorldHandle) -> String {
    let requests = Some(Rate::per_minute(3));
    let provider = Provider::new(Dialect::Anthropic, Limits { requests, ..Limits::default() });
    let tasks = (0..8).map(|agent| {
        let process = world.host(&format!("agent-{agent}")).unwrap().process();
        let model = model(&provider, process.env());
        process.spawn(async move { model.complete(&request()).await.is_ok() })
    });
    let tasks: Vec<_> = tasks.collect();
    let mut told = String::new();
    for task in tasks {
        told += if task.await.unwrap() { "." } else { "x" };
    }
    told
}

#[test]
fn who_comes_first_at_one_instant_follows_the_seed_and_is_nobodys_privilege() {
    let first = |seed| World::new(seed).check_determinism(at_one_instant).unwrap().outcome.unwrap();
    let runs: Vec<_> = (0..40).map(first).collect();
    assert!(runs.iter().all(|told| told.matches('.').count() == 3), "{runs:?}");
    for agent in 0..8 {
        let admitted = runs.iter().filter(|told| told.as_bytes()[agent] == b'.').count();
        assert!((5..30).contains(&admitted), "agent {agent} is admitted {admitted} times of 40");
    }
}

type Model = LimitedModel<ScriptedModel>;

fn request() -> ModelRequest {
    ModelRequest { model: "model-1".to_owned(), messages: vec![Message::user("How long?")], ..ModelRequest::default() }
}

fn model(provider: &Provider, env: Env) -> Model {
    let answers = ScriptedModel::new((0..10).map(|_| ScriptedModel::says("Two years.")));
    provider.limit(env.clone(), answers.latency(env, ms(100)))
}

/// Asks until there is an answer, four times at most: with backoff, and as long as the provider asks, if it honours that.
async fn asks(process: Process, model: Model, honours_hint: bool) -> bool {
    let env = process.env();
    let executor = Executor::builder(Registry::new()).env(env.clone()).sink(process.trace()).build();
    for attempt in 0..4 {
        let outcome = executor.run_tool_loop(&model, request(), &LoopOptions::default()).await;
        let Err(LoopError::Model { error, .. }) = outcome else { return outcome.is_ok() };
        assert_eq!(error.kind, ModelErrorKind::RateLimited);
        let backoff = Duration::from_secs(1 << attempt).mul_f64(1.0 + env.unit("backoff"));
        let hint = error.retry_after.filter(|_| honours_hint).unwrap_or_default();
        env.sleep(backoff.max(hint)).await;
    }
    false
}

/// How many of 16 agents get an answer, of a provider that admits eight requests a minute and has just had eight.
async fn herd(world: WorldHandle, dialect: Dialect, honours_hint: bool) -> usize {
    let requests = Some(Rate::in_windows(8, MINUTE));
    let provider = Provider::new(dialect, Limits { requests, ..Limits::default() });
    let first = model(&provider, world.env());
    for _ in 0..8 {
        first.complete(&request()).await.unwrap();
    }
    let tasks = (0..16).map(|agent| {
        let process = world.host(&format!("agent-{agent}")).unwrap().process();
        let model = model(&provider, process.env());
        process.clone().spawn(asks(process, model, honours_hint))
    });
    let tasks: Vec<_> = tasks.collect();
    let mut answered = 0;
    for task in tasks {
        answered += usize::from(task.await.unwrap());
    }
    answered
}

#[test]
fn agents_that_honour_the_hint_all_get_through_and_others_burn_their_attempts() {
    for (seed, dialect) in
        (0..8).flat_map(|seed| [Dialect::OpenAi, Dialect::Anthropic, Dialect::Gemini].map(|dialect| (seed, dialect)))
    {
        let deaf = World::new(seed).run(|world| herd(world, dialect, false));
        assert_eq!(deaf.outcome.unwrap(), 0, "seed {seed}, {dialect:?}");
        let polite = World::new(seed).check_determinism(|world| herd(world, dialect, true)).unwrap();
        assert!(polite.trace.iter().any(|event| event.kind.name() == "model.finished"));
        assert_eq!(polite.outcome.unwrap(), 16, "seed {seed}, {dialect:?}");
        // Eight in the first window after the one that is used up, eight in the second.
        assert!(polite.elapsed >= 2 * MINUTE && polite.elapsed < 3 * MINUTE, "{:?}", polite.elapsed);
    }
}

#[test]
fn the_same_seed_refuses_the_same_requests_and_another_one_others() {
    let scenario = |world: WorldHandle| async move {
        let limits = Limits { requests: Some(Rate::per_minute(10)), ..Limits::default() };
        let provider = Provider::new(Dialect::Anthropic, limits).overloaded(0.4);
        let mut outcomes = String::new();
        for agent in 0..3 {
            let env = world.host(&format!("agent-{agent}")).unwrap().env();
            let model = model(&provider, env.clone());
            for _ in 0..8 {
                outcomes += match model.complete(&request()).await {
                    Ok(_) => ".",
                    Err(error) => &error.kind.as_str()[..1],
                };
                env.sleep(ms(500)).await;
            }
        }
        outcomes
    };
    let outcomes = |seed| World::new(seed).check_determinism(scenario).unwrap().outcome.unwrap();
    assert_eq!(outcomes(7), outcomes(7));
    assert_ne!(outcomes(7), outcomes(8));
    assert!("or.".chars().all(|kind| outcomes(7).contains(kind)), "{}", outcomes(7));
}

#[test]
fn a_request_is_under_way_until_its_answer_ends_or_nobody_wants_it() {
    let run = World::new(7).run(|world| async move {
        let provider = Provider::new(Dialect::OpenAi, Limits { at_once: Some(1), ..Limits::default() });
        let (env, model) = (world.env(), model(&provider, world.env()));
        let request = request();
        let is_free = async || model.complete(&request).await.is_ok();
        let mut stream = model.stream(&request).await.unwrap();
        stream.next().await.unwrap().unwrap();
        assert!(!is_free().await);
        assert!(stream.try_collect::<Vec<_>>().await.is_ok());
        assert!(is_free().await);
        assert!(env.timeout(ms(50), model.complete(&request)).await.is_err());
        assert!(is_free().await);
        assert!(futures_util::join!(model.complete(&request), model.complete(&request)).1.is_err());
    });
    run.outcome.unwrap();
}

#[test]
fn a_request_costs_what_it_says_and_what_it_may_be_answered() {
    let mut request = request();
    assert_eq!(Cost::estimate(&request), Cost { input_tokens: 3, output_tokens: 1024 });
    request.output_tokens_max = Some(7);
    request.messages.push(Message::tool_calls(vec![windtunnel_core::executor::ToolCall::new("seek", json!({"a": 1}))]));
    assert_eq!(Cost::estimate(&request), Cost { input_tokens: 5, output_tokens: 7 });
}
