//! Places in a text, looked up from front to back.

use crate::case::error::Place;

/// Counts lines and columns only from the last place on, so that the places of all cases of a file take one pass.
pub(super) struct Places<'t> {
    file: &'t str,
    text: &'t str,
    offset: usize,
    line: usize,
    column: usize,
}

impl<'t> Places<'t> {
    /// The text begins on line `first_line` of the file.
    pub(super) fn new(file: &'t str, text: &'t str, first_line: usize) -> Self {
        Self { file, text, offset: 0, line: first_line, column: 1 }
    }

    /// The place of a byte, at or after the last one that was asked for.
    pub(super) fn at(&mut self, offset: usize) -> Place {
        for letter in self.text.get(self.offset..offset).unwrap_or_default().chars() {
            if letter == '\n' {
                self.line += 1;
                self.column = 1;
            } else {
                self.column += 1;
            }
        }
        self.offset = self.offset.max(offset);
        Place { file: self.file.to_owned(), line: self.line, column: self.column }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_on_from_each_other() {
        let text = "[{},\n  é{},\n{}]";
        let mut places = Places::new("f.json", text, 3);
        let found = text.match_indices('{').map(|(offset, _)| places.at(offset).to_string());
        assert_eq!(found.collect::<Vec<_>>(), ["f.json:3:2", "f.json:4:4", "f.json:5:1"]);
    }
}
