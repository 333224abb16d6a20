//! What only some can hold at once, with a name.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use super::registry::{WaitGuard, Waits, Wanted};

/// The name of what only some can hold at once, such as a lock: a world that comes to no end names it, those who hold it
/// and those who wait. Clones name the same thing. It locks nothing itself, and in production does nothing.
///
/// ```
/// use tokio::sync::Mutex;
/// use windtunnel_core::env::Env;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let env = Env::system();
/// let (ledger, name) = (Mutex::new(0), env.resource("the ledger's lock"));
/// let mut balance = name.hold(ledger.lock()).await;
/// **balance += 5;
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Resource {
    shown: Option<(Waits, Arc<str>)>,
}

impl Resource {
    pub(in crate::env) fn new(waits: Option<&Waits>, name: &str) -> Self {
        Self { shown: waits.map(|waits| (waits.clone(), name.into())) }
    }

    /// Waits for a guard of the named thing. It is held until the guard is dropped.
    pub async fn hold<F: Future>(&self, acquire: F) -> Held<F::Output> {
        let claim = |is_held| {
            let (waits, name) = self.shown.as_ref()?;
            Some(waits.claim(waits.parties([]), Wanted::Resource(Arc::clone(name)), is_held))
        };
        let waiting = claim(false);
        let guard = acquire.await;
        drop(waiting);
        Held { guard, _claim: claim(true) }
    }
}

/// A guard of a named thing.
#[derive(Debug)]
#[must_use = "dropping the guard gives the thing back"]
pub struct Held<G> {
    guard: G,
    _claim: Option<WaitGuard>,
}

impl<G> Deref for Held<G> {
    type Target = G;

    fn deref(&self) -> &G {
        &self.guard
    }
}

impl<G> DerefMut for Held<G> {
    fn deref_mut(&mut self) -> &mut G {
        &mut self.guard
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::Mutex;

    use crate::env::{Env, Waits};

    #[tokio::test]
    async fn production_registers_nothing_and_a_world_forgets_what_is_given_back() {
        assert!(Env::system().waits().is_none());
        let lock = Mutex::new(0);
        for env in [Env::system(), Env::system().with_waits(Waits::default())] {
            let is_world = env.waits().is_some();
            let name = env.resource("the lock");
            assert_eq!(name.shown.is_some(), is_world);
            let mut held = name.hold(lock.lock()).await;
            **held += 1;
            let mut waiting = tokio_test::task::spawn(name.hold(lock.lock()));
            assert!(waiting.poll().is_pending());
            let known = env.waits().map(|waits| waits.graph().lines(|_| String::new()));
            let expected = "a task of a library waits for the lock, held by a task of a library";
            assert_eq!(known, is_world.then(|| vec![expected.to_owned()]));
            drop((waiting, held));
            assert!(env.waits().is_none_or(|waits| waits.graph().lines(|_| String::new()).is_empty()));
        }
        assert_eq!(*lock.lock().await, 2);
    }
}
