//! An alarm for code in a simulated world that reaches past it: reads the real clock, draws the system's entropy, or starts
//! a thread.
//!
//! It is an alarm and no seam. On Linux it stands in for `clock_gettime`, `gettimeofday`, `time`, `getrandom`,
//! `getentropy`, `pthread_create`, and of `open`, `openat` and `syscall` for what comes to the same, in the program that it is
//! linked into. A call goes on to the real one unnoticed, unless it comes from a guest on a thread on which an [`Alarm`] is
//! armed. Then it is noted with its place, or answered from what the world simulates. `/dev/urandom` and `/dev/random` are
//! noted when they are opened, and never simulated.
//!
//! What does not go through these functions is not seen:
//! - a system call of its own, as `rustix` makes them, and the instructions `rdtsc` and `rdrand`;
//! - what the C library does inside, without its own public functions: `fopen` of a device, `arc4random`, `timespec_get`;
//! - another path to a device, such as a link to it, and a device that was open before;
//! - where memory is: an order that follows addresses, as that of maps with `foldhash`, differs from process to process;
//! - what another thread does for the guest, and what a process does that the guest forks.
//!
//! On systems other than Linux with glibc on x86-64 or ARM64 this crate compiles and notices nothing ([`IS_SUPPORTED`]).
//!
//! ```
//! use std::time::{Duration, Instant, SystemTime};
//! use windtunnel_alarm::{Alarm, Policy, Simulated};
//!
//! struct Frozen;
//! impl Simulated for Frozen {
//!     fn wall(&self) -> SystemTime {
//!         SystemTime::UNIX_EPOCH + Duration::from_secs(1_735_689_600)
//!     }
//!     fn monotonic(&self) -> Duration {
//!         Duration::from_secs(1)
//!     }
//!     fn fill(&mut self, bytes: &mut [u8]) {
//!         bytes.fill(7);
//!     }
//! }
//!
//! let alarm = Alarm::arm(Policy::Note, Frozen, || false);
//! let _unnoticed = Instant::now();
//! {
//!     let _guest = windtunnel_alarm::guest();
//!     let _noted = Instant::now();
//! }
//! let leaks = alarm.disarm();
//! assert_eq!(leaks.map(|leaks| leaks.count), windtunnel_alarm::IS_SUPPORTED.then_some(1));
//! ```

mod alarm;
mod leak;
#[cfg(all(target_os = "linux", target_env = "gnu", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod overrides;
mod path;
mod place;
#[cfg(all(target_os = "linux", target_env = "gnu", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod real;
mod stack;

pub use alarm::{Alarm, Policy, Scope, Simulated, guest, preparation};
pub use leak::{Ambient, Leak, Leaks};
pub use place::Place;

/// Whether calls are noticed on this system.
pub const IS_SUPPORTED: bool =
    cfg!(all(target_os = "linux", target_env = "gnu", any(target_arch = "x86_64", target_arch = "aarch64")));
