//! Where a guest reached past its world.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use crate::path::path;
use crate::stack::{self, Frame};

/// The places of stacks that were seen, by where their functions go on: to find one out takes milliseconds.
static PLACES: Mutex<BTreeMap<Vec<usize>, Option<Place>>> = Mutex::new(BTreeMap::new());

/// How many are kept.
const PLACES_MAX: usize = 4096;

/// What stands between a guest and a call, or under it. By the crate's name, for builds that do not say which file it is.
const LIBRARIES: [&str; 13] = [
    "futures_core",
    "futures_util",
    "hyper",
    "parking_lot",
    "rand",
    "rand_chacha",
    "tokio",
    "tokio_util",
    "tracing",
    "uuid",
    "windtunnel",
    "windtunnel_core",
    "windtunnel_sim",
];

/// They are told by the call: the standard library, the crates that only hand on entropy, and this one.
const UNTOLD: [&str; 6] = ["alloc", "core", "getrandom", "rand_core", "std", "windtunnel_alarm"];

/// Who may reach past the world in a guest's name: subscribers put times on their records, locks count how long they are
/// held, and the validator of schemas keys maps that it only looks things up in. hyper's server keeps the time of day for its
/// `Date` header, whether or not it sends one: a guest that reads that header learns the real date. SQLite salts its files,
/// and so seeds `random()` of its SQL, from the system.
const HARMLESS: [&str; 7] = [
    "hyper::common::date::",
    "tracing_core::event::",
    "tracing_core::dispatcher::",
    "tracing_subscriber::",
    "parking_lot_core::",
    "jsonschema::",
    "rusqlite::",
];

/// The parts of paths under which the sources of libraries are.
const LIBRARY_FOLDERS: [&str; 4] = ["/rustc/", "/rust/deps/", "/registry/src/", "/git/checkouts/"];

/// A guest's function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its path.
    pub function: String,
    /// The file, if debug information says so.
    pub file: Option<String>,
    /// The line in the file.
    pub line: Option<u32>,
    /// The innermost function of a library on the way from there, besides those of the standard library.
    pub through: Option<String>,
}

impl Place {
    /// Where the guest is that calls this. `None` if what it does is harmless.
    pub(crate) fn of_guest() -> Option<Self> {
        let addresses = stack::addresses();
        let known = PLACES.lock().unwrap_or_else(PoisonError::into_inner).get(&addresses).cloned();
        known.unwrap_or_else(|| {
            let place = among(&stack::frames());
            let mut places = PLACES.lock().unwrap_or_else(PoisonError::into_inner);
            if places.len() >= PLACES_MAX {
                places.clear();
            }
            places.insert(addresses, place.clone());
            place
        })
    }
}

/// The innermost function of a guest on a stack. `None` if the call is harmless.
fn among(frames: &[Frame]) -> Option<Place> {
    let paths: Vec<_> = frames.iter().filter_map(|frame| Some((path(frame)?, frame))).collect();
    if paths.iter().any(|(path, _)| HARMLESS.iter().any(|name| path.trim_start_matches('<').starts_with(name))) {
        return None;
    }
    let mut through = None;
    for (path, frame) in &paths {
        let origin = origin(path);
        if UNTOLD.contains(&origin) {
            continue;
        }
        if LIBRARIES.contains(&origin) || frame.file.as_ref().is_some_and(|file| is_of_library(file)) {
            through = through.or(Some((path, *frame)));
            continue;
        }
        return Some(place(path, frame, through.map(|(path, _)| &**path)));
    }
    Some(match through {
        Some((path, frame)) => place(path, frame, None),
        None => place("a function without a name", &Frame::default(), None),
    })
}

fn place(path: &str, frame: &Frame, through: Option<&str>) -> Place {
    let through = through.map(|path| function(path).to_owned());
    Place { function: function(path).to_owned(), file: frame.file.clone(), line: frame.line, through }
}

/// The crate that a path begins with, as in `<app::Agent as app::Step>::go`.
fn origin(name: &str) -> &str {
    let name = name.trim_start_matches(['<', '&', '*', '(', '[']);
    let name = ["dyn ", "mut ", "const "].into_iter().fold(name, |name, word| name.strip_prefix(word).unwrap_or(name));
    name.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next().unwrap_or(name)
}

/// The function that a closure or a future was written in.
fn function(name: &str) -> &str {
    let mut name = name;
    while let Some((outer, last)) = name.rsplit_once("::")
        && last.starts_with('{')
    {
        name = outer;
    }
    name
}

