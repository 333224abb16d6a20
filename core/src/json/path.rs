//! Where in a JSON value something is.

use std::fmt;

/// How many segments are printed; of a longer path only the first and the last ones.
const SEGMENTS_MAX: usize = 40;
const SEGMENTS_FIRST: usize = 20;

/// A place in a JSON value, printed like `$.items[2]["odd name"]`; the middle of a very long path is left out.
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
    /// So many segments are left out here.
    Omitted(usize),
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

    /// The place at `rest` in the value at this place.
    ///
    /// ```
    /// use windtunnel_core::json::Path;
    ///
    /// let (program, node) = (Path::root().member("program"), Path::root().member("body").element(0));
    /// assert_eq!(program.append(&node).to_string(), "$.program.body[0]");
    /// ```
    #[must_use]
    pub fn append(mut self, rest: &Self) -> Self {
        self.segments.extend_from_slice(&rest.segments);
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

    /// Goes down along `depth` segments, of which `push` pushes each by its number: not more than are printed, so that
    /// the place of an offence a million levels deep stays small.
    pub(crate) fn push_bounded(&mut self, depth: usize, mut push: impl FnMut(&mut Self, usize)) {
        for number in 0..depth {
            if depth > SEGMENTS_MAX && (SEGMENTS_FIRST..=omitted_last(depth)).contains(&number) {
                continue;
            }
            if depth > SEGMENTS_MAX && number == omitted_last(depth) + 1 {
                self.segments.push(Segment::Omitted(number - SEGMENTS_FIRST));
            }
            push(self, number);
        }
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
        if self.segments.len() <= SEGMENTS_MAX {
            return self.segments.iter().try_for_each(|segment| write!(formatter, "{segment}"));
        }
        let (first, rest) = self.segments.split_at(SEGMENTS_FIRST);
        let (middle, last) = rest.split_at(omitted_last(self.segments.len()) + 1 - SEGMENTS_FIRST);
        let omitted = middle.iter().map(|segment| if let Segment::Omitted(count) = segment { *count } else { 1 }).sum();
        first
            .iter()
            .chain([&Segment::Omitted(omitted)])
            .chain(last)
            .try_for_each(|segment| write!(formatter, "{segment}"))
    }
}

impl fmt::Display for Segment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Element(index) => write!(formatter, "[{index}]"),
            Self::Member(name) if is_plain(name) => write!(formatter, ".{name}"),
            Self::Member(name) => write!(formatter, "[{}]", serde_json::Value::from(name.as_str())),
            Self::Omitted(count) => write!(formatter, "<{count} segments left out>"),
        }
    }
}

/// The last segment that is left out of so many, so that the rest and the mark in their place are the maximum.
const fn omitted_last(depth: usize) -> usize {
    depth - (SEGMENTS_MAX - SEGMENTS_FIRST)
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
    fn the_middle_of_a_very_long_path_is_left_out() {
        let long = |depth: usize| (0..depth).fold(Path::root(), Path::element);
        assert!(long(40).to_string().starts_with("$[0][1][2]"));
        assert!(!long(40).to_string().contains("left out"));
        let shown = long(1000).to_string();
        assert!(shown.starts_with("$[0][1][2]"), "{shown}");
        assert!(shown.contains("[18][19]<961 segments left out>[981][982]"), "{shown}");
        assert!(shown.ends_with("[998][999]"), "{shown}");
    }

    #[test]
    fn a_bounded_path_prints_as_the_whole_one() {
        for depth in [0, 1, 39, 40, 41, 42, 80, 1000] {
            let whole = (0..depth).fold(Path::root(), Path::element);
            let mut bounded = Path::root();
            bounded.push_bounded(depth, Path::push_element);
            assert!(bounded.segments.len() <= SEGMENTS_MAX);
            assert_eq!(bounded.to_string(), whole.to_string());
        }
    }

    #[test]
    fn a_pointer_reads_as_a_path() {
        assert_eq!(Path::from_pointer("/items/2/a~1b").to_string(), r#"$.items[2]["a/b"]"#);
        assert_eq!(Path::from_pointer("").to_string(), "$");
    }
}
