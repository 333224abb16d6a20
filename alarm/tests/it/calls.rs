//! Each function that is stood in for: real outside, noted or served inside.

use std::ffi::{CString, c_void};
use std::os::unix::fs::PermissionsExt;
use std::ptr;
use std::time::{Duration, SystemTime};

use libc::{timespec, timeval};
use windtunnel_alarm::{Alarm, Ambient, Leaks, Place, Policy, Simulated};

/// Later than any real uptime, earlier than any real date.
const SECONDS: i64 = 1_000_000_000;

struct Fixed;

impl Simulated for Fixed {
    fn wall(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + self.monotonic()
    }

    fn monotonic(&self) -> Duration {
        Duration::new(SECONDS as u64, 7_000)
    }

    fn fill(&mut self, bytes: &mut [u8]) {
        bytes.fill(7);
    }
}

type Call = (&'static str, Ambient, fn() -> bool);

fn clock(clock: libc::clockid_t) -> bool {
    let mut time = timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: there is a place for the time.
    assert_eq!(unsafe { libc::clock_gettime(clock, &mut time) }, 0);
    (time.tv_sec, time.tv_nsec) == (SECONDS, 7_000)
}

fn clock_by_number() -> bool {
    let mut time = timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: there is a place for the time.
    assert_eq!(unsafe { libc::syscall(libc::SYS_clock_gettime, libc::CLOCK_REALTIME, &mut time) }, 0);
    time.tv_sec == SECONDS
}

fn time_of_day() -> bool {
    let mut time = timeval { tv_sec: 0, tv_usec: 0 };
    // SAFETY: there is a place for the time, and no zone is asked for.
    assert_eq!(unsafe { libc::gettimeofday(&mut time, ptr::null_mut()) }, 0);
    (time.tv_sec, time.tv_usec) == (SECONDS, 7)
}

fn time() -> bool {
    let mut stored = 0;
    // SAFETY: there is a place for the time.
    let given = unsafe { libc::time(&mut stored) };
    assert_eq!(given, stored);
    given == SECONDS
}

fn drawn(draw: impl FnOnce(*mut c_void, usize) -> i64) -> bool {
    let mut bytes = [0_u8; 32];
    assert!(draw(bytes.as_mut_ptr().cast(), bytes.len()) >= 0);
    bytes == [7; 32]
}

const CALLS: [Call; 7] = [
    ("clock_gettime", Ambient::WallClock, || clock(libc::CLOCK_REALTIME)),
    ("clock_gettime", Ambient::MonotonicClock, || clock(libc::CLOCK_BOOTTIME)),
    ("syscall clock_gettime", Ambient::WallClock, clock_by_number),
    ("gettimeofday", Ambient::WallClock, time_of_day),
    ("time", Ambient::WallClock, time),
    // SAFETY: there is room for the bytes.
    ("getrandom", Ambient::Entropy, || drawn(|bytes, length| unsafe { libc::getrandom(bytes, length, 0) } as i64)),
    // SAFETY: there is room for the bytes.
    ("getentropy", Ambient::Entropy, || drawn(|bytes, length| unsafe { libc::getentropy(bytes, length) }.into())),
];

fn entropy_by_number() -> bool {
    // SAFETY: there is room for the bytes.
    drawn(|bytes, length| unsafe { libc::syscall(libc::SYS_getrandom, bytes, length, 0) })
}

/// By the path of the function, or where that has none by its file.
fn is_here(place: &Place) -> bool {
    place.function.contains("calls::") || place.file.as_ref().is_some_and(|file| file.ends_with("calls.rs"))
}

fn as_guest(policy: Policy, call: fn() -> bool) -> (bool, Option<Leaks>) {
    let alarm = Alarm::arm(policy, Fixed, || false);
    let was_simulated = {
        let _guest = windtunnel_alarm::guest();
        call()
    };
    (was_simulated, alarm.disarm())
}

#[test]
fn each_call_is_noted_or_served() {
    for (name, ambient, call) in
        CALLS.into_iter().chain([("syscall getrandom", Ambient::Entropy, entropy_by_number as _)])
    {
        assert!(!call(), "{name} is real where no alarm is armed");
        let (was_simulated, leaks) = as_guest(Policy::Note, call);
        let leaks = leaks.unwrap();
        assert_eq!((leaks.first.call, leaks.first.ambient, leaks.count), (name, ambient, 1));
        assert!(!was_simulated && is_here(&leaks.first.place), "{leaks:?}");
        assert_eq!(as_guest(Policy::Serve, call), (true, None), "{name}");
        assert!(!call(), "{name} is real again");
    }
}

#[test]
fn a_clock_that_no_world_has_is_noted_and_real() {
    for policy in [Policy::Note, Policy::Serve] {
        let (was_simulated, leaks) = as_guest(policy, || clock(libc::CLOCK_PROCESS_CPUTIME_ID));
        let leaks = leaks.unwrap();
        assert_eq!((was_simulated, leaks.first.ambient, leaks.count), (false, Ambient::OtherClock, 1));
    }
}

fn opens(open: impl FnOnce() -> i32) -> bool {
    let opened = open();
    assert!(opened >= 0, "{}", std::io::Error::last_os_error());
    // SAFETY: the file was opened here.
    assert_eq!(unsafe { libc::close(opened) }, 0);
    false
}

type Open = (&'static str, fn() -> bool);

const OPENS: [Open; 5] = [
    // SAFETY: this is a C string.
    ("open", || opens(|| unsafe { libc::open(c"/dev/urandom".as_ptr(), libc::O_RDONLY) })),
    // SAFETY: this is a C string.
    ("open", || opens(|| unsafe { libc::open64(c"/dev/random".as_ptr(), libc::O_RDONLY) })),
    // SAFETY: this is a C string.
    ("openat", || opens(|| unsafe { libc::openat(libc::AT_FDCWD, c"/dev/random".as_ptr(), libc::O_RDONLY) })),
    // SAFETY: this is a C string.
    ("openat", || opens(|| unsafe { libc::openat64(libc::AT_FDCWD, c"/dev/urandom".as_ptr(), libc::O_RDONLY) })),
    ("open", || std::fs::File::open("/dev/urandom").is_err()),
];

#[test]
fn a_device_of_entropy_is_noted_and_real() {
    for (name, open) in OPENS {
        for policy in [Policy::Note, Policy::Serve] {
            let (_, leaks) = as_guest(policy, open);
            let leaks = leaks.unwrap();
            assert_eq!((leaks.first.call, leaks.first.ambient, leaks.count), (name, Ambient::Entropy, 1));
            assert!(is_here(&leaks.first.place), "{leaks:?}");
        }
    }
}

#[test]
fn other_files_are_opened_as_ever_with_their_modes() {
    let path = std::env::temp_dir().join(format!("windtunnel-alarm-{}", std::process::id()));
    let name = CString::new(path.to_str().unwrap()).unwrap();
    // SAFETY: this is a C string.
    let (_, leaks) = as_guest(Policy::Note, || opens(|| unsafe { libc::open(c"/dev/null".as_ptr(), libc::O_RDONLY) }));
    assert_eq!(leaks, None);
    let flags = libc::O_CREAT | libc::O_EXCL | libc::O_WRONLY;
    // SAFETY: this is a C string, and a mode is given.
    opens(|| unsafe { libc::open(name.as_ptr(), flags, 0o440) });
    // SAFETY: as above.
    assert_eq!(unsafe { libc::open64(name.as_ptr(), flags, 0o440) }, -1);
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(mode & 0o777, 0o440);
}

#[test]
fn to_ask_for_no_bytes_is_no_draw() {
    // SAFETY: no byte is written.
    let (_, leaks) = as_guest(Policy::Note, || unsafe { libc::getrandom(ptr::dangling_mut(), 0, 0) } == 0);
    assert_eq!(leaks, None);
}

#[test]
fn errors_of_the_real_calls_stay() {
    // SAFETY: no clock has this number, so nothing is written.
    assert_eq!(unsafe { libc::clock_gettime(12_345, ptr::null_mut()) }, -1);
    // SAFETY: no system call has this number.
    assert_eq!(unsafe { libc::syscall(-1) }, -1);
    assert_eq!(std::io::Error::last_os_error().raw_os_error(), Some(libc::ENOSYS));
}
