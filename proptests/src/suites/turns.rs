//! Futures that take their turns.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

/// Lets others run so many times.
pub(super) async fn pauses(count: u8) {
    let mut left = count;
    poll_fn(|context| {
        if left == 0 {
            return Poll::Ready(());
        }
        left -= 1;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Gives a future so many turns, and drops it; its output, if it had come to it by then. It is not polled beyond its end.
pub(super) async fn dropped_after<T>(turns: u8, future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    let mut left = turns;
    poll_fn(|context| {
        if left == 0 {
            return Poll::Ready(None);
        }
        left -= 1;
        match future.as_mut().poll(context) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            // It may not be woken by itself before its next turn.
            Poll::Pending => {
                context.waker().wake_by_ref();
                Poll::Pending
            }
        }
    })
    .await
}
