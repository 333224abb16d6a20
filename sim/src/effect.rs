//! What really happened outside, whatever is known of it inside.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use windtunnel_core::env::Env;
use windtunnel_core::event::{Emitter, EventKind, Sink};

use crate::world::subject_of_world;

/// Something that happened outside: a payment, a mail, a booking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// What happened.
    pub effect: Arc<str>,
    /// The idempotency key under which it was asked for, if it had one.
    pub key: Option<Arc<str>>,
    /// When, on the world's clock.
    pub at: Duration,
    /// From which host, if from one.
    pub host: Option<Arc<str>>,
}

/// The ledger of a world's effects. It belongs to no host, so nothing that happens to hosts changes it. Clones share it.
///
/// ```
/// use windtunnel_sim::World;
///
/// let run = World::new(7).run(|world| async move {
///     let effects = world.effects();
///     effects.happen("payment", Some("refund-7")).await;
///     effects.happen("payment", Some("refund-7")).await; // what does not know keys does it again
///     effects.repeated("payment")
/// });
/// assert_eq!(run.outcome?, [(Some("refund-7".into()), 2)]);
/// # Ok::<(), windtunnel_sim::WorldError>(())
/// ```
#[derive(Clone)]
pub struct Effects {
    ledger: Arc<Mutex<Vec<Effect>>>,
    env: Env,
    emitter: Emitter,
}

impl Effects {
    pub(crate) fn new(env: Env, sink: Arc<dyn Sink>) -> Self {
        Self { ledger: Arc::default(), env: env.clone(), emitter: Emitter::new(env, vec![sink]) }
    }

    /// The same ledger, as a host writes it.
    pub(crate) fn on_host(self, env: &Env) -> Self {
        Self { env: env.clone(), emitter: self.emitter.in_env(env.clone()), ..self }
    }

    /// It happens, now. Then comes the event `effect.happened`, at which the world may act: a crash there is one after the
    /// effect and before anybody knows of it. Of a host's life that is over nothing happens any more.
    pub async fn happen(&self, effect: &str, key: Option<&str>) {
        if !self.env.is_open() {
            return std::future::pending().await;
        }
        let (effect, key): (Arc<str>, Option<Arc<str>>) = (effect.into(), key.map(Into::into));
        let host = self.env.host().cloned();
        let entry = Effect { effect: Arc::clone(&effect), key: key.clone(), at: self.env.now(), host };
        self.ledger.lock().push(entry);
        self.emitter.emit(&subject_of_world(), || EventKind::EffectHappened { effect, key }).await;
    }

    /// It happens, now, unless it has happened under this key: whether it did. So does a service that knows idempotency
    /// keys.
    pub async fn happen_once(&self, effect: &str, key: &str) -> bool {
        if !self.env.is_open() {
            return std::future::pending().await;
        }
        let is_known =
            self.ledger.lock().iter().any(|entry| &*entry.effect == effect && entry.key.as_deref() == Some(key));
        if !is_known {
            self.happen(effect, Some(key)).await;
        }
        !is_known
    }

    /// All effects, in the order in which they happened.
    pub fn all(&self) -> Vec<Effect> {
        self.ledger.lock().clone()
    }

    /// How often this happened.
    pub fn count(&self, effect: &str) -> usize {
        self.ledger.lock().iter().filter(|entry| &*entry.effect == effect).count()
    }

    /// How often this happened under each key, in the order of the keys.
    pub fn by_key(&self, effect: &str) -> BTreeMap<Option<Arc<str>>, usize> {
        let mut counts = BTreeMap::new();
        for entry in self.ledger.lock().iter().filter(|entry| &*entry.effect == effect) {
            *counts.entry(entry.key.clone()).or_default() += 1;
        }
        counts
    }

    /// Keys under which this happened more than once, with how often.
    pub fn repeated(&self, effect: &str) -> Vec<(Option<Arc<str>>, usize)> {
        self.by_key(effect).into_iter().filter(|(_, count)| *count > 1).collect()
    }
}

impl fmt::Debug for Effects {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.ledger.lock().iter()).finish()
    }
}
