//! A refund agent on five hosts: `agent`, `model`, `orders`, `bank` and `journal`. A reviewer must approve the payment.

mod agent;
mod insistent;
mod pace;
mod place;
mod services;

use std::collections::BTreeSet;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use windtunnel::BoxError;
use windtunnel::durable::{Decision, JournalStore, MemoryStore, ToolLoopState};
use windtunnel::env::Env;
use windtunnel::executor;
use windtunnel::sim::{HostError, WorldHandle};

use agent::WORKFLOW;
pub(crate) use pace::Pace;
pub(crate) use place::Place;

/// How the agent is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variant {
    /// With a journal, and idempotency keys that the bank knows.
    Correct,
    /// Without both: it begins anew when something is wrong.
    Naive,
}

/// What came of a refund.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refund {
    /// What the customer was told.
    pub(crate) answer: String,
    /// How often the bank paid.
    pub(crate) payments: usize,
}

/// What belongs to no host, and so outlives them all.
#[derive(Clone)]
pub(crate) struct Outside {
    /// The disk of the journal's host.
    disk: MemoryStore,
    /// Where the naive agent leaves its answer.
    inbox: Arc<OnceLock<String>>,
    /// How often the bank was asked to pay.
    requests: Arc<AtomicU32>,
}

impl Outside {
    pub(crate) fn new(env: Env) -> Self {
        Self { disk: MemoryStore::new(env), inbox: Arc::default(), requests: Arc::default() }
    }
}

/// The hosts.
pub(crate) const HOSTS: [&str; 5] = ["agent", "bank", "journal", "model", "orders"];

/// What runs on the host of this name.
pub(crate) async fn guest<P: Place>(name: &'static str, place: P, variant: Variant, pace: Pace, outside: Outside) {
    match name {
        "bank" => services::bank(place, outside.requests).await,
        "journal" => services::journal(place, outside.disk).await,
        "model" => services::model(place, pace.thinking).await,
        "orders" => services::orders(place).await,
        _ if variant == Variant::Correct => agent::durable(place, pace).await,
        _ => agent::naive(place, pace, outside.inbox).await,
    }
}

/// The refund in a world, whose reviewer takes some minutes.
pub(crate) async fn refund(world: WorldHandle, variant: Variant) -> Result<Refund, BoxError> {
    let minutes = 1 + world.input("minutes of the review", 5);
    refund_at(world, variant, Pace::of_people(Duration::from_secs(60 * minutes))).await
}

/// The refund in a world, at a pace of its own.
pub(crate) async fn refund_at(world: WorldHandle, variant: Variant, pace: Pace) -> Result<Refund, BoxError> {
    let outside = Outside::new(world.env());
    // All of them are there before the first one begins.
    let hosts = HOSTS.into_iter().map(|name| Ok((name, world.host(name)?))).collect::<Result<Vec<_>, HostError>>()?;
    for (name, host) in hosts {
        let outside = outside.clone();
        host.start(move |process| guest(name, process, variant, pace, outside.clone()));
    }
    let answer = review(&world.env(), &outside, pace).await?;
    let (assertions, payments) = (world.assertions(), world.effects().count("payment"));
    assertions.always("paid at most once", payments <= 1);
    assertions.always("paid, and the customer has an answer", payments > 0 && !answer.is_empty());
    Ok(Refund { answer, payments })
}

/// Reviews what the agent asks for, until the customer has an answer.
pub(crate) async fn review(env: &Env, outside: &Outside, pace: Pace) -> Result<String, BoxError> {
    let mut decided = BTreeSet::new();
    loop {
        if let Some(answer) = outside.inbox.get() {
            return Ok(answer.clone());
        }
        if let Some(history) = outside.disk.read(WORKFLOW).await? {
            match history.outcome() {
                Some(Decision::Complete(output)) => {
                    return Ok(output["answer"].as_str().unwrap_or_default().to_owned());
                }
                Some(_) => return Err("the workflow failed".into()),
                None => {}
            }
            for pending in ToolLoopState::of(&history).map(|state| state.pending).unwrap_or_default() {
                if decided.insert(Arc::clone(&pending.approval_id)) {
                    env.sleep(pace.review).await;
                    pending.decide(&outside.disk, WORKFLOW, &executor::Decision::approve()).await?;
                }
            }
        }
        env.sleep(pace.look).await;
    }
}
