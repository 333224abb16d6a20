//! Names of tools, hosts and cases, and what went wrong, come from anywhere.

use std::time::Duration;

use windtunnel_core::event::{Event, EventKind};
use windtunnel_sim::report::{Count, Report, ReportedCampaign, ReportedFailure, ReportedRun, Snippet};

use crate::page::Page;
use crate::reports::Folder;

const HOSTILE: [&str; 8] = [
    "</script><script>window.hacked = 1</script>",
    "<img src=x onerror=\"window.hacked = 2\">",
    "<!--<script>",
    "\u{2028}\u{2029}\u{0}\u{202e}",
    "\"><svg onload=window.hacked=3>",
    "${window.hacked = 4}{{script}}",
    "javascript:window.hacked=5",
    "]]></style><style>*{display:none}",
];

/// Without runs, and without events.
pub(crate) fn nothing() {
    let folder = Folder::new("nothing");
    let file = folder.path.join("nothing.html");
    Report::new("No runs").save(&file).unwrap();
    let page = Page::open(&file);
    page.press(&["f"]);
    assert_eq!(page.text("#badge"), "✓ passed");
    assert_eq!(page.evaluate("document.getElementById('timeline').hidden"), true);
    page.assert_is_sound();
    drop(page);
    Report::new("No events").with_run(ReportedRun::default()).save(&file).unwrap();
    let page = Page::open(&file);
    page.press(&["f", "/"]);
    assert_eq!(page.text("#count"), "0 events");
    page.click("#canvas");
    page.click("#fit");
    page.assert_is_sound();
}

pub(crate) fn names() {
    let folder = Folder::new("hostile");
    let file = folder.path.join("hostile.html");
    let event = |sequence: usize, name: &str, kind| Event {
        sequence: sequence as u64,
        at: Duration::from_secs(sequence as u64),
        host: Some(name.into()),
        run_id: name.into(),
        call_id: Some(name.into()),
        parent_id: Some(name.into()),
        kind,
    };
    let trace = HOSTILE.iter().enumerate().flat_map(|(place, name)| {
        let started = event(2 * place, name, EventKind::ToolStarted { tool: (*name).into() });
        [started, event(2 * place + 1, name, EventKind::AssertionFailed { assertion: (*name).into() })]
    });
    let all = HOSTILE.concat();
    let run = ReportedRun {
        name: all.clone(),
        trace: trace.collect(),
        failures: HOSTILE.map(|name| ReportedFailure { message: name.to_owned(), event: Some(1) }).into(),
        commands: vec![Snippet::new(&*all, &*all)],
        snippets: vec![Snippet::new(&*all, &*all)],
        ..ReportedRun::default()
    };
    let outcomes = HOSTILE.map(|name| Count::new(name, 1)).into();
    let campaign = ReportedCampaign { name: all.clone(), outcomes, ..ReportedCampaign::default() };
    Report::new(&*all).with_run(run.clone()).with_run(run).with_campaign(campaign).save(&file).unwrap();

    let page = Page::open(&file);
    for place in 0..HOSTILE.len() {
        page.click(&format!(".event:nth-child({})", place * 2 + 1));
    }
    assert_eq!(page.evaluate("window.hacked ?? null"), serde_json::Value::Null);
    assert_eq!(page.evaluate("document.querySelectorAll('main img, main svg, main script, main style').length"), 0);
    assert!(page.evaluate("document.getElementById('title').textContent").as_str().unwrap().contains(HOSTILE[0]));
    assert_eq!(page.texts("#hosts li").len(), HOSTILE.len());
    assert_eq!(page.texts("#failures .message").len(), HOSTILE.len());
    page.assert_is_sound();
}
