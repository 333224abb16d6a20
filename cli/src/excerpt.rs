//! The lines of a file around a place in it, with the place marked.

use std::fs::File;
use std::io::{self, Read, Write};

use console::measure_text_width;
use windtunnel_core::json::ParseError;
use windtunnel_fixtures::cassette::{CassetteError, FileError};
use windtunnel_sim::case::LoadError;

use crate::printable;
use crate::style::Style;

/// A place in a file; line and column count from 1, columns in characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// The largest file that lines are shown of: as large as a file of cases may be.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// How many lines are shown before and after the one with the place.
const LINES_AROUND: usize = 2;

/// How many characters of a line are shown, and how many of them before the place.
const LETTERS_MAX: usize = 100;
const LETTERS_BEFORE: usize = 40;

impl Place {
    /// The place of an error in a case file, if it has one.
    pub(crate) fn of_case(error: &LoadError) -> Option<Self> {
        let LoadError::Invalid { place, .. } = error else { return None };
        Some(Self { file: place.file.clone(), line: place.line, column: place.column })
    }

    /// The place of an error in a cassette, if it has one.
    pub(crate) fn of_cassette(error: &FileError) -> Option<Self> {
        let FileError::Cassette { path, source: CassetteError::Syntax(ParseError { line, column, .. }) } = error else {
            return None;
        };
        Some(Self { file: path.display().to_string(), line: *line, column: *column })
    }
}

/// Writes the lines around the place, and nothing where they cannot be read any more, as from standard input.
pub(crate) fn write(place: &Place, style: Style, out: &mut impl Write) -> io::Result<()> {
    text(&place.file).map_or(Ok(()), |text| draw(place, &text, style, out))
}

fn text(file: &str) -> Option<String> {
    let file = File::open(file).ok().filter(|file| file.metadata().is_ok_and(|metadata| metadata.is_file()))?;
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn draw(place: &Place, text: &str, style: Style, out: &mut impl Write) -> io::Result<()> {
    let lines: Vec<&str> = text.lines().collect();
    let first = place.line.saturating_sub(LINES_AROUND).max(1);
    // The place can be after the last newline.
    let last = place.line.saturating_add(LINES_AROUND).min(lines.len().max(place.line));
    if place.line > lines.len() + 1 {
        return Ok(());
    }
    let digits = last.to_string().len();
    let gutter = |number: &str| style.faint(&format!(" {number:>digits$} |"));
    writeln!(out, "{}", gutter(""))?;
    for number in first..=last {
        let line = lines.get(number - 1).map(|line| line.replace('\t', " ")).unwrap_or_default();
        if number != place.line {
            let shown: String = line.chars().take(LETTERS_MAX).collect();
            let more = if shown.len() < line.len() { "…" } else { "" };
            writeln!(
                out,
                "{}",
                format!("{} {}{more}", gutter(&number.to_string()), printable::line(&shown)).trim_end()
            )?;
            continue;
        }
        let (before, marked, after) = cut(&line, place.column);
        let indent = " ".repeat(measure_text_width(&before));
        let mark = style.bad(&"^".repeat(measure_text_width(&marked).max(1)));
        writeln!(out, "{}", format!("{} {before}{marked}{after}", gutter(&number.to_string())).trim_end())?;
        writeln!(out, "{} {indent}{mark}", gutter(""))?;
    }
    Ok(())
}

/// What is shown of the line: before the column, what stands there, and after it.
fn cut(line: &str, column: usize) -> (String, String, String) {
    let letters: Vec<char> = line.chars().collect();
    let place = column.saturating_sub(1).min(letters.len());
    let begin = place.saturating_sub(LETTERS_BEFORE);
    let end = letters.len().min(begin + LETTERS_MAX);
    let marked = (place + token(&letters[place..])).min(end);
    let shown = |letters: &[char]| printable::line(&letters.iter().collect::<String>()).into_owned();
    let before = if begin > 0 { "…" } else { "" };
    let after = if end < letters.len() { "…" } else { "" };
    (
        format!("{before}{}", shown(&letters[begin..place])),
        shown(&letters[place..marked]),
        format!("{}{after}", shown(&letters[marked..end])),
    )
}

/// How many letters belong to what begins here: a string, a word or a number, or one sign.
fn token(letters: &[char]) -> usize {
    let is_of_word = |letter: &char| letter.is_alphanumeric() || "_-.+".contains(*letter);
    match letters.first() {
        None => 0,
        Some('"') => {
            let mut is_escaped = false;
            let end = letters[1..].iter().position(|letter| {
                let is_end = *letter == '"' && !is_escaped;
                is_escaped = *letter == '\\' && !is_escaped;
                is_end
            });
            end.map_or(1, |end| end + 2)
        }
        Some(letter) if is_of_word(letter) => letters.iter().take_while(|letter| is_of_word(letter)).count(),
        Some(_) => 1,
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;
    use crate::style::Colors;

    fn drawn(line: usize, column: usize, text: &str) -> String {
        let mut drawn = Vec::new();
        let place = Place { file: "a.toml".to_owned(), line, column };
        draw(&place, text, Style::of_stdout(Colors::Never), &mut drawn).unwrap();
        String::from_utf8(drawn).unwrap()
    }

    #[test]
    fn the_lines_around_a_place_are_shown_with_their_numbers() {
        let text: String = (1..=12).map(|number| format!("value_{number} = \"text {number}\"\n")).collect();
        assert_snapshot!(drawn(9, 11, &text), @r#"
           |
         7 | value_7 = "text 7"
         8 | value_8 = "text 8"
         9 | value_9 = "text 9"
           |           ^^^^^^^^
        10 | value_10 = "text 10"
        11 | value_11 = "text 11"
        "#);
        assert_snapshot!(drawn(1, 1, "\tretrise = 3\r\nnext = 1"), @"
          |
        1 |  retrise = 3
          | ^
        2 | next = 1
        ");
        assert_snapshot!(drawn(1, 6, "a = \"金額\" 金額"), @r#"
          |
        1 | a = "金額" 金額
          |      ^^^^
        "#);
    }

    #[test]
    fn long_lines_are_cut_around_the_place_and_nothing_disrupts_the_terminal() {
        let line =
            format!("{{\"{}\": \u{1b}[31m, \"wrong\\\" name\": 1, \"{}\": 2}}", "a".repeat(300), "b".repeat(300));
        let column = line.chars().position(|letter| letter == 'w').unwrap();
        assert_snapshot!(drawn(1, column, &line), @r#"
          |
        1 | …aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa": \u001b[31m, "wrong\" name": 1, "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb…
          |                                               ^^^^^^^^^^^^^^
        "#);
    }

    #[test]
    fn the_end_of_a_text_can_be_the_place() {
        assert_snapshot!(drawn(2, 1, "{\n"), @"
          |
        1 | {
        2 |
          | ^
        ");
        assert_eq!(drawn(3, 1, "{\n"), "");
        assert_snapshot!(drawn(1, 1, ""), @"
          |
        1 |
          | ^
        ");
    }
}
