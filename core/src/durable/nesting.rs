//! Whether code runs inside an operation's callable (D7).

use std::cell::RefCell;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

thread_local! {
    /// The key of the operation whose callable is polled on this thread right now. Set for the length of a poll only, so
    /// nothing of it survives anywhere.
    static INSIDE: RefCell<Option<Arc<str>>> = const { RefCell::new(None) };
}

/// The key of the operation around.
pub(super) fn enclosing() -> Option<Arc<str>> {
    INSIDE.with_borrow(Clone::clone)
}

pin_project_lite::pin_project! {
    /// A callable at work.
    pub(super) struct Inside<F> {
        key: Arc<str>,
        #[pin]
        callable: F,
    }
}

impl<F> Inside<F> {
    pub(super) fn new(key: Arc<str>, callable: F) -> Self {
        Self { key, callable }
    }
}

impl<F: Future> Future for Inside<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let _around = Around { outer: INSIDE.replace(Some(Arc::clone(this.key))) };
        this.callable.poll(context)
    }
}

/// Puts back what was around, also when the callable unwinds.
struct Around {
    outer: Option<Arc<str>>,
}

impl Drop for Around {
    fn drop(&mut self) {
        INSIDE.set(self.outer.take());
    }
}
