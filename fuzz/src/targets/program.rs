//! Programs, of both versions of their schema.

use windtunnel::evaluator::Program;
use windtunnel::json::{Bounds, parse};

/// A program is the same from its text and from a value in memory.
pub fn program(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let read = Program::parse(text, Program::BOUNDS);
    // A value in memory is not as deep as a program may be.
    if let Ok(value) = parse(text, Bounds::DEFAULT) {
        let from_value = Program::from_value(&value);
        assert_eq!(read.is_ok(), from_value.is_ok(), "{:?} and {:?}", read.err(), from_value.err());
        if let (Ok(read), Ok(from_value)) = (&read, &from_value) {
            assert_eq!((read.version(), read.node_count()), (from_value.version(), from_value.node_count()));
        }
    }
    if let Err(error) = read {
        assert!(!error.to_string().is_empty());
    }
}
