//! Running a subject's futures.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures_util::future::LocalBoxFuture;

use crate::Violation;
use crate::played::HandClock;

/// More turns than any case needs.
const TURNS_MAX: u32 = 1_000_000;

/// A future did not come to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stalled {
    /// Nobody will wake it.
    #[error("it waits for what never comes")]
    Forever,
    /// It is woken again and again.
    #[error("it goes round and round without an end")]
    Spinning,
}

/// Runs a future to its end on this thread. When it can only wait, the clock moves to what it waits for.
///
/// It is how suites run a subject that does not say otherwise. One that needs a runtime, for sockets or threads, is run on
/// that: `Ok(runtime.block_on(future))`.
///
/// # Errors
/// [`Stalled`], if there is no end.
pub fn drive(clock: &HandClock, future: LocalBoxFuture<'_, ()>) -> Result<(), Stalled> {
    let mut future = pin!(future);
    let woken = Arc::new(Woken(AtomicBool::new(true)));
    let waker = Waker::from(Arc::clone(&woken));
    let mut context = Context::from_waker(&waker);
    for _turn in 0..TURNS_MAX {
        if let Poll::Ready(()) = future.as_mut().poll(&mut context) {
            return Ok(());
        }
        if !woken.0.swap(false, Ordering::Relaxed) {
            let deadline = clock.next_deadline().ok_or(Stalled::Forever)?;
            clock.advance(deadline - windtunnel_core::env::Clock::now(clock));
        }
    }
    Err(Stalled::Spinning)
}

struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What a future that a subject runs comes to.
pub(super) fn outcome<'a>(
    point: &'static str,
    future: impl Future<Output = Result<(), String>> + 'a,
    run: impl FnOnce(LocalBoxFuture<'_, ()>) -> Result<(), Stalled>,
) -> Result<(), Violation> {
    let mut outcome = Err("its runtime did not run it".to_owned());
    let ran = run(Box::pin(async { outcome = future.await }));
    ran.map_err(|stalled| stalled.to_string()).and(outcome).map_err(|seen| Violation::new(point, seen))
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_clock_moves_when_nothing_else_can() {
        let clock = HandClock::new();
        let env = clock.env();
        let slept = drive(&clock, Box::pin(async { env.sleep(Duration::from_secs(3)).await }));
        assert_eq!((slept, clock.env().now()), (Ok(()), Duration::from_secs(3)));
    }

    #[test]
    fn what_has_no_end_is_told() {
        let clock = HandClock::new();
        assert_eq!(drive(&clock, Box::pin(pending())), Err(Stalled::Forever));
        let env = clock.env();
        let spinning = async {
            loop {
                env.pause().await;
            }
        };
        assert_eq!(drive(&clock, Box::pin(spinning)), Err(Stalled::Spinning));
    }
}
