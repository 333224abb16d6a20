//! How many cases, and which.

use std::str::FromStr;

use proptest::test_runner::{Config, FileFailurePersistence, RngSeed};

/// The settings of a family of properties, whose failures are kept in a file of its own.
macro_rules! family {
    ($name:literal) => {
        $crate::settings::config(concat!(env!("CARGO_MANIFEST_DIR"), "/proptest-regressions/", $name, ".txt"))
    };
}
pub(crate) use family;

pub(crate) fn config(regressions: &'static str) -> Config {
    Config {
        cases: variable("WINDTUNNEL_PROPTEST_CASES").unwrap_or(256),
        rng_seed: RngSeed::Fixed(variable("WINDTUNNEL_PROPTEST_SEED").unwrap_or(0)),
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(regressions))),
        ..Config::default()
    }
}

fn variable<T: FromStr>(name: &str) -> Option<T> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is {text:?}, which is not a number")))
}
