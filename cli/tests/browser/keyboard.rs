//! Without a mouse, and without seeing the page.

use serde_json::Value;

use crate::page::{DOWN, END, ENTER, HOME, LEFT, PAGE_DOWN, Page, RIGHT, TAB, UP};
use crate::reports::{FAILING, Folder};

fn focused(page: &Page) -> String {
    page.evaluate("document.activeElement.id").as_str().unwrap().to_owned()
}

pub(crate) fn everything() {
    let folder = Folder::new("keyboard");
    let page = folder.open(&FAILING);
    // The first stop leads past everything else.
    page.press(&[TAB]);
    assert_eq!(page.evaluate("document.activeElement.textContent"), "Skip to the events");
    let mut stops = Vec::new();
    while focused(&page) != "list" && stops.len() < 40 {
        page.press(&[TAB]);
        stops.push(focused(&page));
    }
    for stop in ["search", "host", "canvas", "list", "zoom-in"] {
        assert!(stops.iter().any(|one| one == stop), "{stop} is no stop: {stops:?}");
    }
    page.press(&[HOME]);
    assert!(page.selected().contains("host.started"), "{}", page.selected());
    page.press(&[DOWN]);
    assert!(page.selected().contains("fault.delivered"), "{}", page.selected());
    let active = page.evaluate("document.querySelector('#list').getAttribute('aria-activedescendant')");
    assert_eq!(page.evaluate(&format!("document.getElementById({active}).ariaSelected")), "true");
    page.press(&[PAGE_DOWN, END]);
    assert!(page.selected().contains("failure"), "{}", page.selected());
    page.press(&[ENTER]);
    assert_eq!(focused(&page), "detail");
    // On the timeline, and from anywhere.
    page.press(&["/"]);
    assert_eq!(focused(&page), "search");
    page.evaluate("document.getElementById('canvas').focus()");
    page.press(&[HOME, RIGHT, RIGHT]);
    assert!(page.selected().contains("host.crashed"), "{}", page.selected());
    page.press(&[LEFT]);
    assert!(page.selected().contains("fault.delivered"), "{}", page.selected());
    page.press(&[DOWN]);
    assert!(page.selected().contains("model"), "{}", page.selected());
    page.press(&[UP, "+", "-", "0", ENTER]);
    assert_eq!(focused(&page), "detail");
    page.press(&["f"]);
    assert!(page.selected().contains("failure"), "{}", page.selected());
    page.assert_is_sound();
}

/// As a screen reader is told of the page.
pub(crate) fn names() {
    let folder = Folder::new("names");
    let page = folder.open(&FAILING);
    let tree = page.browser.command("Accessibility.getFullAXTree", &serde_json::json!({}));
    let nodes = tree["nodes"].as_array().unwrap();
    let told: Vec<_> = nodes.iter().filter(|node| node["ignored"] != true).collect();
    let role = |node: &Value| node["role"]["value"].as_str().unwrap_or_default().to_owned();
    let name = |node: &Value| node["name"]["value"].as_str().unwrap_or_default().to_owned();
    let has = |wanted: &str, text: &str| told.iter().any(|node| role(node) == wanted && name(node).contains(text));
    for (role, text) in [
        ("heading", "anything-goes-wrong"),
        ("heading", "What failed"),
        ("heading", "Timeline"),
        ("image", "Timeline of 208 events in the lanes journal, model, bank"),
        ("list", "Lanes of the timeline"),
        ("searchbox", "Search events"),
        ("combobox", "Host"),
        ("checkbox", "Network"),
        ("radio", "Time"),
        ("listbox", "Events"),
        ("option", "failure"),
        ("button", "Copy: Repeat it"),
        ("table", "Faults of this run"),
        ("columnheader", "When"),
        ("complementary", "failure"),
    ] {
        assert!(has(role, text), "no {role} is called {text:?}");
    }
    for node in told {
        let needs_name = ["button", "checkbox", "radio", "combobox", "searchbox", "listbox", "image", "link", "region"];
        assert!(!needs_name.contains(&&*role(node)) || !name(node).is_empty(), "without a name: {node}");
    }
    assert_eq!(page.evaluate("document.documentElement.lang"), "en");
    page.assert_is_sound();
}
