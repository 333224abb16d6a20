//! The list of properties, each a test of its own, and tried with bytes as a fuzzer does.

use std::fs;
use std::path::Path;

use proptest::test_runner::Config;
use windtunnel_proptests::properties::{self, Property};

use crate::settings::family;

/// How many smaller cases of a workflow are tried once one has failed: they take long.
const WORKFLOW_SHRINKS_MAX: u32 = 4096;

pub(crate) fn property(id: &str) -> Property {
    properties::all().into_iter().find(|property| property.id() == id).unwrap()
}

#[track_caller]
fn check(id: &str, config: Config) {
    let shrinks_max = if id.ends_with("workflows") { WORKFLOW_SHRINKS_MAX } else { config.max_shrink_iters };
    let tried = property(id).run(Config { max_shrink_iters: shrinks_max, ..config });
    tried.unwrap_or_else(|broken| panic!("{broken}"));
}

/// A test for each property, whose failures are kept with those of its family.
macro_rules! tests {
    ($($id:ident of $family:literal,)*) => {
        $(
            #[test]
            fn $id() {
                check(stringify!($id), family!($family));
            }
        )*

        #[test]
        fn each_property_of_the_list_has_a_test() {
            let ids: Vec<_> = properties::all().iter().map(Property::id).collect();
            assert_eq!(ids, [$(stringify!($id)),*]);
        }
    };
}

tests! {
    lone_calls of "retry",
    long_waits of "retry",
    guards of "guards",
    reviewed_guards of "guards",
    runs of "guards",
    queues of "queues",
    staggered_queues of "queues",
    batches of "batches",
    sequential_programs of "program-model",
    programs of "program-model",
    lambdas of "program-model",
    capped_programs of "program-model",
    retrying_programs of "program-model",
    exact_limits of "program-limits",
    exact_depth_and_time of "program-limits",
    limits_around of "program-limits",
    at_once of "program-limits",
    journal_store of "journal-store",
    workflows of "journal-workflow",
    replayed_workflows of "journal-workflow",
    calm_workflows of "journal-workflow",
}

/// Of each property there is one seed, which begins with its place in the list.
#[test]
fn the_seeds_of_the_fuzzer_hold() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds/properties");
    for (place, property) in properties::all().iter().enumerate() {
        let seed = fs::read(folder.join(property.id())).unwrap();
        assert_eq!(usize::from(seed[0]), place, "the seed of {} chooses another property", property.id());
        for eighth in 1..=8 {
            let held = properties::try_bytes(&seed[..seed.len() * eighth / 8]);
            held.unwrap_or_else(|broken| panic!("{broken}"));
        }
    }
}

#[test]
fn few_bytes_are_a_case_too() {
    for place in 0..=u8::MAX {
        properties::try_bytes(&[place]).unwrap_or_else(|broken| panic!("{broken}"));
    }
    assert_eq!(properties::try_bytes(&[]), Ok(()));
}
