//! Which names may be stored (D1).

use super::limits::{CALLABLE_BYTES_MAX, NAME_BYTES_MAX};

/// Keys that begin so belong to approvals.
const RESERVED_PREFIX: &str = "_approval:";

/// What is wrong with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameFlaw {
    /// It has no letter.
    #[error("is empty; give it a name that stays the same in every attempt")]
    Empty,
    /// It has too many bytes.
    #[error("has {bytes} bytes of UTF-8, more than the {bytes_max} allowed; use a shorter name or a digest")]
    TooLong {
        /// How many it has.
        bytes: usize,
        /// The bound.
        bytes_max: usize,
    },
    /// It has a control character.
    #[error("holds the control character U+{:04X}; remove it", u32::from(*.letter))]
    Control {
        /// The first one.
        letter: char,
    },
    /// It has a code point that Unicode assigns to no character, ever.
    #[error("holds the noncharacter U+{:04X}; remove it", u32::from(*.letter))]
    Noncharacter {
        /// The first one.
        letter: char,
    },
    /// It begins like the keys of approvals.
    #[error("begins with {RESERVED_PREFIX:?}, which is reserved for approvals; use another prefix")]
    Reserved,
}

/// Checks a key, a version, an entry or an identifier.
pub(super) fn check_name(name: &str) -> Result<(), NameFlaw> {
    check(name, NAME_BYTES_MAX)
}

/// Checks the key of an operation.
pub(super) fn check_operation_key(key: &str) -> Result<(), NameFlaw> {
    check_name(key)?;
    if key.starts_with(RESERVED_PREFIX) { Err(NameFlaw::Reserved) } else { Ok(()) }
}

/// Checks a callable's name, as it is stored.
pub(super) fn check_callable(name: &str) -> Result<(), NameFlaw> {
    check(name, CALLABLE_BYTES_MAX)
}

fn check(name: &str, bytes_max: usize) -> Result<(), NameFlaw> {
    if name.is_empty() {
        return Err(NameFlaw::Empty);
    }
    if name.len() > bytes_max {
        return Err(NameFlaw::TooLong { bytes: name.len(), bytes_max });
    }
    match name.chars().find_map(letter_flaw) {
        Some(flaw) => Err(flaw),
        None => Ok(()),
    }
}

fn letter_flaw(letter: char) -> Option<NameFlaw> {
    let code = u32::from(letter);
    if letter.is_control() {
        Some(NameFlaw::Control { letter })
    } else if (0xFDD0..=0xFDEF).contains(&code) || code & 0xFFFE == 0xFFFE {
        Some(NameFlaw::Noncharacter { letter })
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_bounded_in_bytes() {
        assert_eq!(check_name(&"é".repeat(64)), Ok(()));
        assert_eq!(check_name(&format!("{}x", "é".repeat(64))), Err(NameFlaw::TooLong { bytes: 129, bytes_max: 128 }));
        assert_eq!(check_callable(&"x".repeat(512)), Ok(()));
        assert_eq!(check_callable(&"x".repeat(513)), Err(NameFlaw::TooLong { bytes: 513, bytes_max: 512 }));
        assert_eq!(check_name(""), Err(NameFlaw::Empty));
    }

    #[test]
    fn letters_that_are_none_are_refused() {
        for letter in ['\0', '\n', '\u{7f}', '\u{9f}'] {
            assert_eq!(check_name(&format!("a{letter}b")), Err(NameFlaw::Control { letter }));
        }
        for letter in ['\u{fdd0}', '\u{fdef}', '\u{fffe}', '\u{ffff}', '\u{1fffe}', '\u{10ffff}'] {
            assert_eq!(check_name(&letter.to_string()), Err(NameFlaw::Noncharacter { letter }));
        }
        assert_eq!(check_name("\u{fdcf}\u{fdf0}\u{fffd} é 你好"), Ok(()));
    }

    #[test]
    fn keys_of_approvals_are_reserved_for_operations_only() {
        assert_eq!(check_operation_key("_approval:abc"), Err(NameFlaw::Reserved));
        assert_eq!(check_operation_key("_approval"), Ok(()));
        assert_eq!(check_name("_approval:abc"), Ok(()));
    }

    #[test]
    fn a_flaw_says_what_to_do() {
        assert_eq!(check_name("a\nb").unwrap_err().to_string(), "holds the control character U+000A; remove it");
    }
}
