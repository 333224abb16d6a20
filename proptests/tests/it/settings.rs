//! How many cases, and which.

use proptest::test_runner::{Config, FileFailurePersistence, RngSeed};
use windtunnel_proptests::suites::Settings;

/// The settings of a family of properties, whose failures are kept in a file of its own.
macro_rules! family {
    ($name:literal) => {
        $crate::settings::config(concat!(env!("CARGO_MANIFEST_DIR"), "/proptest-regressions/", $name, ".txt"))
    };
}
pub(crate) use family;

pub(crate) fn config(regressions: &'static str) -> Config {
    let settings = Settings { cases: 256, ..Settings::default() }.from_environment().unwrap();
    Config {
        cases: settings.cases,
        rng_seed: RngSeed::Fixed(settings.seed),
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(regressions))),
        ..Config::default()
    }
}
