//! The properties that proptest tries, of the executor, of programs and of journals.

use windtunnel_proptests::properties::try_bytes;

/// The first byte chooses a property, which holds for the case that is drawn from the others.
pub fn properties(bytes: &[u8]) {
    if let Err(broken) = try_bytes(bytes) {
        panic!("{broken}");
    }
}
