//! `--report`: pages for the browser. What they show is tested in one (`tests/browser`).

use std::fs;

use serde_json::Value;

use crate::command::Folder;

const PAY: &str = r#"
id = "a retry pays twice"
tools = [{ name = "pay", retries = 1, timeout_s = 5 }]
calls = [{ name = "pay" }]
always = [{ name = "paid at most once", that = "size(invocations) <= 1" }]
random_faults = { kinds = ["tool.lose_acknowledgment", "tool.delay"], rate = 0.5 }
"#;

fn folder(test: &str) -> Folder {
    Folder::new(test, &[("pay.toml", PAY)])
}

/// What a page shows.
fn data(folder: &Folder, file: &str) -> Value {
    let page = fs::read_to_string(folder.path.join(file)).unwrap();
    let data = page.split_once(r#"id="report-data">"#).unwrap().1.split_once("</script>").unwrap().0;
    serde_json::from_str(data).unwrap()
}

#[test]
fn the_same_seeds_give_the_same_page_whatever_runs_at_once() {
    let folder = folder("report_run");
    let run = |jobs, file| {
        let ended = folder.run(&["run", "pay.toml", "--seeds", "0..40", "--jobs", jobs, "--report", file]);
        assert_eq!(ended.code, Some(1), "{}", ended.err);
        assert!(ended.err.contains(&format!("report: {file}\n")), "{}", ended.err);
        ended.out_without_real_time()
    };
    let (one, other) = (run("1", "one.html"), run("5", "other.html"));
    assert_eq!(one, other);
    assert_eq!(fs::read(folder.path.join("one.html")).unwrap(), fs::read(folder.path.join("other.html")).unwrap());

    let data = data(&folder, "one.html");
    let campaign = &data["campaigns"][0];
    assert_eq!((&data["passed"], &campaign["facts"][0]["value"]), (&false.into(), &"40".into()));
    let failed = campaign["assertions"][0]["failed"].as_u64().unwrap();
    assert!(failed > 0 && campaign["slowest"].as_array().unwrap().len() == 10, "{campaign}");
    // The smallest failing run comes first, with a plan of one fault.
    let smallest = &data["runs"][0];
    assert!(smallest["name"].as_str().unwrap().contains("with 1 of"), "{}", smallest["name"]);
    assert_eq!(smallest["snippets"][0]["label"], "Minimal plan of faults");
    let seed = data["runs"][1]["seed"].as_str().unwrap();
    assert_eq!(data["runs"][1]["commands"][0]["text"], format!("windtunnel replay pay.toml --seed {seed}"));
}

#[test]
fn seeds_to_which_no_fault_came_fail_in_the_report_too() {
    let folder = Folder::new("report_untried", &[("pay.toml", &PAY.replace("rate = 0.5", "rate = 1e-9"))]);
    let ended = folder.run(&["run", "pay.toml", "--seeds", "0..3", "--report", "run.html"]);
    let data = data(&folder, "run.html");
    assert_eq!((ended.code, &data["passed"]), (Some(1), &false.into()));
    assert_eq!(data["campaigns"][0]["name"], "a retry pays twice, seeds 0..3: not one fault came");
}

#[test]
fn what_is_printed_for_programs_is_not_touched_by_a_report() {
    let folder = folder("report_json");
    let with = folder.run(&["sweep", "pay.toml", "--pairs", "4", "--format", "json", "--report", "sweep.html"]);
    let without = folder.run(&["sweep", "pay.toml", "--pairs", "4", "--format", "json"]);
    assert_eq!((with.code, with.out), (Some(1), without.out));
    let data = data(&folder, "sweep.html");
    let cells = data["campaigns"][0]["coverage"].as_array().unwrap();
    assert!(cells.iter().any(|cell| cell["fault"] == "tool.duplicate" && cell["failed"] == 1), "{cells:?}");
    let repeat = data["runs"][0]["commands"][0]["text"].as_str().unwrap();
    assert!(repeat.starts_with("windtunnel replay pay.toml --recipe '{"), "{repeat}");
}

#[test]
fn a_check_and_a_replay_have_reports_too() {
    let folder = Folder::new("report_check", &[("calm.toml", &PAY.replace("rate = 0.5", "rate = 0"))]);
    let ended = folder.run(&["check", "calm.toml", "--report", "check.html"]);
    assert_eq!(ended.code, Some(0), "{}{}", ended.out, ended.err);
    let checked = data(&folder, "check.html");
    assert_eq!((&checked["passed"], &checked["campaigns"][0]["cases"][0]["run"]), (&true.into(), &0.into()));
    let ended = folder.run(&["replay", "calm.toml", "--seed", "18446744073709551615", "--report", "replay.html"]);
    assert_eq!(ended.code, Some(0), "{}{}", ended.out, ended.err);
    // Numbers of a page are exact below 2^53 only.
    assert_eq!(data(&folder, "replay.html")["runs"][0]["seed"], "18446744073709551615");
}

#[test]
fn a_file_that_cannot_be_written_is_refused_before_anything_runs() {
    let folder = folder("report_refused");
    for command in ["run", "sweep", "replay", "check"] {
        let ended = folder.run(&[command, "pay.toml", "--report", "missing/report.html"]);
        assert_eq!((ended.code, &*ended.out), (Some(2), ""), "{command}");
        let told = "error: --report missing/report.html: its folder is not there; make it first\n";
        assert_eq!(ended.err, told, "{command}");
    }
    let ended = folder.run(&["replay", "pay.toml", "--report", "."]);
    assert_eq!(ended.err, "error: --report .: it is a folder; name a file in it\n");
}
