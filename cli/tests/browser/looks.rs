//! Light, dark, and narrow.

use crate::page::Page;
use crate::reports::{FAILING, Folder};

pub(crate) fn schemes() {
    let folder = Folder::new("looks");
    let page = folder.open(&FAILING);
    for scheme in ["light", "dark"] {
        page.browser.prefer(scheme);
        page.settle();
        for (width, height) in [(1280, 800), (800, 800)] {
            page.browser.resize(width, height);
            page.settle();
            page.picture(&format!("{scheme}_{width}.png"));
            let wide = page.evaluate("document.documentElement.scrollWidth").as_u64().unwrap();
            assert!(wide <= u64::from(width), "the page of {width} is {wide} wide");
            assert_legible(&page, scheme);
        }
    }
    page.assert_is_sound();
}

pub(crate) fn picture() {
    let folder = Folder::new("picture");
    let page = folder.open(&FAILING);
    page.browser.prefer("light");
    page.browser.resize(1280, 720);
    page.evaluate("(() => { document.documentElement.style.scrollbarWidth = 'none'; document.getElementById('timeline').scrollIntoView(); })()");
    page.settle();
    let picture = page.picture("timeline.png");
    assert!(picture.len() < 200_000, "{} bytes", picture.len());
    page.assert_is_sound();
}

/// Text stands out from what is behind it as WCAG asks: 4.5 to 1.
fn assert_legible(page: &Page, scheme: &str) {
    for name in ["ink", "muted", "accent", "failure", "good"] {
        let contrast = page.evaluate(&format!(
            "(() => {{ const style = getComputedStyle(document.documentElement); \
             const light = (name) => {{ const hex = style.getPropertyValue('--' + name).trim(); \
             const parts = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255) \
             .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4); \
             return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]; }}; \
             return Math.min(...['panel', 'page', 'stripe', 'sunken'].map((behind) => \
             {{ const pair = [light({name:?}), light(behind)].sort((a, b) => b - a); return (pair[0] + 0.05) / (pair[1] + 0.05); }})); }})()"
        ));
        assert!(contrast.as_f64().unwrap() >= 4.5, "{name} on {scheme}: {contrast}");
    }
}
