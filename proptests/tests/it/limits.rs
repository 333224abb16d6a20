//! Providers' limits against a model of them, and their hints from the words of each provider back to a wait.

use std::time::{Duration, SystemTime};

use proptest::prelude::*;
use windtunnel_core::model::{ModelError, RETRY_AFTER_MAX, retry_after};
use windtunnel_sim::provider::{Bucket, Cost, Decision, Dialect, Limit, Limits, Rate, RateLimiter, Refused, Standing};

use crate::settings::family;

const NS: Duration = Duration::from_nanos(1);

fn rates() -> impl Strategy<Value = Rate> {
    let any = (0_u64..12, 0_u64..5, 1_u64..40).prop_map(|(capacity, refill, per_ns)| Rate {
        capacity,
        refill,
        per: Duration::from_nanos(per_ns),
    });
    prop_oneof![
        6 => any,
        1 => (0_u64..12, 1_u64..40).prop_map(|(count, ns)| Rate::in_windows(count, Duration::from_nanos(ns))),
    ]
}

/// How much is asked, and how many nanoseconds after the one before.
fn requests() -> impl Strategy<Value = Vec<(u64, u64)>> {
    prop::collection::vec((0_u64..8, prop_oneof![3 => 0_u64..3, 2 => 0_u64..60]), 1..60)
}

/// A bucket that counts each nanosecond.
struct Ticking {
    rate: Rate,
    level: u64,
    now_ns: u64,
}

impl Ticking {
    fn tick_to(&mut self, now_ns: u64) {
        let per_ns = u64::try_from(self.rate.per.as_nanos()).unwrap();
        while self.now_ns < now_ns {
            self.now_ns += 1;
            if self.now_ns.is_multiple_of(per_ns) {
                self.level = (self.level + self.rate.refill).min(self.rate.capacity);
            }
        }
    }
}

/// Waits up to a month, to the nanosecond.
fn waits() -> impl Strategy<Value = Duration> {
    let any = (0_u64..31 * 86_400, 0_u32..1_000_000_000).prop_map(|(seconds, nanos)| Duration::new(seconds, nanos));
    prop_oneof![any, (0_u64..120_000).prop_map(Duration::from_millis), (0_u64..3).prop_map(Duration::from_nanos)]
}

fn dialects() -> impl Strategy<Value = Dialect> {
    prop_oneof![Just(Dialect::OpenAi), Just(Dialect::Anthropic), Just(Dialect::Gemini)]
}

fn limits() -> impl Strategy<Value = Limit> {
    prop_oneof![Just(Limit::Requests), Just(Limit::InputTokens), Just(Limit::OutputTokens), Just(Limit::RequestsADay)]
}

fn epochs() -> impl Strategy<Value = SystemTime> {
    (0_u64..10_000_000_000, 0_u32..1_000_000_000)
        .prop_map(|(seconds, nanos)| SystemTime::UNIX_EPOCH + Duration::new(seconds, nanos))
}

fn rounded_up(wait: Duration, unit: Duration) -> Duration {
    let units = wait.as_nanos().div_ceil(unit.as_nanos());
    Duration::from_nanos(u64::try_from(units * unit.as_nanos()).unwrap())
}

