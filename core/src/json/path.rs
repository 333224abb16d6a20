//! Where in a JSON value something is.

use std::fmt;

/// A place in a JSON value, printed like `$.items[2]["odd name"]`.
///
/// ```
/// use windtunnel_core::json::Path;
///
/// let path = Path::root().member("items").element(2).member("odd name");
/// assert_eq!(path.to_string(), r#"$.items[2]["odd name"]"#);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path {
    segments: Vec<Segment>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Segment {
    Member(String),
    Element(usize),
}

impl Path {
    /// The whole value.
    pub fn root() -> Self {
        Self::default()
    }

    /// The member `name` of the object at this place.
    #[must_use]
    pub fn member(mut self, name: impl Into<String>) -> Self {
        self.push_member(name);
        self
    }

    /// The element at `index` of the array at this place.
    #[must_use]
    pub fn element(mut self, index: usize) -> Self {
        self.push_element(index);
        self
    }

    /// Goes down to the member `name`.
    pub fn push_member(&mut self, name: impl Into<String>) {
        self.segments.push(Segment::Member(name.into()));
    }

    /// Goes down to the element at `index`.
    pub fn push_element(&mut self, index: usize) {
        self.segments.push(Segment::Element(index));
    }

    /// Goes back up by one.
    pub fn pop(&mut self) {
        self.segments.pop();
    }

    /// Goes down along a path that `serde_path_to_error` tracked.
    #[must_use]
    pub fn join(mut self, tracked: &serde_path_to_error::Path) -> Self {
        for segment in tracked {
            match segment {
                serde_path_to_error::Segment::Seq { index } => self.push_element(*index),
                serde_path_to_error::Segment::Map { key } => self.push_member(key),
                serde_path_to_error::Segment::Enum { variant } => self.push_member(variant),
                serde_path_to_error::Segment::Unknown => {}
            }
        }
        self
    }

    /// The path that an RFC 6901 pointer such as `/items/2` names inside a value of any shape: digits are an index.
    pub fn from_pointer(pointer: &str) -> Self {
        let mut path = Self::root();
        for token in pointer.split('/').skip(1) {
            let name = token.replace("~1", "/").replace("~0", "~");
            match name.parse() {
                Ok(index) => path.push_element(index),
                Err(_) => path.push_member(name),
            }
        }
        path
    }
}

impl fmt::Display for Path {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("$")?;
        for segment in &self.segments {
            match segment {
                Segment::Element(index) => write!(formatter, "[{index}]")?,
                Segment::Member(name) if is_plain(name) => write!(formatter, ".{name}")?,
                Segment::Member(name) => write!(formatter, "[{}]", serde_json::Value::from(name.as_str()))?,
            }
        }
        Ok(())
    }
}

fn is_plain(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(|first| first == '_' || first == '$' || first.is_alphabetic())
        && letters.all(|letter| letter == '_' || letter == '-' || letter.is_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_could_be_misread_are_quoted() {
        let path = Path::root().member("a.b").member("").member("9").member("c\"d").member("per-kind");
        assert_eq!(path.to_string(), r#"$["a.b"][""]["9"]["c\"d"].per-kind"#);
    }

    #[test]
    fn a_pointer_reads_as_a_path() {
        assert_eq!(Path::from_pointer("/items/2/a~1b").to_string(), r#"$.items[2]["a/b"]"#);
        assert_eq!(Path::from_pointer("").to_string(), "$");
    }
}
