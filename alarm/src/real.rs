//! The functions of the C library that are stood in for.

use std::ffi::{CStr, c_char, c_int, c_long, c_uint, c_void};
use std::marker::PhantomData;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use libc::{clockid_t, pthread_attr_t, pthread_t, size_t, ssize_t, time_t, timespec, timeval};

pub(crate) type ClockGettime = unsafe extern "C" fn(clockid_t, *mut timespec) -> c_int;
pub(crate) type Gettimeofday = unsafe extern "C" fn(*mut timeval, *mut c_void) -> c_int;
pub(crate) type Time = unsafe extern "C" fn(*mut time_t) -> time_t;
pub(crate) type Getrandom = unsafe extern "C" fn(*mut c_void, size_t, c_uint) -> ssize_t;
pub(crate) type Getentropy = unsafe extern "C" fn(*mut c_void, size_t) -> c_int;
pub(crate) type Start = extern "C" fn(*mut c_void) -> *mut c_void;
pub(crate) type PthreadCreate =
    unsafe extern "C" fn(*mut pthread_t, *const pthread_attr_t, Start, *mut c_void) -> c_int;
pub(crate) type Open = unsafe extern "C" fn(*const c_char, c_int, ...) -> c_int;
pub(crate) type Openat = unsafe extern "C" fn(c_int, *const c_char, c_int, ...) -> c_int;
pub(crate) type Syscall = unsafe extern "C" fn(c_long, ...) -> c_long;

pub(crate) static CLOCK_GETTIME: Real<ClockGettime> = Real::new(c"clock_gettime");
pub(crate) static GETTIMEOFDAY: Real<Gettimeofday> = Real::new(c"gettimeofday");
pub(crate) static TIME: Real<Time> = Real::new(c"time");
pub(crate) static GETRANDOM: Real<Getrandom> = Real::new(c"getrandom");
pub(crate) static GETENTROPY: Real<Getentropy> = Real::new(c"getentropy");
pub(crate) static PTHREAD_CREATE: Real<PthreadCreate> = Real::new(c"pthread_create");
pub(crate) static OPEN: Real<Open> = Real::new(c"open");
pub(crate) static OPEN64: Real<Open> = Real::new(c"open64");
pub(crate) static OPENAT: Real<Openat> = Real::new(c"openat");
pub(crate) static OPENAT64: Real<Openat> = Real::new(c"openat64");
pub(crate) static SYSCALL: Real<Syscall> = Real::new(c"syscall");

/// A function of the C library, looked up at its first call.
pub(crate) struct Real<F> {
    name: &'static CStr,
    found: AtomicPtr<c_void>,
    function: PhantomData<F>,
}

impl<F: Copy> Real<F> {
    /// `F` must be the type of the function of this name: only the statics above are made.
    const fn new(name: &'static CStr) -> Self {
        Self { name, found: AtomicPtr::new(ptr::null_mut()), function: PhantomData }
    }

    /// The function. Ends the process if the C library has none, which glibc always does: there is no other answer to give.
    pub(crate) fn get(&self) -> F {
        let mut found = self.found.load(Ordering::Relaxed);
        if found.is_null() {
            // SAFETY: the name is a C string. What follows this program in the order of lookup is the C library.
            found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
            if found.is_null() {
                std::process::abort();
            }
            self.found.store(found, Ordering::Relaxed);
        }
        // SAFETY: a function pointer is as large as a data pointer here, this one is not null, and has the type `F`.
        unsafe { std::mem::transmute_copy(&found) }
    }
}
