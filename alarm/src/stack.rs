//! The stack of a call, and the names of what stands on it.

use std::backtrace::Backtrace;

/// A function on the stack. Without debug information it has a name at most, and one that was inlined is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) name: String,
    pub(crate) file: Option<String>,
    pub(crate) line: Option<u32>,
}

/// How deep a stack is looked at to know it again.
#[cfg(all(target_os = "linux", target_env = "gnu", any(target_arch = "x86_64", target_arch = "aarch64")))]
const ADDRESSES_MAX: usize = 256;

/// Where the functions on the stack go on, innermost first: quickly found, and the same whenever the same is called from
/// the same place.
#[cfg(all(target_os = "linux", target_env = "gnu", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) fn addresses() -> Vec<usize> {
    let mut addresses = [std::ptr::null_mut(); ADDRESSES_MAX];
    // SAFETY: there is room for as many addresses as are asked for.
    let count = unsafe { libc::backtrace(addresses.as_mut_ptr(), ADDRESSES_MAX as std::ffi::c_int) };
    addresses.iter().take(usize::try_from(count).unwrap_or(0)).map(|address| address.addr()).collect()
}

/// Where no call is noticed, no stack is looked at.
#[cfg(not(all(target_os = "linux", target_env = "gnu", any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub(crate) fn addresses() -> Vec<usize> {
    Vec::new()
}

/// The functions on the stack of whoever calls this, innermost first.
pub(crate) fn frames() -> Vec<Frame> {
    read(&Backtrace::force_capture().to_string())
}

/// Reads the text of a backtrace: the standard library gives its frames in no other way, and the text is for people. What
/// is not understood is left out.
fn read(text: &str) -> Vec<Frame> {
    let mut frames: Vec<Frame> = Vec::new();
    for line in text.lines().map(str::trim) {
        if let (Some(location), Some(frame)) = (line.strip_prefix("at "), frames.last_mut()) {
            let mut parts = location.rsplitn(3, ':');
            let _column = parts.next();
            frame.line = parts.next().and_then(|line| line.parse().ok());
            frame.file = parts.next().map(str::to_owned);
        } else if let Some((number, name)) = line.split_once(": ")
            && number.parse::<usize>().is_ok()
        {
            frames.push(Frame { name: name.to_owned(), ..Frame::default() });
        }
    }
    frames
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backtrace_is_read_with_its_places() {
        let text =
            "   0: clock_gettime\n   1: app::ask::{{closure}}\n             at ./src/a:b.rs:12:5\n  10: __libc_start\n";
        let frame = |name: &str| Frame { name: name.to_owned(), ..Frame::default() };
        let ask = Frame { file: Some("./src/a:b.rs".to_owned()), line: Some(12), ..frame("app::ask::{{closure}}") };
        assert_eq!(read(text), [frame("clock_gettime"), ask, frame("__libc_start")]);
    }

    #[test]
    fn the_standard_librarys_backtraces_are_understood() {
        // The whole path, or the name alone where tables of lines are the only debug information.
        let name = "the_standard_librarys_backtraces_are_understood";
        assert!(frames().iter().any(|frame| frame.name.ends_with(name)), "{:?}", frames());
    }
}
