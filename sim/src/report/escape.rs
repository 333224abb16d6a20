//! Text that comes from anywhere, where HTML is read.

/// JSON that may stand in a script element: nothing in it ends the element, begins a comment or is a line's end. It means
/// the same.
pub(super) fn json(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + text.len() / 64);
    for letter in text.chars() {
        match letter {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => escaped.push_str(&format!("\\u{:04x}", u32::from(letter))),
            _ => escaped.push(letter),
        }
    }
    escaped
}

/// Text as HTML.
pub(super) fn html(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_json_ends_its_element_and_it_means_the_same() {
        let hostile = "</script><script>alert(1)</script><!-- & \u{2028}\u{2029} ]]> \u{0} \" \\";
        let text = serde_json::to_string(hostile).unwrap();
        let escaped = json(&text);
        assert!(!escaped.contains(['<', '>', '&', '\u{2028}', '\u{2029}']), "{escaped}");
        assert_eq!(serde_json::from_str::<String>(&escaped).unwrap(), hostile);
    }

    #[test]
    fn text_is_no_markup() {
        assert_eq!(html(r#"<b title="x">'&'</b>"#), "&lt;b title=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/b&gt;");
    }
}
