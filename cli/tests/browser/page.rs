//! A report that is open in a browser.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::browser::Browser;

/// Control, as keys are sent.
pub(crate) const CONTROL: &str = "\u{E009}";
pub(crate) const ENTER: &str = "\u{E007}";
pub(crate) const ESCAPE: &str = "\u{E00C}";
pub(crate) const TAB: &str = "\u{E004}";
pub(crate) const END: &str = "\u{E010}";
pub(crate) const HOME: &str = "\u{E011}";
pub(crate) const LEFT: &str = "\u{E012}";
pub(crate) const UP: &str = "\u{E013}";
pub(crate) const RIGHT: &str = "\u{E014}";
pub(crate) const DOWN: &str = "\u{E015}";
pub(crate) const PAGE_DOWN: &str = "\u{E00F}";

/// The open report.
pub(crate) struct Page {
    pub(crate) browser: Browser,
    address: String,
}

impl Page {
    pub(crate) fn open(file: &Path) -> Self {
        let browser = Browser::start();
        let address = format!("file://{}", file.display());
        browser.post("url", &json!({"url": address}));
        let page = Self { browser, address };
        page.settle();
        page
    }

    /// What an expression comes to.
    pub(crate) fn evaluate(&self, expression: &str) -> Value {
        self.browser.post("execute/sync", &json!({"script": format!("return {expression};"), "args": []}))
    }

    pub(crate) fn text(&self, selector: &str) -> String {
        let text = self.evaluate(&format!("document.querySelector({selector:?})?.innerText ?? ''"));
        text.as_str().unwrap().to_owned()
    }

    pub(crate) fn texts(&self, selector: &str) -> Vec<String> {
        let texts = self.evaluate(&format!("[...document.querySelectorAll({selector:?})].map((one) => one.innerText)"));
        texts.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
    }

    /// Waits until the page has drawn what it was asked to.
    pub(crate) fn settle(&self) {
        let script = "const done = arguments[0]; \
                      setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)), 120);";
        self.browser.post("execute/async", &json!({"script": script, "args": []}));
    }

    /// The middle of an element, brought into view.
    pub(crate) fn middle(&self, selector: &str) -> (f64, f64) {
        let script = format!(
            "(() => {{ const one = document.querySelector({selector:?}); one.scrollIntoView({{block: 'center'}}); \
             const box = one.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }})()"
        );
        let middle = self.evaluate(&script);
        (middle[0].as_f64().unwrap(), middle[1].as_f64().unwrap())
    }

    /// A click as a person makes it.
    pub(crate) fn click(&self, selector: &str) {
        let (x, y) = self.middle(selector);
        self.click_at(x, y);
    }

    pub(crate) fn click_at(&self, x: f64, y: f64) {
        let (x, y) = (x.round() as i64, y.round() as i64);
        let actions = json!({"actions": [{"type": "pointer", "id": "mouse", "actions": [
            {"type": "pointerMove", "duration": 0, "x": x, "y": y},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]}]});
        self.browser.post("actions", &actions);
        self.settle();
    }

    /// A click on the strip of the whole run, at a share of its width.
    pub(crate) fn click_overview(&self, share: f64) {
        let (middle, y) = self.middle("#overview");
        let width = self.evaluate("document.getElementById('overview').clientWidth").as_f64().unwrap();
        self.click_at(middle + (share - 0.5) * width, y);
    }

    /// Presses keys, one after another.
    pub(crate) fn press(&self, keys: &[&str]) {
        let actions: Vec<_> = keys
            .iter()
            .flat_map(|key| [json!({"type": "keyDown", "value": key}), json!({"type": "keyUp", "value": key})])
            .collect();
        self.keys(actions);
    }

    /// Presses a key while control is held.
    pub(crate) fn press_with_control(&self, key: &str) {
        let action = |kind: &str, key: &str| json!({"type": kind, "value": key});
        self.keys(vec![
            action("keyDown", CONTROL),
            action("keyDown", key),
            action("keyUp", key),
            action("keyUp", CONTROL),
        ]);
    }

    fn keys(&self, actions: Vec<Value>) {
        self.browser.post("actions", &json!({"actions": [{"type": "key", "id": "keyboard", "actions": actions}]}));
        self.settle();
    }

    pub(crate) fn type_text(&self, text: &str) {
        let keys: Vec<String> = text.chars().map(String::from).collect();
        self.press(&keys.iter().map(String::as_str).collect::<Vec<_>>());
    }

    /// The event that is selected, as the list says it.
    pub(crate) fn selected(&self) -> String {
        self.text(".event[aria-selected=\"true\"]")
    }

    /// Keeps a picture, if pictures are asked for. Gives it.
    pub(crate) fn picture(&self, name: &str) -> Vec<u8> {
        let picture = self.browser.get("screenshot");
        let picture = STANDARD.decode(picture.as_str().unwrap()).unwrap();
        if let Some(folder) = std::env::var_os("WINDTUNNEL_PICTURES") {
            // Tests run in the folder of their package.
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder);
            std::fs::write(folder.join(name), &picture).unwrap();
        }
        picture
    }

    /// Holds that nothing went wrong in the page, and that it asked nobody for anything.
    pub(crate) fn assert_is_sound(&self) {
        let said = self.browser.log("browser");
        assert!(said.is_empty(), "the console is not empty: {said:?}");
        let mut requests = 0;
        for entry in self.browser.log("performance") {
            let message: Value = serde_json::from_str(entry["message"].as_str().unwrap()).unwrap();
            if message["message"]["method"] == "Network.requestWillBeSent" {
                let parameters = &message["message"]["params"];
                // The browser's own first page asks for things, too.
                if parameters["documentURL"] != self.address.as_str() {
                    continue;
                }
                let url = parameters["request"]["url"].as_str().unwrap();
                assert!(url == self.address || url.starts_with("data:"), "the page asks for {url}");
                requests += 1;
            }
        }
        assert!(requests > 0, "nothing is known of requests");
    }
}
