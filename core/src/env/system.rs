//! The operating system's environment: the one place that may touch what the lints ban.
#![expect(clippy::disallowed_methods, reason = "this is the door through which everything else goes")]

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, SystemTime};

use futures_core::future::BoxFuture;
use tokio::time::Instant;

use super::{Blocking, Clock, Ids, Rng};

/// Time, chance, identity and threads of the process.
#[derive(Debug)]
pub(super) struct System {
    origin: Instant,
    /// Random, so that identifiers of different processes differ. Drawn for the first of them: an environment that another
    /// one replaces draws nothing.
    id_prefix: LazyLock<String>,
    ids: AtomicU64,
}

impl System {
    pub(super) fn new() -> Self {
        Self {
            origin: Instant::now(),
            id_prefix: LazyLock::new(|| format!("-{:016x}-", rand::random::<u64>())),
            ids: AtomicU64::new(1),
        }
    }
}

impl Clock for System {
    fn now(&self) -> Duration {
        self.origin.elapsed()
    }

    fn wall(&self) -> SystemTime {
        SystemTime::now()
    }

    fn until(&self, deadline: Duration) -> BoxFuture<'static, ()> {
        match self.origin.checked_add(deadline) {
            Some(instant) => Box::pin(tokio::time::sleep_until(instant)),
            // Past the end of the clock: never.
            None => Box::pin(std::future::pending()),
        }
    }
}

impl Rng for System {
    fn next_u64(&self, _stream: &str) -> u64 {
        rand::random()
    }
}

impl Ids for System {
    fn next_id(&self, kind: &'static str) -> Arc<str> {
        let count = self.ids.fetch_add(1, Ordering::Relaxed);
        let mut id = String::with_capacity(kind.len() + self.id_prefix.len() + 20);
        id.push_str(kind);
        id.push_str(&self.id_prefix);
        let _infallible = write!(id, "{count}");
        id.into()
    }
}

impl Blocking for System {
    fn run(&self, work: Box<dyn FnOnce() + Send>) -> BoxFuture<'static, ()> {
        let task = tokio::task::spawn_blocking(work);
        Box::pin(async move {
            // An error means that the runtime shut down first: the caller then finds no value.
            let _lost = task.await;
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Env;
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn time_follows_tokios_clock() {
        let env = Env::system();
        env.sleep(Duration::from_secs(3600)).await;
        assert_eq!(env.now(), Duration::from_secs(3600));
    }

    #[tokio::test(start_paused = true)]
    async fn an_injected_sleep_does_not_move_timeouts() {
        let env = Env::system().with_sleep(|_: Duration| std::future::ready(()));
        env.sleep(Duration::from_secs(3600)).await;
        assert_eq!(env.now(), Duration::ZERO);
        assert!(env.timeout(Duration::from_secs(2), std::future::pending::<()>()).await.is_err());
        assert_eq!(env.now(), Duration::from_secs(2));
    }

    #[tokio::test(start_paused = true)]
    async fn a_value_ready_at_the_deadline_wins() {
        let env = Env::system();
        let work = env.until(Duration::from_secs(2));
        assert_eq!(env.timeout(Duration::from_secs(2), work).await, Ok(()));
    }

    #[tokio::test]
    async fn blocking_work_gives_its_value_or_its_panic() {
        let env = Env::system();
        assert_eq!(env.run_blocking(|| 7).await, Ok(7));
        let lost = env.run_blocking(|| -> u8 { panic!("no disk") }).await;
        assert_eq!(lost.unwrap_err().to_string(), "blocking work panicked: no disk");
    }

    #[test]
    fn identifiers_differ() {
        let (env, other) = (Env::system(), Env::system());
        let ids = [env.next_id("call"), env.next_id("call"), other.next_id("call")];
        assert!(ids.iter().all(|id| id.starts_with("call-")));
        assert!(ids[0] != ids[1] && ids[0] != ids[2]);
    }

    #[test]
    fn a_deadline_past_the_end_of_the_clock_never_comes() {
        let env = Env::system();
        let mut wait = tokio_test::task::spawn(env.until(Duration::MAX));
        assert!(wait.poll().is_pending());
    }
}
