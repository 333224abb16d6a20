//! One run: its lanes, its failure, and finding events.

use serde_json::json;

use crate::page::{ESCAPE, Page};
use crate::reports::{FAILING, Folder};

pub(crate) fn a_failing_run() {
    let folder = Folder::new("failing");
    let page = folder.open(&FAILING);
    page.picture("failing.png");
    let lanes = page.texts("#hosts li span");
    assert_eq!(lanes, ["journal", "model", "bank", "orders", "agent", "world"]);
    assert_eq!(page.text("#badge"), "✕ failed");
    assert!(page.text("#failures").contains("always \"paid at most once\": is false"), "{}", page.text("#failures"));
    // What failed is selected: in the list, in the data, and for who does not see.
    assert!(page.selected().contains("failure"), "{}", page.selected());
    assert!(page.text("#detail").contains("paid at most once"), "{}", page.text("#detail"));
    assert!(page.text("#announcer").starts_with("failure at 83."), "{}", page.text("#announcer"));
    assert!(is_drawn(&page), "the timeline is empty");
    // The smallest run that fails so is a run of its own, with its plan.
    let runs = page.texts("#run option");
    assert_eq!(runs.len(), 2, "{runs:?}");
    page.evaluate("location.hash = '#run-2'");
    page.settle();
    assert_eq!(page.texts("#faults tbody tr").len(), 1);
    assert!(
        page.evaluate("document.querySelector('#snippets pre').textContent.includes('\"fault\"')").as_bool().unwrap()
    );
    page.assert_is_sound();
}

/// Whether the canvas has more than one colour.
fn is_drawn(page: &Page) -> bool {
    let script = "(() => { const canvas = document.getElementById('canvas'); \
                  const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data; \
                  return new Set(new Uint32Array(data.buffer)).size > 20; })()";
    page.evaluate(script).as_bool().unwrap()
}

pub(crate) fn copying() {
    let folder = Folder::new("copying");
    let page = folder.open(&FAILING);
    let line = "windtunnel replay refund_on_hosts.toml --case anything-goes-wrong --seed 12";
    assert_eq!(page.texts("#commands code")[0], line);
    page.click("#commands .copy");
    assert_eq!(page.texts("#commands .copy")[0], "Copied");
    page.click("#search");
    page.press_with_control("v");
    assert_eq!(page.evaluate("document.getElementById('search').value"), json!(line));
    page.assert_is_sound();
}

pub(crate) fn filtering() {
    let folder = Folder::new("filtering");
    let page = folder.open(&FAILING);
    assert_eq!(page.text("#count"), "208 events");
    page.click(".chip.of-network");
    assert_eq!(page.text("#count"), "77 of 208 events");
    page.click("#search");
    page.type_text("tool pay");
    assert_eq!(page.text("#count"), "11 of 208 events");
    page.press(&[ESCAPE]);
    page.click(".chip.of-network");
    assert_eq!(page.text("#count"), "208 events");
    page.evaluate("(() => { const host = document.getElementById('host'); host.value = 'bank'; host.dispatchEvent(new Event('change')); })()");
    page.settle();
    assert_eq!(page.text("#count"), "9 of 208 events");
    let shown = page.texts("#list .where");
    assert!(!shown.is_empty() && shown.iter().all(|host| host == "bank"), "{shown:?}");
    assert!(page.evaluate("document.getElementById('canvas').ariaLabel").as_str().unwrap().contains("9 events"));
    page.assert_is_sound();
}

pub(crate) fn clicking() {
    let folder = Folder::new("clicking");
    let page = folder.open(&FAILING);
    // The last event of the last lane stands at the right end; a click far from every event does nothing.
    page.click("#fit");
    let (middle, y) = page.middle("#hosts li:nth-child(3)");
    let width = page.evaluate("document.getElementById('canvas').getBoundingClientRect().right").as_f64().unwrap();
    let mut found = String::new();
    let mut x = middle + 80.0;
    while x < width && !found.contains("effect.happened") {
        page.click_at(x, y - 6.0);
        found = page.selected();
        x += 8.0;
    }
    assert!(found.contains("effect.happened") && found.contains("bank"), "{found}");
    assert!(page.text("#detail").contains("key"), "{}", page.text("#detail"));
    // From a message to its other end.
    page.click("#search");
    page.type_text("network.send bank");
    page.click("#list .event");
    let sent = page.selected();
    page.click("#detail .related button");
    assert!(sent.contains("network.send") && page.text("#detail h3") == "network.receive", "{sent}");
    page.click("#faults button.link");
    assert_eq!(page.text("#detail h3"), "fault.delivered");
    page.assert_is_sound();
}
