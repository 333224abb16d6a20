//! What a provider admits. Pure: time and costs come in, decisions come out.

use std::time::Duration;

use windtunnel_core::model::{ModelRequest, Usage};

use super::bucket::{Bucket, Rate};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// How many bytes of a request make a token, by the rule of thumb for English.
const BYTES_OF_A_TOKEN: u64 = 4;

/// What an answer may cost, where its request does not say.
const OUTPUT_TOKENS_DEFAULT: u64 = 1024;

/// The limits of an account. Default: none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// How many requests.
    pub requests: Option<Rate>,
    /// How many tokens may be read.
    pub input_tokens: Option<Rate>,
    /// How many tokens may be written.
    pub output_tokens: Option<Rate>,
    /// How many requests in a day, which begins every 24 hours from the world's beginning on.
    pub requests_a_day: Option<u64>,
    /// How many requests at once.
    pub at_once: Option<u32>,
    /// How many tokens, read or written, the account can pay for at all.
    pub tokens_paid_for: Option<u64>,
}

/// What a request counts as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
}

impl Cost {
    /// An estimate: a token for each four bytes that are asked, and for each that the answer may have; 1,024, if the request
    /// does not say.
    pub fn estimate(request: &ModelRequest) -> Self {
        let calls = |message: &windtunnel_core::model::Message| {
            message.tool_calls.iter().map(|call| call.name.len() + call.arguments.to_string().len()).sum::<usize>()
        };
        let spoken = request.messages.iter().map(|message| message.content.len() + calls(message));
        let offered = request
            .tools
            .iter()
            .map(|tool| tool.name.len() + tool.description.len() + tool.parameters.to_string().len());
        let bytes: usize = spoken.chain(offered).sum();
        let input_tokens = u64::try_from(bytes).unwrap_or(u64::MAX).div_ceil(BYTES_OF_A_TOKEN);
        Self { input_tokens, output_tokens: request.output_tokens_max.unwrap_or(OUTPUT_TOKENS_DEFAULT) }
    }
}

impl From<Usage> for Cost {
    fn from(usage: Usage) -> Self {
        Self { input_tokens: usage.input_tokens, output_tokens: usage.output_tokens }
    }
}

/// Which limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limit {
    /// [`Limits::requests`].
    Requests,
    /// [`Limits::input_tokens`].
    InputTokens,
    /// [`Limits::output_tokens`].
    OutputTokens,
    /// [`Limits::requests_a_day`].
    RequestsADay,
    /// [`Limits::at_once`].
    AtOnce,
    /// [`Limits::tokens_paid_for`].
    TokensPaidFor,
}

/// How a limit stands, as providers tell in headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Which.
    pub limit: Limit,
    /// How much there is at most.
    pub capacity: u64,
    /// How much is left.
    pub remaining: u64,
    /// How long until it is as full as it gets; none, if it never is.
    pub reset: Option<Duration>,
}

/// A request was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The limit that it has to wait for longest.
    pub standing: Standing,
    /// How much of it was asked for.
    pub requested: u64,
    /// How long until it would be admitted, if nobody else asks; none, if that is never or up to others.
    pub wait: Option<Duration>,
    /// How all limits stand that fill up.
    pub standings: Vec<Standing>,
}

/// What becomes of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "an admitted request counts as under way until it is finished"]
pub enum Decision {
    /// It is under way until [`RateLimiter::finish`].
    Admitted,
    /// It takes nothing, but may count as a request ([`RateLimiter::counting_refused`]).
    Refused(Refused),
}

/// The limits of one account, which all of its requests share.
///
/// ```
/// use std::time::Duration;
/// use windtunnel_sim::provider::{Cost, Decision, Limits, Rate, RateLimiter};
///
/// let limits = Limits { requests: Some(Rate::per_minute(3)), ..Limits::default() };
/// let mut limiter = RateLimiter::new(limits);
/// for _ in 0..3 {
///     assert_eq!(limiter.decide(Cost::default(), Duration::ZERO), Decision::Admitted);
/// }
/// let Decision::Refused(refused) = limiter.decide(Cost::default(), Duration::ZERO) else { panic!("one too many") };
/// assert_eq!(refused.wait, Some(Duration::from_secs(20)));
/// ```
#[derive(Clone, Debug)]
pub struct RateLimiter {
    limits: Limits,
    /// In the order of [`Limit`].
    buckets: Vec<(Limit, Bucket)>,
    under_way: u32,
    tokens_spent: u64,
    counts_refused: bool,
}

