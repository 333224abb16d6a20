//! Work on several threads, with results in the order of the work.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use crate::failure::Failure;
use crate::interrupt::Interrupt;

/// How long an interrupt may go unnoticed.
const NOTICE: Duration = Duration::from_millis(50);

/// The results of the work, in its order whatever order they come in.
///
/// After an interrupt it gives what is there and ends. Workers that are still busy are left behind, and end with the
/// process: nothing they do is wanted any more.
pub(crate) struct Ordered<R> {
    results: Receiver<(usize, R)>,
    early: BTreeMap<usize, R>,
    next: usize,
    interrupt: Interrupt,
}

/// Does `work` for each item on `jobs` threads.
pub(crate) fn ordered<T, R>(
    jobs: NonZeroUsize,
    items: impl Iterator<Item = T> + Send + 'static,
    interrupt: &Interrupt,
    work: impl Fn(T) -> R + Send + Sync + 'static,
) -> Result<Ordered<R>, Failure>
where
    T: 'static,
    R: Send + 'static,
{
    // Workers wait where results are not taken as fast as they are made.
    let (sender, results) = sync_channel(jobs.get() * 4);
    let items = Arc::new(Mutex::new(items.enumerate()));
    let work = Arc::new(work);
    for _ in 0..jobs.get() {
        let (items, work, sender, interrupt) =
            (Arc::clone(&items), Arc::clone(&work), SyncSender::clone(&sender), interrupt.clone());
        let worker = move || {
            while !interrupt.is_pressed() {
                let item = items.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some((index, item)) = item else { return };
                // Nobody listens any more once the command is ending.
                if sender.send((index, work(item))).is_err() {
                    return;
                }
            }
        };
        Builder::new().name("worker".to_owned()).spawn(worker).map_err(Failure::Worker)?;
    }
    Ok(Ordered { results, early: BTreeMap::new(), next: 0, interrupt: interrupt.clone() })
}

/// Does one piece of work; `None` if it was interrupted.
pub(crate) fn interruptible<R: Send + 'static>(
    interrupt: &Interrupt,
    work: impl FnOnce() -> R + Send + 'static,
) -> Result<Option<R>, Failure> {
    let mut results = ordered(NonZeroUsize::MIN, std::iter::once(work), interrupt, |work| work())?;
    match results.next() {
        None if !interrupt.is_pressed() => Err(Failure::Lost),
        result => Ok(result),
    }
}

impl<R> Iterator for Ordered<R> {
    type Item = R;

    fn next(&mut self) -> Option<R> {
        loop {
            if let Some(result) = self.early.remove(&self.next) {
                self.next += 1;
                return Some(result);
            }
            if self.interrupt.is_pressed() {
                self.early.extend(self.results.try_iter());
                return self.early.pop_first().map(|(_, result)| result);
            }
            match self.results.recv_timeout(NOTICE) {
                Ok((index, result)) => {
                    self.early.insert(index, result);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return self.early.pop_first().map(|(_, result)| result),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_work() {
        for jobs in [1, 2, 7] {
            let jobs = NonZeroUsize::new(jobs).unwrap();
            let squares = ordered(jobs, 0..1000_u64, &Interrupt::default(), |number| number * number).unwrap();
            assert!(squares.eq((0..1000).map(|number| number * number)));
        }
    }
}