/// A word that a hint may be made of, or nothing like it.
fn words() -> impl Strategy<Value = String> {
    let parts = prop::collection::vec(
        prop_oneof![
            Just("retry in ".to_owned()),
            Just("try again in ".to_owned()),
            Just("1m30s".to_owned()),
            Just("-".to_owned()),
            Just(".".to_owned()),
            Just("2025-06-02T15:15:48Z".to_owned()),
            Just("Sun, 06 Nov 1994 08:49:37 GMT".to_owned()),
            Just(r#"{"error": {"message": ""#.to_owned()),
            Just(r#"", "details": [{"@type": "google.rpc.RetryInfo", "retryDelay": ""#.to_owned()),
            Just(r#""}]}}"#.to_owned()),
            "[0-9]{1,40}",
            "\\PC{0,8}",
            prop_oneof!["ms", "s", "m", "h", "d", "Z", "T", ":"],
        ],
        0..8,
    );
    parts.prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(family!("limits"))]

    #[test]
    fn a_bucket_admits_what_one_that_counts_each_nanosecond_does(rate in rates(), requests in requests()) {
        let (mut bucket, mut model) = (Bucket::new(rate), Ticking { rate, level: rate.capacity, now_ns: 0 });
        let mut admitted: Vec<(u64, u64)> = Vec::new();
        for (amount, after_ns) in requests {
            model.tick_to(model.now_ns + after_ns);
            let now = Duration::from_nanos(model.now_ns);
            prop_assert_eq!(bucket.level(now), model.level);
            let is_admitted = amount <= model.level;
            prop_assert_eq!(bucket.wait(amount, now) == Some(Duration::ZERO), is_admitted);
            prop_assert_eq!(bucket.take(amount, now), is_admitted);
            if is_admitted {
                model.level -= amount;
                admitted.push((model.now_ns, amount));
            }
        }
        let per_ns = u64::try_from(rate.per.as_nanos()).unwrap();
        for (place, (from_ns, _)) in admitted.iter().enumerate() {
            let mut sum = 0;
            for (to_ns, amount) in &admitted[place..] {
                sum += amount;
                let refills = to_ns / per_ns - from_ns / per_ns;
                prop_assert!(sum <= rate.capacity + rate.refill * refills, "{sum} from {from_ns} to {to_ns} ns");
            }
        }
    }

    #[test]
    fn a_wait_ends_exactly_when_there_is_enough(rate in rates(), taken in 0_u64..12, amount in 0_u64..14, now_ns in 0_u64..90) {
        let mut bucket = Bucket::new(rate);
        let now = Duration::from_nanos(now_ns);
        bucket.take(taken, now);
        match bucket.wait(amount, now) {
            None => prop_assert!(!bucket.take(amount, now + Duration::from_secs(1))),
            Some(Duration::ZERO) => prop_assert!(bucket.take(amount, now)),
            Some(wait) => {
                prop_assert!(!bucket.clone().take(amount, now + wait - NS));
                prop_assert!(bucket.take(amount, now + wait));
            }
        }
    }

    #[test]
    fn a_request_that_waits_as_it_is_told_is_admitted_and_a_refused_one_takes_nothing(
        rates in prop::array::uniform3(prop::option::of(rates())),
        costs in prop::collection::vec((0_u64..9, 0_u64..9, 0_u64..20), 1..30),
    ) {
        let [requests, input_tokens, output_tokens] = rates;
        let limits = Limits { requests, input_tokens, output_tokens, ..Limits::default() };
        let mut limiter = RateLimiter::new(limits);
        let mut now = Duration::ZERO;
        for (input_tokens, output_tokens, after_ns) in costs {
            now += Duration::from_nanos(after_ns);
            let (cost, before) = (Cost { input_tokens, output_tokens }, limiter.standings(now));
            let Decision::Refused(refused) = limiter.decide(cost, now) else { continue };
            prop_assert_eq!(&refused.standings, &before);
            prop_assert_eq!(limiter.standings(now), before);
            if let Some(wait) = refused.wait {
                let mut alone = limiter.clone();
                prop_assert_ne!(alone.decide(cost, now + wait - NS), Decision::Admitted);
                prop_assert_eq!(alone.decide(cost, now + wait), Decision::Admitted);
            } else {
                prop_assert_ne!(limiter.clone().decide(cost, now + Duration::from_secs(1)), Decision::Admitted);
            }
        }
    }

    #[test]
    fn a_wait_comes_back_from_the_words_of_every_provider(
        dialect in dialects(), limit in limits(), wait in waits(), now in epochs(),
    ) {
        let standing = Standing { limit, capacity: 10, remaining: 0, reset: Some(wait) };
        let refused = Refused { standing, requested: 1, wait: Some(wait), standings: vec![standing] };
        let refusal = dialect.refusal(&refused, "model-1", now);
        let (second, millisecond) = (Duration::from_secs(1), Duration::from_millis(1));
        let unit = match dialect {
            Dialect::OpenAi => millisecond,
            Dialect::Anthropic => second,
            Dialect::Gemini => NS,
        };
        let hint = |wait: Duration, unit| Some(rounded_up(wait, unit).min(RETRY_AFTER_MAX));
        prop_assert_eq!(refusal.to_error(now).retry_after, hint(wait, unit));

        // Each of the hints alone says the same.
        let body = refusal.body.to_string();
        if dialect != Dialect::Anthropic {
            let from_body = ModelError::from_response::<&str, &str>(429, &[], &body, now).retry_after;
            prop_assert_eq!(from_body, hint(wait, unit));
        }
        let resets: Vec<_> = refusal.headers.iter().filter(|(name, _)| name.contains("ratelimit")).collect();
        let resets: Vec<_> = resets.iter().map(|(name, value)| (name, value)).collect();
        if let Some(reset) = retry_after(429, &resets, "", now) {
            let latest = (wait + second).min(RETRY_AFTER_MAX);
            prop_assert!((wait.min(RETRY_AFTER_MAX)..=latest).contains(&reset), "{reset:?} of {wait:?}");
        }
    }

    #[test]
    fn an_instant_is_the_same_in_either_form(now in epochs(), wait in waits()) {
        let standing = Standing { limit: Limit::Requests, capacity: 1, remaining: 0, reset: Some(wait) };
        let refused = Refused { standing, requested: 1, wait: None, standings: vec![standing] };
        let refusal = Dialect::Anthropic.refusal(&refused, "model-1", now);
        let (_, instant) = refusal.headers.iter().find(|(name, _)| name.ends_with("requests-reset")).unwrap();
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
        let month = months[instant[5..7].parse::<usize>().unwrap() - 1];
        let date = format!("Mon, {} {month} {} {} GMT", &instant[8..10], &instant[..4], &instant[11..19]);
        let read = |value: &str| retry_after(429, &[("retry-after", value)], "", now);
        prop_assert!(read(instant).is_some());
        prop_assert_eq!(read(instant), read(&date));
    }

    #[test]
    fn whatever_a_provider_sends_is_a_wait_of_a_day_at_most_or_none(
        status in 100_u16..1000, headers in prop::collection::vec((words(), words()), 0..4), hint in words(), body in words(), now in epochs(),
    ) {
        let mut headers = headers;
        headers.push(("retry-after".to_owned(), hint));
        headers.push(("x-ratelimit-remaining-a".to_owned(), "0".to_owned()));
        headers.push(("x-ratelimit-reset-a".to_owned(), body.clone()));
        let error = ModelError::from_response(status, &headers, &body, now);
        prop_assert!(error.retry_after.is_none_or(|wait| wait <= RETRY_AFTER_MAX));
        prop_assert!(error.kind.is_retryable() || error.retry_after.is_none());
    }
}
