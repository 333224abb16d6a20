//! The page: its template, style and scripts, and the policy that lets nothing else in.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::escape;

const TEMPLATE: &str = include_str!("page/report.html");
const STYLE: &str = include_str!("page/report.css");

/// One script, in pieces of one concept each.
const SCRIPTS: [&str; 16] = [
    include_str!("page/element.js"),
    include_str!("page/data.js"),
    include_str!("page/scale.js"),
    include_str!("page/layout.js"),
    include_str!("page/handlers.js"),
    include_str!("page/painter.js"),
    include_str!("page/spans.js"),
    include_str!("page/marks.js"),
    include_str!("page/overview.js"),
    include_str!("page/timeline.js"),
    include_str!("page/filter.js"),
    include_str!("page/list.js"),
    include_str!("page/detail.js"),
    include_str!("page/failure.js"),
    include_str!("page/campaign.js"),
    include_str!("page/page.js"),
];

/// The page with its data, which is JSON.
pub(super) fn render(title: &str, data: &str) -> String {
    // Browsers read line ends so, and hash what they have read.
    let style = STYLE.replace("\r\n", "\n");
    let script = format!("(() => {{\n\"use strict\";\n{}}})();\n", SCRIPTS.join("\n")).replace("\r\n", "\n");
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; img-src data:; base-uri 'none'; \
         form-action 'none'",
        hash(&script),
        hash(&style)
    );
    fill(TEMPLATE, |name| match name {
        "policy" => policy.clone(),
        "title" => escape::html(title),
        "style" => style.clone(),
        "data" => escape::json(data),
        "script" => script.clone(),
        _ => String::new(),
    })
}

fn hash(text: &str) -> String {
    STANDARD.encode(Sha256::digest(text.as_bytes()))
}

/// The template with what stands for each `{{name}}`. What is filled in is not read again.
fn fill(template: &str, value: impl Fn(&str) -> String) -> String {
    let mut filled = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").unwrap_or((after, ""));
        filled.push_str(before);
        filled.push_str(&value(name));
        rest = after;
    }
    filled + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_of_the_template_is_filled_once() {
        let page = render("{{script}} & <b>", r#"{"title":"</script>{{style}}"}"#);
        assert!(page.contains("<title>{{script}} &amp; &lt;b&gt;</title>"));
        assert!(page.contains(r#"id="report-data">{"title":"\u003c/script\u003e{{style}}"}</script>"#));
        assert_eq!(page.matches("{{").count(), 2, "what is filled in is not read again");
        assert_eq!(page.matches("</script>").count(), 2);
    }

    #[test]
    fn nothing_of_the_page_is_elsewhere() {
        let page = render("", "{}");
        let policy = "content=\"default-src 'none'; script-src 'sha256-";
        assert!(page.contains(policy));
        for elsewhere in ["http:", "https:", "src=\"", "@import", "url(", "fetch(", "XMLHttp", "innerHTML", "eval("] {
            assert!(!page.contains(elsewhere), "{elsewhere}");
        }
    }

    #[test]
    fn pieces_of_the_page_are_small() {
        for piece in SCRIPTS.iter().chain([&TEMPLATE, &STYLE]) {
            assert!(piece.lines().count() <= 500, "{}", piece.lines().next().unwrap_or_default());
        }
    }
}
