//! What is wrong is found, and made as small as can be.

use serde_json::json;
use windtunnel_proptests::suites::Settings;
use windtunnel_proptests::worlds::{Exploration, Step, WorldFailure};

use super::agents::{AgentOperation, Agents};
use super::shop::{Bug, Shop, ShopOperation};

pub(crate) fn pays_again() -> Box<WorldFailure<ShopOperation>> {
    Exploration::of(Shop { bug: Bug::PaysAgain }).run().unwrap_err()
}

#[track_caller]
fn check<O: Clone + std::fmt::Debug + PartialEq>(
    failure: &WorldFailure<O>,
    rule: &str,
    steps: &[Step<O>],
    faults: &serde_json::Value,
) {
    assert!(failure.error.to_string().contains(rule), "{failure}");
    assert_eq!(failure.steps, steps, "{failure}");
    assert_eq!(&json!(failure.recipe.faults), faults, "{failure}");
    assert!(failure.is_repeatable && failure.recipe.seed == 0, "{failure}");
}

#[test]
fn a_payment_that_is_made_again_takes_one_payment_and_one_lost_answer() {
    let lost = json!([{"when": {"event": "tool.body"}, "do": {"fault": "tool.lose_acknowledgment"}}]);
    let steps = [Step::Do(ShopOperation::Pay { order: 0, amount: 1 })];
    check(&pays_again(), "an order is paid once", &steps, &lost);
}

#[test]
fn a_payment_that_is_forgotten_takes_two_operations_and_one_lost_answer() {
    let lost = json!([{"when": {"event": "tool.body"}, "do": {"fault": "tool.lose_acknowledgment"}}]);
    let steps = [Step::Do(ShopOperation::Pay { order: 0, amount: 1 }), Step::Do(ShopOperation::Cancel { order: 0 })];
    let failure = Exploration::of(Shop { bug: Bug::ForgetsLostPayments }).run().unwrap_err();
    check(&failure, "a cancelled order is not paid", &steps, &lost);
    assert_eq!(failure.case_file, None);
}

#[test]
fn every_seed_leads_to_the_same_smallest_run() {
    let found = pays_again();
    for seed in 1..6 {
        let shop = Exploration::of(Shop { bug: Bug::PaysAgain }).settings(Settings { cases: 64, seed });
        let failure = shop.run().unwrap_err();
        assert_eq!((&failure.steps, &failure.recipe), (&found.steps, &found.recipe), "{failure}");
    }
}

#[test]
fn a_bank_that_knows_no_keys_is_found_by_case_files() {
    for is_on_hosts in [false, true] {
        let agents = Exploration::of_cases(Agents { is_on_hosts, bank_knows_keys: false }).steps_max(10);
        let failure = agents.run().unwrap_err();
        assert_eq!(failure.operations(), [AgentOperation::Pay { amount: 1 }], "{failure}");
        assert!(failure.recipe.faults.faults.len() <= 1, "{failure}");
        assert!(failure.is_repeatable, "{failure}");
    }
}

#[test]
fn a_failure_is_kept_and_tried_first() {
    let folder = tempfile::tempdir().unwrap();
    let path: &'static str = folder.path().join("shop.txt").to_str().unwrap().to_owned().leak();
    let shop = Exploration::of(Shop { bug: Bug::PaysAgain }).regressions(path);
    let found = shop.run().unwrap_err();
    let kept = std::fs::read_to_string(path).unwrap();
    assert!(kept.contains("# shrinks to [Do(Pay { order: 0, amount: 1 })] by {\"seed\":0,\"faults\""), "{kept}");
    // Of other cases than these it is the first that fails, and it becomes as small again.
    let others = Exploration::of(Shop { bug: Bug::PaysAgain }).regressions(path);
    let again = others.settings(Settings { cases: 1, seed: 77 }).run().unwrap_err();
    assert_eq!((again.steps, again.runs), (found.steps, found.runs));
    // What has been mended holds, the kept case included.
    let mended = Exploration::of(Shop { bug: Bug::None }).regressions(path);
    assert_eq!(mended.settings(Settings { cases: 1, seed: 77 }).run().unwrap().runs, 2);
    assert_eq!(std::fs::read_to_string(path).unwrap(), kept);
}
