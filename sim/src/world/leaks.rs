//! What becomes of guests that reach past their world.

/// What becomes of a guest that reads the real clock, draws the system's entropy, or starts a thread, instead of asking its
/// [`Env`](windtunnel_core::env::Env). With the feature `alarm`, on Linux with glibc (x86-64, ARM64); elsewhere it is as
/// [`Leaks::Ignore`].
///
/// A guest is whatever runs in the world: the scenario, tasks of hosts, and tasks that are spawned with tokio. What runs on
/// another thread, or without a world, is none of that and has the real clock and entropy.
///
/// Only calls of the C library are noticed: `clock_gettime`, `gettimeofday`, `time`, `getrandom`, `getentropy`,
/// `pthread_create`, `syscall` for a clock or entropy, and to open `/dev/urandom` or `/dev/random`. A system call that a
/// library makes itself is not, nor what else `windtunnel-alarm` names. What is drawn once for the whole process, as the keys
/// of `ahash` are, is noticed in the first world that draws it. Subscribers of `tracing`, locks of `parking_lot`, the schemas'
/// validator and the `Date` header of hyper's server may have the real thing.
///
/// The order of a `HashMap` follows the seed with [`Leaks::Fail`] and [`Leaks::Serve`], and to make one is no leak: the
/// standard library draws the keys once a thread, the world draws them before any guest runs, and most maps are never
/// iterated. Without the feature `alarm`, on other systems and with [`Leaks::Ignore`] each run has keys of its own: then
/// [`World::check_determinism`](crate::World::check_determinism) notices an order that matters, by what follows from it. An
/// order that follows addresses instead, as that of `hashbrown`'s own maps, is in no case the seed's.
///
/// The order of `tokio::select!` follows the seed if everything is built with `--cfg tokio_unstable`; without it tokio mixes
/// in how many runtimes the process has made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Leaks {
    /// The call goes to the real thing, and a run that would have come to its end fails with
    /// [`WorldError::Leak`](crate::WorldError::Leak) instead. The trace stays as it is.
    #[default]
    Fail,
    /// The wall clock shows the world's epoch and the time since, the monotonic one that of a machine that was started a day
    /// before the world began, and entropy follows from the seed. A thread, a device of entropy, or a clock such as the
    /// processor's time, cannot be served and fails the run.
    Serve,
    /// The call goes to the real thing, and nobody hears of it.
    Ignore,
}
