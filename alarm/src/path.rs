//! The path of a function on the stack.
//!
//! Where tables of lines are the only debug information, a function has a name such as `poll<app::Agent>` or `{closure#0}` and
//! no path. There its file says which crate and module it is of.

use std::borrow::Cow;
use std::path::Path;

use crate::stack::Frame;

/// Where the crates of this workspace are, when they are built from it.
const FOLDERS: [(&str, &str); 4] = [
    ("alarm/src/", "windtunnel_alarm"),
    ("core/src/", "windtunnel_core"),
    ("sim/src/", "windtunnel_sim"),
    ("src/", "windtunnel"),
];

/// The path, as far as it is known; none, if this is no function of Rust.
pub(crate) fn path(frame: &Frame) -> Option<Cow<'_, str>> {
    let head = frame.name.split('<').next().unwrap_or_default();
    // A path may begin with a type: `<app::Agent as app::Step>::go`.
    if frame.name.contains("::") && (head.is_empty() || head.contains("::")) {
        return Some(Cow::Borrowed(&frame.name));
    }
    let file = frame.file.as_deref().filter(|file| file.ends_with(".rs"))?;
    match module(file) {
        Some(module) => Some(Cow::Owned(format!("{module}::{head}"))),
        None if head.is_empty() => None,
        None => Some(Cow::Borrowed(head)),
    }
}

/// The module that a file of a known crate is.
fn module(file: &str) -> Option<String> {
    let (name, inside) = of_workspace(file).or_else(|| of_library(file))?;
    let inside = inside.strip_suffix(".rs")?;
    let parts = inside.split('/').filter(|part| !["mod", "lib", "main"].contains(part));
    Some(std::iter::once(name.as_str()).chain(parts).collect::<Vec<_>>().join("::"))
}

/// The crate of the standard library or of a registry, and where in its sources the file is.
fn of_library(file: &str) -> Option<(String, String)> {
    let folder = ["/rustc/", "/rustlib/src/rust/"].into_iter().find_map(|folder| file.split_once(folder));
    let crate_and_file = match folder {
        Some((_, rest)) => rest.split_once("library/")?.1,
        // The folder after this one is the registry's.
        None => file.split_once("/registry/src/")?.1.split_once('/')?.1,
    };
    let (folder, inside) = crate_and_file.split_once("/src/")?;
    let is_version = |rest: &str| rest.starts_with(|letter: char| letter.is_ascii_digit());
    let mut ends = folder.match_indices('-').map(|(end, _)| end);
    let end = ends.find(|end| is_version(&folder[end + 1..])).unwrap_or(folder.len());
    Some((folder[..end].replace('-', "_"), inside.to_owned()))
}

/// The crate of this workspace, and where in its sources the file is.
fn of_workspace(file: &str) -> Option<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent()?;
    // A backtrace leaves out the directory that the process is in.
    let whole = match file.strip_prefix("./") {
        Some(below) => std::env::current_dir().ok()?.join(below),
        None => Path::new(file).to_owned(),
    };
    let inside = whole.strip_prefix(root).ok()?.to_str()?;
    FOLDERS.iter().find_map(|(folder, name)| Some(((*name).to_owned(), inside.strip_prefix(folder)?.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, file: &str, expected: Option<&str>) {
        let file = (!file.is_empty()).then(|| file.to_owned());
        let frame = Frame { name: name.to_owned(), file, line: Some(7) };
        assert_eq!(path(&frame).as_deref(), expected, "{name} in {:?}", frame.file);
    }

    #[test]
    fn a_name_that_is_a_path_stays() {
        for name in [
            "app::ask::{{closure}}",
            "<app::Agent as app::Step>::go",
            "core::ptr::drop_in_place<app::Agent>",
            "<[T]>::sort_by",
        ] {
            check(name, "", Some(name));
            check(name, "/rustc/1/library/core/src/ptr/mod.rs", Some(name));
        }
    }

    #[test]
    fn a_name_without_a_path_has_the_one_of_its_file() {
        let std = "/rustc/59807616e1fa2540724bfbac14d7976d7e4a3860/library/std/src/time.rs";
        check("now", std, Some("std::time::now"));
        check(
            "map<i32, (), app::ask::{closure_env#0}>",
            "/home/me/lib/rustlib/src/rust/library/core/src/option.rs",
            Some("core::option::map"),
        );
        let registry = |file: &str| format!("/home/me/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/{file}");
        check("update", &registry("hyper-1.7.0/src/common/date.rs"), Some("hyper::common::date::update"));
        check("{closure#0}", &registry("tracing-core-0.1.34/src/lib.rs"), Some("tracing_core::{closure#0}"));
        check("fill", &registry("rand_core-0.10.0-rc-2/src/mod.rs"), Some("rand_core::fill"));
        let here = concat!(env!("CARGO_MANIFEST_DIR"), "/src/alarm.rs");
        check("note", here, Some("windtunnel_alarm::alarm::note"));
        check("with_state<(), u8>", "./src/alarm.rs", Some("windtunnel_alarm::alarm::with_state"));
    }

    #[test]
    fn a_guests_name_without_a_path_stays_what_it_is() {
        check("ask<u8>", "./tests/it/app.rs", Some("ask"));
        check("{async_block#0}", "/home/me/app/src/agent.rs", Some("{async_block#0}"));
        check("<unknown>", "/home/me/app/src/agent.rs", None);
    }

    #[test]
    fn what_is_not_rust_has_no_path() {
        check("clock_gettime", "", None);
        check("sqlite3_step", "/home/me/.cargo/registry/src/index/libsqlite3-sys-0.30.1/sqlite3/sqlite3.c", None);
        check("__libc_start_call_main", "../sysdeps/nptl/libc_start_call_main.h", None);
    }
}
