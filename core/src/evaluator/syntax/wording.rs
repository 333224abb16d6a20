//! How messages and outlines show what a program contains: on one line, and never at length.

/// Characters of a name or payload that are shown.
const SHOWN_MAX: usize = 60;

/// Entries of a list that are shown.
const LISTED_MAX: usize = 10;

/// The beginning of `text`, if it is long.
pub(super) fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A name in quotes, so that no name can look like a part of the message.
pub(super) fn quoted(name: &str) -> String {
    serde_json::Value::from(shortened(name)).to_string()
}

/// A name as it is, if nobody can misread it, else in quotes.
pub(super) fn plain(name: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.');
    if !name.is_empty() && name.chars().all(is_plain) { shortened(name) } else { quoted(name) }
}

/// Names in quotes, with commas between them.
pub(super) fn listed<'a>(names: impl IntoIterator<Item = &'a str, IntoIter: ExactSizeIterator>) -> String {
    let names = names.into_iter();
    let left = names.len().saturating_sub(LISTED_MAX);
    let mut shown: Vec<_> = names.take(LISTED_MAX).map(quoted).collect();
    if shown.is_empty() {
        return "none".to_owned();
    }
    if left > 0 {
        shown.push(format!("{left} more"));
    }
    shown.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_on_one_line_and_short() {
        assert_eq!(quoted("a\nb\"c"), r#""a\nb\"c""#);
        assert_eq!(plain("functions.add-2"), "functions.add-2");
        assert_eq!(plain("a b"), "\"a b\"");
        assert_eq!(plain(""), "\"\"");
        assert_eq!(quoted(&"é".repeat(61)), format!("\"{}…\"", "é".repeat(60)));
        assert_eq!(shortened(&"é".repeat(60)), "é".repeat(60));
    }

    #[test]
    fn lists_name_what_they_leave_out() {
        assert_eq!(listed([]), "none");
        assert_eq!(listed(["a", "b"]), r#""a", "b""#);
        assert!(listed(["a"; 12]).ends_with(r#""a", 2 more"#));
    }
}
