//! Crashes, faults, and whoever asks again.

use std::fs;

use serde_json::json;
use windtunnel_sim::Campaign;
use windtunnel_sim::case::Format;

use super::shop::{
    agent, case, check, folder, model_entry, offered, pays, request, response, run_of, shop, told, tool_entry,
    try_case, user, with,
};

#[test]
fn a_worker_that_crashes_and_asks_again_is_answered_as_before() {
    let folder = folder(&offered(), &shop());
    for at in ["before-call", "after-effect", "before-commit", "after-commit"] {
        for operation in ["model:turn:0", "tool:turn:0:p", "model:turn:1"] {
            let crash = json!({"crashes": [{"at": at, "operation": operation}], "replay": {"timing": "recorded"}});
            check(&case(&folder, &with(agent(), crash)));
        }
    }
    let paid_again = json!({
        "crashes": [{"at": "after-effect", "operation": "tool:turn:0:p"}],
        "expect": {"effects": {"pay": 2}, "repeats": {"pay": 1}, "model_requests": 2},
    });
    check(&case(&folder, &with(agent(), paid_again)));
}

#[test]
fn any_number_of_crashes_comes_to_the_same_answer() {
    let folder = folder(&offered(), &shop());
    let crashes = json!({"crash_rate": 0.2, "crashes_max": 5, "workers": {"count": 2}, "replay": {"timing": "recorded"},
        "expect": null, "always": [{"that": "outcome.answer == 'It is paid.' || outcome.status == 'failed'"}]});
    let case = case(&folder, &with(agent(), crashes));
    for seed in 0..30 {
        let run = case.check_determinism(seed).unwrap();
        let verdict = case.judge(&run);
        assert_eq!(verdict.misses, Vec::<String>::new(), "seed {seed}");
    }
}

/// OrcaReplay#71, mastra#17737: calls that are made at once never get each other's answers.
#[test]
fn parallel_calls_never_swap_their_answers() {
    let asked =
        [user("Pay."), pays(&[("a", 1), ("b", 2), ("c", 3)]), told("a", "one"), told("b", "two"), told("c", "three")];
    let paid = |lane: &str, order: u64, text: &str, after_us: u64| {
        let mut entry = tool_entry(lane, "pay", json!({"order": order}), json!({"output": text}));
        entry["exchange"]["tool"]["after_us"] = json!(after_us);
        entry
    };
    let folder = folder(
        &offered(),
        &[
            model_entry(request(&asked[..1]), response(asked[1].clone(), "tool_calls")),
            paid("main", 1, "one", 900_000),
            paid("main#2", 2, "two", 10),
            paid("main#3", 3, "three", 400_000),
            model_entry(request(&asked), response(json!({"role": "assistant", "content": "It is paid."}), "stop")),
        ],
    );
    for timing in ["fast", "recorded"] {
        for fields in [json!({}), json!({"on_hosts": true})] {
            let fields = with(fields, json!({"replay": {"timing": timing}}));
            let case = case(
                &folder,
                &with(
                    agent(),
                    with(
                        fields,
                        json!({"expect": {
                            "outcome": {"answer": "It is paid."}, "read": ["\"one\"", "\"two\"", "\"three\""],
                        }}),
                    ),
                ),
            );
            (0..10).for_each(|seed| drop(run_of(&case, seed)));
        }
    }
}

#[test]
fn it_stands_in_on_hosts_too_and_faults_come_over_it() {
    let folder = folder(&offered(), &shop());
    let on_hosts = with(
        agent(),
        json!({"on_hosts": true, "tools": [
            {"name": "pay", "cassette": "shop.json", "host": "bank", "timeout_s": 5, "retries": 2},
        ]}),
    );
    check(&case(&folder, &on_hosts));
    let crash = json!({"faults": [
        {"when": {"event": "effect.happened"}, "do": {"fault": "host.crash", "host": "agent", "restart_after_s": 1}},
    ]});
    check(&case(&folder, &with(on_hosts.clone(), crash)));
    let lost = json!({"faults": [{"when": {"event": "tool.body"}, "do": {"fault": "tool.lose_acknowledgment"}}]});
    let run = run_of(&case(&folder, &with(on_hosts.clone(), lost)), 0);
    assert_eq!((run.faults().len(), run.invocations.len()), (1, 2));
    for fault in ["model.rate_limited", "model.overloaded", "model.truncated_stream", "model.malformed_json"] {
        let plan = json!({"faults": [{"when": {"event": "model.request"}, "do": {"fault": fault}}]});
        for case_text in [agent(), on_hosts.clone()] {
            let run = run_of(&case(&folder, &with(case_text, plan.clone())), 0);
            assert_eq!(run.faults().len(), 1, "{fault}");
        }
    }
}

