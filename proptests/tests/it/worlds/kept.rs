//! What is right keeps its rules, whatever goes wrong.

use windtunnel_proptests::suites::Settings;
use windtunnel_proptests::worlds::{Exploration, Explored};

use super::agents::Agents;
use super::calls::Calls;
use super::shop::{Bug, Shop};

fn settings(cases: u32) -> Settings {
    Settings { cases, ..Settings::default() }.from_environment().unwrap()
}

/// Something has gone wrong in them, or they hold nothing.
#[track_caller]
fn check(explored: &Explored, kinds: usize) {
    assert!(explored.faults.len() >= kinds, "{explored:?}");
    assert!(explored.faults.values().sum::<usize>() * 2 >= explored.runs, "{explored:?}");
}

/// The file of failures of a family, as for other properties.
macro_rules! regressions {
    ($name:literal) => {
        concat!(env!("CARGO_MANIFEST_DIR"), "/proptest-regressions/", $name, ".txt")
    };
}

#[test]
fn a_shop_pays_once_and_gives_back() {
    let shop = Exploration::of(Shop { bug: Bug::None }).settings(settings(256)).twice();
    check(&shop.regressions(regressions!("worlds-shop")).run().unwrap(), 4);
}

#[test]
fn our_executor_keeps_its_limits() {
    let calls = Exploration::of(Calls).settings(settings(256)).twice();
    check(&calls.regressions(regressions!("worlds-calls")).run().unwrap(), 7);
}

#[test]
fn our_agents_pay_once_over_crashes_and_faults() {
    let agents = Exploration::of_cases(Agents { is_on_hosts: false, bank_knows_keys: true });
    let agents = agents.settings(settings(96)).steps_max(12).twice();
    check(&agents.regressions(regressions!("worlds-agents")).run().unwrap(), 10);
}

#[test]
fn our_agents_on_hosts_pay_once_whatever_breaks() {
    let agents = Exploration::of_cases(Agents { is_on_hosts: true, bank_knows_keys: true });
    let agents = agents.settings(settings(48)).steps_max(10).twice();
    check(&agents.regressions(regressions!("worlds-agents-on-hosts")).run().unwrap(), 10);
}
