//! Work on several threads, with results in the order of the work.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

/// As many as the machine has cores.
pub(super) fn cores() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// Does `work` for the places `0..count` on `jobs` threads, and gives the results in order. A place that is worked on last
/// is the first whose result `ends` the work: what comes after it is not there, whatever was done of it.
#[expect(
    clippy::disallowed_methods,
    reason = "worlds know nothing of each other: each has a thread and a runtime of its own"
)]
pub(super) fn ordered<R: Send>(
    jobs: NonZeroUsize,
    count: usize,
    work: impl Fn(usize) -> R + Sync,
    ends: impl Fn(&R) -> bool + Sync,
) -> Vec<R> {
    let (next, last) = (AtomicUsize::new(0), AtomicUsize::new(count));
    let results: Mutex<Vec<(usize, R)>> = Mutex::default();
    let worker = || {
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            if place >= last.load(Ordering::Relaxed) {
                return;
            }
            let result = work(place);
            if ends(&result) {
                last.fetch_min(place + 1, Ordering::Relaxed);
            }
            results.lock().push((place, result));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..jobs.get().min(count) {
            scope.spawn(worker);
        }
        worker();
    });
    let mut results = results.into_inner();
    results.retain(|(place, _)| *place < last.load(Ordering::Relaxed));
    results.sort_by_key(|(place, _)| *place);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_work_up_to_the_first_that_ends_it() {
        for jobs in [1, 2, 7] {
            let jobs = NonZeroUsize::new(jobs).unwrap();
            assert_eq!(
                ordered(jobs, 100, |place| place * place, |_| false),
                (0..100).map(|place| place * place).collect::<Vec<_>>()
            );
            assert_eq!(ordered(jobs, 100, |place| place, |place| *place >= 40), (0..=40).collect::<Vec<_>>());
            assert!(ordered(jobs, 0, |place| place, |_| true).is_empty());
        }
    }
}
