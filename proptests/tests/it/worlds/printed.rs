//! What failures print is what it says: a test that compiles and fails so, and a case file that does.

use std::panic::catch_unwind;
use std::path::Path;

use windtunnel_core::env::panic_message;
use windtunnel_sim::case::Case;

use super::found::pays_again;
use super::shop::{Bug, Shop, ShopOperation};

/// A test as a failure has printed it, which must fail, and says why.
macro_rules! printed {
    ($why:literal: #[test] fn $name:ident() $body:block) => {
        #[test]
        fn $name() {
            let failed = catch_unwind(|| $body).unwrap_err();
            let message = panic_message(&*failed);
            assert!(message.contains($why), "{message}");
        }
    };
}

printed! { "an order is paid once is broken: order 0 was paid 2 times":
#[test]
fn an_order_is_paid_once_does_not_hold() {
    use windtunnel_proptests::worlds::{Recipe, Step, repeat};

    let recipe = Recipe::from_json(r##"{"seed":0,"faults":[{"when":{"event":"tool.body"},"do":{"fault":"tool.lose_acknowledgment"}}]}"##).unwrap();
    let steps = [
        Step::Do(ShopOperation::Pay { order: 0, amount: 1 }),
    ];
    repeat(Shop { bug: Bug::PaysAgain }, &recipe, &steps).unwrap();
}
}

#[test]
fn the_test_that_a_failure_prints_is_the_one_above() {
    let failure = pays_again();
    assert!(include_str!("printed.rs").contains(&failure.rust_test), "{}", failure.rust_test);
    assert!(failure.to_string().contains(&failure.rust_test));
}

#[test]
fn the_case_file_that_a_failure_prints_fails_by_the_same_rule() {
    let failure = pays_again();
    let printed = format!("{:#}\n", failure.case_file.as_ref().unwrap());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/worlds/pays_again.json");
    assert_eq!(std::fs::read_to_string(&path).unwrap_or_default(), printed);
    let case = Case::load(path.to_str().unwrap()).unwrap().remove(0);
    let run = case.check_determinism(case.seed()).unwrap();
    let failures = case.judge(&run).failures();
    assert!(failures[0].starts_with(r#"always "an order is paid once": is false"#), "{failures:?}");
    assert_eq!(failures.len(), 1, "{failures:?}");
    assert!(case.as_world_run(run).outcome.unwrap_err().is_like(&failure.error));
}