#[test]
fn a_model_on_its_host_is_waited_for_as_long_as_it_took() {
    let mut entries = shop();
    entries[0]["exchange"]["model"]["answer"]["response"]["after_us"] = json!(90_000_000);
    let fields = json!({"on_hosts": true, "replay": {"timing": "recorded"}, "expect": {"model_requests": 2}});
    let run = run_of(&case(&folder(&offered(), &entries), &with(agent(), fields)), 0);
    assert!(run.elapsed().as_secs() >= 92);
}

#[test]
fn what_failed_when_it_was_recorded_fails_again_and_is_retried() {
    let mut entries = shop();
    let busy = json!({"failure": {"kind": "tool-error", "message": "busy", "retryable": true}});
    entries.insert(1, tool_entry("main", "pay", json!({"order": 7}), busy));
    let overloaded = json!({"failure": {"after_us": 10, "failure": {"kind": "overloaded", "message": "busy"}}});
    entries.insert(0, model_entry(request(&[user("Pay.")]), overloaded));
    let folder = folder(&offered(), &entries);
    let retried = |retries: u32| {
        with(
            agent(),
            json!({"tools": [
                {"name": "pay", "cassette": "shop.json", "retries": retries},
            ]}),
        )
    };
    let run = run_of(&case(&folder, &retried(1)), 0);
    assert_eq!(run.invocations.len(), 2);
    // With no retry the agent tells of a failure that the recorded one never saw.
    let verdict = case(&folder, &retried(0)).judge(&case(&folder, &retried(0)).run(0));
    assert!(verdict.misses[0].contains("$.request.messages[2].content"), "{:?}", verdict.misses);
}

#[test]
fn a_sweep_finds_what_is_wrong_whatever_is_recorded() {
    let folder = folder(&offered(), &shop());
    let always = json!({"always": [
        {"name": "paid at most once", "that": "effects.filter(e, e.tool == 'pay' && e.happened).size() <= 1"},
    ]});
    let tool = json!({"name": "pay", "cassette": "shop.json", "retries": 1, "timeout_s": 5});
    let case = case(&folder, &with(with(agent(), always), json!({"tools": [tool]})));
    let swept = case.sweep(&Campaign::new().pairs_max(0)).unwrap_err().to_string();
    assert!(swept.contains("paid at most once"), "{swept}");
}

/// What an agent does after a fault was not recorded: whether that fails, the case says.
#[test]
fn a_fault_may_lead_where_nothing_was_recorded() {
    let folder = folder(&offered(), &shop());
    let wrong = json!({
        "faults": [{"when": {"event": "model.request"}, "do": {"fault": "model.wrong_tool"}}],
        "replay": {"allow_unconsumed": true}, "expect": {"effects": {}},
    });
    let fails = case(&folder, &with(agent(), wrong.clone()));
    assert!(fails.judge(&fails.run(0)).misses[0].contains("no_such_tool"));
    let may = json!({"replay": {"allow_unconsumed": true, "allow_missed_after_faults": true}});
    check(&case(&folder, &with(with(agent(), wrong), may.clone())));
    let calm = case(&folder, &with(with(agent(), json!({"prompt": "Else."})), may));
    assert_eq!(calm.judge(&calm.run(0)).misses.len(), 1);
}

#[test]
fn a_failing_seed_becomes_a_case_that_finds_its_cassette_from_any_folder() {
    let folder = folder(&offered(), &shop());
    let fails = json!({
        "expect": {"effects": {"pay": 1}},
        "faults": [
            {"when": {"event": "tool.body"}, "do": {"fault": "tool.lose_acknowledgment"}},
            {"when": {"event": "model.request"}, "do": {"fault": "model.delay", "delay_s": 1}},
        ],
        "tools": [{"name": "pay", "cassette": "shop.json", "retries": 1}],
    });
    let case = case(&folder, &with(agent(), fails));
    let shrunk = case.shrink(0).unwrap();
    assert_eq!(shrunk.case["faults"].as_array().map(Vec::len), Some(1));
    assert_eq!(shrunk.case["model"]["cassette"], "shop.json");
    let again = &shrunk.read("f", Format::Json, &shrunk.case.to_string()).unwrap()[0];
    assert!(again.fails_like(&shrunk.failure));
    let elsewhere = folder.path().join("some/where");
    fs::create_dir_all(&elsewhere).unwrap();
    let moved = shrunk.in_folder(&elsewhere).unwrap();
    assert_eq!(
        (&moved["model"]["cassette"], &moved["tools"][0]["cassette"]),
        (&json!("../../shop.json"), &json!("../../shop.json"))
    );
    let again = try_case(&elsewhere, &moved).unwrap();
    assert!(again.fails_like(&shrunk.failure));
}