fn is_of_library(file: &str) -> bool {
    LIBRARY_FOLDERS.iter().any(|folder| file.contains(folder))
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "in `{}`", self.function)?;
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(formatter, " at {file}:{line}")?,
            (Some(file), None) => write!(formatter, " in {file}")?,
            (None, _) => {}
        }
        match &self.through {
            Some(through) => write!(formatter, ", through `{through}`"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(names: &[&str], expected: Option<&str>) {
        let frame = |name: &&str| {
            let (name, file) =
                name.split_once(" @ ").map_or((*name, None), |(name, file)| (name, Some(file.to_owned())));
            Frame { name: name.to_owned(), line: file.as_ref().map(|_| 7), file }
        };
        let place = among(&names.iter().map(frame).collect::<Vec<_>>());
        assert_eq!(place.map(|place| place.to_string()).as_deref(), expected);
    }

    #[test]
    fn the_place_is_the_innermost_function_that_is_no_librarys() {
        let below = ["clock_gettime", "<std::time::SystemTime>::now"];
        let above =
            ["<alloc::boxed::Box<F> as core::future::future::Future>::poll", "windtunnel_sim::world::drive::go"];
        let with = |names: &[&'static str]| [&below, names, &above].concat();
        check(&with(&["app::agent::ask::{closure#0}::{closure#1}"]), Some("in `app::agent::ask`"));
        check(&with(&["<app::Agent as app::Step>::go"]), Some("in `<app::Agent as app::Step>::go`"));
        check(&with(&["app::ask::{{closure}} @ src/app.rs", "app::main"]), Some("in `app::ask` at src/app.rs:7"));
        let library = "snowflake::id @ /home/me/.cargo/registry/src/snowflake/src/lib.rs";
        check(&with(&["rand::random", library, "app::ask"]), Some("in `app::ask`, through `rand::random`"));
        check(&with(&["snowflake::id"]), Some("in `snowflake::id`"));
    }

    #[test]
    fn where_names_have_no_paths_the_files_say_whose_they_are() {
        let std = "now @ /rustc/59807616/library/std/src/time.rs";
        let getrandom = "fill @ /home/me/.cargo/registry/src/index/getrandom-0.3.4/src/lib.rs";
        let rand = "random<u64> @ /home/me/.cargo/registry/src/index/rand-0.9.2/src/lib.rs";
        let own = concat!("note @ ", env!("CARGO_MANIFEST_DIR"), "/src/alarm.rs");
        let poll = "windtunnel_sim::world::drive::go";
        check(&[own, "clock_gettime", std, "ask<u8> @ src/app.rs", poll], Some("in `ask` at src/app.rs:7"));
        check(
            &[own, "getrandom", getrandom, rand, "{async_block#0} @ src/app.rs", poll],
            Some("in `{async_block#0}` at src/app.rs:7, through `rand::random`"),
        );
        let date = "update @ /home/me/.cargo/registry/src/index/hyper-1.7.0/src/common/date.rs";
        check(&[own, std, date, "ask @ src/app.rs"], None);
        let dispatch = "dispatch @ /home/me/.cargo/registry/src/index/tracing-core-0.1.34/src/event.rs";
        check(&[own, std, dispatch, "ask @ src/app.rs"], None);
        let git = "id @ /home/me/.cargo/git/checkouts/snowflake-1/2/core/src/lib.rs";
        check(&[own, std, git, "ask @ src/app.rs"], Some("in `ask` at src/app.rs:7, through `id`"));
    }

    #[test]
    fn without_a_guests_function_the_librarys_is_told() {
        check(
            &["getrandom", "getrandom::fill", "hyper::clock::now", "std::thread::run"],
            Some("in `hyper::clock::now`"),
        );
        check(&[], Some("in `a function without a name`"));
    }

    #[test]
    fn what_nothing_follows_from_is_no_leak() {
        check(&["clock_gettime", "tracing_subscriber::fmt::time", "app::ask"], None);
        check(&["<tracing_core::dispatcher::Dispatch>::event", "app::ask"], None);
        check(&["<tracing_core::event::Event>::dispatch", "app::ask"], None);
        check(&["getrandom", "ahash::seeds", "jsonschema::compile", "app::ask"], None);
        check(&["getrandom", "ahash::seeds", "app::ask"], Some("in `ahash::seeds`"));
    }
}