impl RateLimiter {
    /// Nothing was asked yet.
    pub fn new(limits: Limits) -> Self {
        let rates = [
            (Limit::Requests, limits.requests),
            (Limit::InputTokens, limits.input_tokens),
            (Limit::OutputTokens, limits.output_tokens),
            (Limit::RequestsADay, limits.requests_a_day.map(|count| Rate::in_windows(count, DAY))),
        ];
        let buckets = rates.into_iter().filter_map(|(limit, rate)| Some((limit, Bucket::new(rate?)))).collect();
        Self { limits, buckets, under_way: 0, tokens_spent: 0, counts_refused: false }
    }

    /// A refused request takes one of [`Limits::requests`], if there is one left; what comes later is for whoever asks then.
    /// Default: it takes nothing.
    #[must_use]
    pub fn counting_refused(self) -> Self {
        Self { counts_refused: true, ..self }
    }

    /// A request is refused for something else than these limits.
    pub fn refuse(&mut self, now: Duration) {
        if self.counts_refused
            && let Some((_, requests)) = self.buckets.iter_mut().find(|(limit, _)| *limit == Limit::Requests)
        {
            let _there_was_one = requests.take(1, now);
        }
    }

    /// Admits a request, which then takes what it costs, or refuses it. Time does not run backwards.
    pub fn decide(&mut self, cost: Cost, now: Duration) -> Decision {
        let tokens = cost.input_tokens.saturating_add(cost.output_tokens);
        if self.hindrance(cost, tokens, now).is_some() {
            self.refuse(now);
        }
        // Asked again: what the refusal took makes for a longer wait.
        if let Some((standing, requested, wait)) = self.hindrance(cost, tokens, now) {
            let standings = self.standings(now);
            return Decision::Refused(Refused { standing, requested, wait, standings });
        }
        for (limit, bucket) in &mut self.buckets {
            let _there_is_enough = bucket.take(cost.of(*limit), now);
        }
        self.tokens_spent = self.tokens_spent.saturating_add(tokens);
        self.under_way = self.under_way.saturating_add(1);
        Decision::Admitted
    }

    /// An admitted request is over.
    pub fn finish(&mut self) {
        self.under_way = self.under_way.saturating_sub(1);
    }

    /// How all limits stand that fill up.
    pub fn standings(&mut self, now: Duration) -> Vec<Standing> {
        self.buckets.iter_mut().map(|(limit, bucket)| standing(*limit, bucket, now)).collect()
    }

    /// What a request has to wait for longest, how much of it is asked, and how long.
    fn hindrance(&mut self, cost: Cost, tokens: u64, now: Duration) -> Option<(Standing, u64, Option<Duration>)> {
        let fixed = |limit, capacity: u64, used: u64| Standing {
            limit,
            capacity,
            remaining: capacity.saturating_sub(used),
            reset: None,
        };
        if let Some(paid) = self.limits.tokens_paid_for.filter(|paid| self.tokens_spent.saturating_add(tokens) > *paid)
        {
            return Some((fixed(Limit::TokensPaidFor, paid, self.tokens_spent), tokens, None));
        }
        let lacking = self.buckets.iter_mut().filter_map(|(limit, bucket)| {
            let requested = cost.of(*limit);
            let wait = bucket.wait(requested, now);
            (wait != Some(Duration::ZERO)).then(|| (standing(*limit, bucket, now), requested, wait))
        });
        // What never comes is the longest wait. Of equals, the first.
        let longest =
            lacking.reduce(
                |one, other| {
                    if other.2.unwrap_or(Duration::MAX) > one.2.unwrap_or(Duration::MAX) { other } else { one }
                },
            );
        longest.or_else(|| {
            let at_once = self.limits.at_once.filter(|at_once| self.under_way >= *at_once)?;
            Some((fixed(Limit::AtOnce, at_once.into(), self.under_way.into()), 1, None))
        })
    }
}

impl Cost {
    /// What it takes of a limit that fills up.
    fn of(self, limit: Limit) -> u64 {
        match limit {
            Limit::Requests | Limit::RequestsADay | Limit::AtOnce => 1,
            Limit::InputTokens => self.input_tokens,
            Limit::OutputTokens => self.output_tokens,
            Limit::TokensPaidFor => self.input_tokens.saturating_add(self.output_tokens),
        }
    }
}

fn standing(limit: Limit, bucket: &mut Bucket, now: Duration) -> Standing {
    let capacity = bucket.rate().capacity;
    Standing { limit, capacity, remaining: bucket.level(now), reset: bucket.wait(capacity, now) }
}
