//! What stands in for the functions of the C library.
//!
//! These are called at any time on any thread, also before `main` and while a thread ends. They neither panic nor wait.

use std::ffi::{CStr, c_char, c_int, c_long, c_uint, c_void};
use std::slice;
use std::time::{Duration, SystemTime};

use libc::{clockid_t, mode_t, pthread_attr_t, pthread_t, size_t, ssize_t, suseconds_t, time_t, timespec, timeval};

use crate::Ambient;
use crate::alarm;
use crate::real::{self, Start};

const ENTROPY_BYTES_MAX: size_t = 256;

#[unsafe(no_mangle)]
unsafe extern "C" fn clock_gettime(clock: clockid_t, into: *mut timespec) -> c_int {
    match simulated(clock, "clock_gettime") {
        Some(value) if !into.is_null() => {
            // SAFETY: the caller gives a place for the time.
            unsafe { into.write(value) };
            0
        }
        // SAFETY: the caller's own call, handed on.
        _ => unsafe { real::CLOCK_GETTIME.get()(clock, into) },
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn gettimeofday(into: *mut timeval, zone: *mut c_void) -> c_int {
    match alarm::wall("gettimeofday") {
        Some(wall) if !into.is_null() => {
            let (seconds, nanos) = since_1970(wall);
            // SAFETY: the caller gives a place for the time.
            unsafe { into.write(timeval { tv_sec: seconds, tv_usec: (nanos / 1_000) as suseconds_t }) };
            0
        }
        // SAFETY: the caller's own call, handed on.
        _ => unsafe { real::GETTIMEOFDAY.get()(into, zone) },
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn time(into: *mut time_t) -> time_t {
    let Some(wall) = alarm::wall("time") else {
        // SAFETY: the caller's own call, handed on.
        return unsafe { real::TIME.get()(into) };
    };
    let (seconds, _) = since_1970(wall);
    if !into.is_null() {
        // SAFETY: the caller gives a place for the time, or none.
        unsafe { into.write(seconds) };
    }
    seconds
}

#[unsafe(no_mangle)]
unsafe extern "C" fn getrandom(into: *mut c_void, length: size_t, flags: c_uint) -> ssize_t {
    // SAFETY: the caller gives room for so many bytes.
    match unsafe { drawn(into, length, "getrandom") } {
        Some(()) => length as ssize_t,
        // SAFETY: the caller's own call, handed on.
        None => unsafe { real::GETRANDOM.get()(into, length, flags) },
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn getentropy(into: *mut c_void, length: size_t) -> c_int {
    if length <= ENTROPY_BYTES_MAX {
        // SAFETY: the caller gives room for so many bytes.
        if let Some(()) = unsafe { drawn(into, length, "getentropy") } {
            return 0;
        }
    }
    // SAFETY: the caller's own call, handed on.
    unsafe { real::GETENTROPY.get()(into, length) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_create(
    thread: *mut pthread_t,
    attributes: *const pthread_attr_t,
    start: Start,
    argument: *mut c_void,
) -> c_int {
    alarm::unserved(Ambient::Thread, "pthread_create");
    // SAFETY: the caller's own call, handed on.
    unsafe { real::PTHREAD_CREATE.get()(thread, attributes, start, argument) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn open(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // SAFETY: the caller gives a path.
    unsafe { opened(path, "open") };
    // SAFETY: the caller's own call, handed on.
    unsafe { real::OPEN.get()(path, flags, mode) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn open64(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // SAFETY: the caller gives a path.
    unsafe { opened(path, "open") };
    // SAFETY: the caller's own call, handed on.
    unsafe { real::OPEN64.get()(path, flags, mode) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn openat(folder: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // SAFETY: the caller gives a path.
    unsafe { opened(path, "openat") };
    // SAFETY: the caller's own call, handed on.
    unsafe { real::OPENAT.get()(folder, path, flags, mode) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn openat64(folder: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // SAFETY: the caller gives a path.
    unsafe { opened(path, "openat") };
    // SAFETY: the caller's own call, handed on.
    unsafe { real::OPENAT64.get()(folder, path, flags, mode) }
}

/// The C library's takes as many arguments as a call has. On x86-64 and ARM64 they come where six of a fixed number would,
/// and those that the caller did not give are handed on as whatever stands there, as the C library does itself.
#[unsafe(no_mangle)]
unsafe extern "C" fn syscall(
    number: c_long,
    first: c_long,
    second: c_long,
    third: c_long,
    fourth: c_long,
    fifth: c_long,
    sixth: c_long,
) -> c_long {
    if number == libc::SYS_getrandom {
        // SAFETY: the caller gives room for so many bytes.
        if let Some(()) = unsafe { drawn(first as *mut c_void, second as size_t, "syscall getrandom") } {
            return second;
        }
    } else if number == libc::SYS_clock_gettime
        && let Some(value) = simulated(first as clockid_t, "syscall clock_gettime")
        && second != 0
    {
        // SAFETY: the caller gives a place for the time.
        unsafe { (second as *mut timespec).write(value) };
        return 0;
    }
    // SAFETY: the caller's own call, handed on.
    unsafe { real::SYSCALL.get()(number, first, second, third, fourth, fifth, sixth) }
}

/// Somebody opens a file. The devices of entropy are none that could be served: what is read from them is the system's.
///
/// The functions of the C library take a mode only where a file may be made. On x86-64 and ARM64 it comes where that of a
/// fixed number of arguments would, and one that the caller did not give is handed on as whatever stands there, unread.
///
/// # Safety
/// `path` is null or a C string.
unsafe fn opened(path: *const c_char, call: &'static str) {
    // Most calls are nobody's who is watched: they cost no more than this.
    if path.is_null() || !alarm::is_armed() {
        return;
    }
    // SAFETY: the caller's promise.
    if [c"/dev/urandom", c"/dev/random"].contains(&unsafe { CStr::from_ptr(path) }) {
        alarm::unserved(Ambient::Entropy, call);
    }
}

/// What a clock shows, if that is simulated.
fn simulated(clock: clockid_t, call: &'static str) -> Option<timespec> {
    let (seconds, nanos) = match clock {
        libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE | libc::CLOCK_TAI => since_1970(alarm::wall(call)?),
        libc::CLOCK_MONOTONIC | libc::CLOCK_MONOTONIC_COARSE | libc::CLOCK_MONOTONIC_RAW | libc::CLOCK_BOOTTIME => {
            let monotonic = alarm::monotonic(call)?;
            (monotonic.as_secs() as time_t, monotonic.subsec_nanos())
        }
        _ => {
            alarm::unserved(Ambient::OtherClock, call);
            return None;
        }
    };
    Some(timespec { tv_sec: seconds, tv_nsec: nanos.into() })
}

/// Fills the bytes, if chance is simulated. A call for none only asks whether there is such a function.
///
/// # Safety
/// `into` is valid for writing `length` bytes.
unsafe fn drawn(into: *mut c_void, length: size_t, call: &'static str) -> Option<()> {
    if into.is_null() || length == 0 {
        return None;
    }
    // SAFETY: the caller's promise. The bytes may not be initialised yet, so they are before a reference to them is made.
    let bytes = unsafe {
        into.cast::<u8>().write_bytes(0, length);
        slice::from_raw_parts_mut(into.cast::<u8>(), length)
    };
    alarm::entropy(call, bytes)
}

/// Whole seconds, rounded down, and nanoseconds.
fn since_1970(wall: SystemTime) -> (time_t, u32) {
    match wall.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => (after.as_secs() as time_t, after.subsec_nanos()),
        Err(before) => {
            let before = before.duration();
            let whole = Duration::from_secs(before.as_secs() + u64::from(before.subsec_nanos() > 0));
            (-(whole.as_secs() as time_t), (whole - before).subsec_nanos())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_before_1970_counts_backwards() {
        let at = |nanos| since_1970(SystemTime::UNIX_EPOCH - Duration::from_nanos(nanos));
        assert_eq!([at(0), at(1), at(1_000_000_000)], [(0, 0), (-1, 999_999_999), (-1, 0)]);
    }
}
