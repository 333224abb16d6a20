//! Text that cannot break a terminal, whatever names and messages are in it.

use std::borrow::Cow;
use std::fmt::Write;
use std::io;

use serde_json::Value;

/// The text with every character written as `\u001b` that would move the cursor, begin an escape sequence or turn the
/// direction of the text. In JSON that is the same string, since such characters stand only inside one.
pub(crate) fn line(text: &str) -> Cow<'_, str> {
    escaped(text, is_disruptive)
}

/// The same for text of several lines.
pub(crate) fn lines(text: &str) -> Cow<'_, str> {
    escaped(text, |letter| letter != '\n' && is_disruptive(letter))
}

/// Writes a JSON value on a line of its own, with such characters escaped.
pub(crate) fn write_json(out: &mut impl io::Write, value: &Value) -> io::Result<()> {
    writeln!(out, "{}", line(&value.to_string()))
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if is_escaped(letter) {
            // Writing to a string cannot fail.
            let _infallible = write!(escaped, "\\u{:04x}", u32::from(letter));
        } else {
            escaped.push(letter);
        }
    }
    Cow::Owned(escaped)
}

fn is_disruptive(letter: char) -> bool {
    let is_separator = matches!(letter, '\u{2028}' | '\u{2029}');
    let turns_text =
        matches!(letter, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    letter.is_control() || is_separator || turns_text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_disrupts_is_escaped() {
        assert!(matches!(line("é 中 \\ \u{1f600}"), Cow::Borrowed("é 中 \\ \u{1f600}")));
        assert_eq!(line("a\u{1b}[31m\u{9b}\u{7f}\n\u{202e}"), r"a\u001b[31m\u009b\u007f\u000a\u202e");
        assert_eq!(lines("a\r\n\tb"), "a\\u000d\n\\u0009b");
    }

    #[test]
    fn json_stays_what_it_is() {
        let value = serde_json::json!({"\u{9b}": "\u{7f}\u{2028}\u{1b}\n"});
        let text = value.to_string();
        assert_ne!(line(&text), text);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&line(&text)).unwrap(), value);
    }
}
