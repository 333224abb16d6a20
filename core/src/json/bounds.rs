//! How large a value may be.

use serde_json::Value;

use super::{Path, canonical};

/// Inclusive maxima for a JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Bytes of the text when parsing, of the canonical encoding when checking a value.
    pub bytes_max: usize,
    /// Levels of arrays and objects: a scalar has depth 0, `[]` has depth 1.
    pub depth_max: usize,
}

/// A value is over a bound.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BoundsError {
    /// The encoding is too long.
    #[error("{path}: {bytes} bytes are more than the {bytes_max} allowed")]
    TooLarge {
        /// The place of the value.
        path: Path,
        /// Its size in bytes.
        bytes: usize,
        /// The bound.
        bytes_max: usize,
    },
    /// The nesting is too deep.
    #[error("{path}: nested deeper than the {depth_max} levels allowed")]
    TooDeep {
        /// The first place that is too deep.
        path: Path,
        /// The bound.
        depth_max: usize,
    },
}

impl Bounds {
    /// 16 MiB and 128 levels: for files and messages that a person or a model wrote.
    pub const DEFAULT: Self = Self { bytes_max: 16 * 1024 * 1024, depth_max: 128 };

    /// Checks a value that is already in memory.
    ///
    /// # Errors
    /// [`BoundsError`] with the path of the first place that is too deep, else the size of the whole.
    pub fn check(&self, value: &Value) -> Result<(), BoundsError> {
        self.check_depth(value)?;
        let bytes = canonical(value).len();
        if bytes > self.bytes_max {
            return Err(BoundsError::TooLarge { path: Path::root(), bytes, bytes_max: self.bytes_max });
        }
        Ok(())
    }

    fn check_depth(&self, value: &Value) -> Result<(), BoundsError> {
        let mut pending = vec![(value, 0_usize, Path::root())];
        while let Some((value, depth, path)) = pending.pop() {
            if !value.is_array() && !value.is_object() {
                continue;
            }
            if depth == self.depth_max {
                return Err(BoundsError::TooDeep { path, depth_max: self.depth_max });
            }
            match value {
                Value::Array(elements) => pending.extend(
                    elements
                        .iter()
                        .enumerate()
                        .rev()
                        .map(|(index, element)| (element, depth + 1, path.clone().element(index))),
                ),
                Value::Object(members) => pending
                    .extend(members.iter().rev().map(|(name, member)| (member, depth + 1, path.clone().member(name)))),
                _ => {}
            }
        }
        Ok(())
    }
}

impl Default for Bounds {
    fn default() -> Self {
        Self::DEFAULT
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn bounds_are_inclusive() {
        let value = json!({"a": [[1]]});
        let exact = Bounds { bytes_max: 11, depth_max: 3 };
        assert_eq!(exact.check(&value), Ok(()));
        let shallow = Bounds { depth_max: 2, ..exact };
        assert_eq!(shallow.check(&value).unwrap_err().to_string(), "$.a[0]: nested deeper than the 2 levels allowed");
        let short = Bounds { bytes_max: 10, ..exact };
        assert_eq!(short.check(&value).unwrap_err().to_string(), "$: 11 bytes are more than the 10 allowed");
    }

    #[test]
    fn the_first_place_that_is_too_deep_is_named() {
        let bounds = Bounds { depth_max: 1, ..Bounds::DEFAULT };
        let refusal = bounds.check(&json!({"a": 1, "b": [], "c": {}})).unwrap_err();
        assert_eq!(refusal.to_string(), "$.b: nested deeper than the 1 levels allowed");
    }
}
