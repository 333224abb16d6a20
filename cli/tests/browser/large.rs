//! A run of a hundred thousand events.

use std::time::Duration;

use windtunnel_core::event::Event;
use windtunnel_sim::case::Case;
use windtunnel_sim::report::{Report, ReportedRun};

use crate::page::{END, HOME, Page};
use crate::reports::Folder;

const EVENTS: usize = 100_000;

/// The refund agent, again and again.
fn many_events() -> ReportedRun {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/refund_on_hosts.toml");
    let cases = Case::load(examples).unwrap();
    let case = cases.iter().find(|case| case.id() == "anything-goes-wrong").unwrap();
    let run = case.run(12);
    let mut trace: Vec<Event> = Vec::with_capacity(EVENTS + run.trace().len());
    let mut passed = Duration::ZERO;
    while trace.len() < EVENTS {
        let first = trace.len() as u64;
        let again = run.trace().iter().enumerate().map(|(place, event)| Event {
            at: event.at + passed,
            sequence: first + place as u64,
            ..event.clone()
        });
        trace.extend(again);
        passed += run.elapsed();
    }
    trace.truncate(EVENTS);
    let elapsed = trace.last().unwrap().at;
    ReportedRun { trace, elapsed, ..ReportedRun::of_case("many refunds", &run, &case.judge(&run)) }
}

pub(crate) fn a_hundred_thousand_events() {
    let folder = Folder::new("large");
    let file = folder.path.join("large.html");
    Report::new("A hundred thousand events").with_run(many_events()).save(&file).unwrap();
    let page = Page::open(&file);
    page.picture("large.png");
    assert_eq!(page.text("#count"), "100,001 events");
    // Few rows are in the page, whatever part of the list is seen.
    let rows = || page.evaluate("document.querySelectorAll('.event').length").as_u64().unwrap();
    assert!(rows() < 60, "{} rows", rows());
    page.evaluate("document.getElementById('list').focus()");
    page.press(&[HOME]);
    assert!(page.selected().contains("host.started"), "{}", page.selected());
    page.press(&[END]);
    assert!(page.selected().contains("failure"), "{}", page.selected());
    page.click("#search");
    page.type_text("effect.happened pay");
    assert_eq!(page.text("#count"), "966 of 100,001 events");
    page.click("#fit");
    page.picture("large_whole.png");
    page.click_overview(0.5);
    assert!(rows() < 60, "{} rows", rows());
    page.assert_is_sound();
}
