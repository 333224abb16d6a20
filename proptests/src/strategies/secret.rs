//! Secrets.

use proptest::prelude::*;

/// Passphrases: nothing about them says what they are, so that whoever is to keep them must be told.
pub fn told_secrets() -> impl Strategy<Value = String> {
    "[a-z]{6,9}-[a-z]{6,9}-[a-z]{6,9}"
}

/// Keys and tokens of five well-known forms in equal shares: by their beginnings anybody can know them.
pub fn known_secrets() -> impl Strategy<Value = String> {
    prop_oneof![
        "ghp_[A-Za-z0-9]{34}[a-z][0-9]",
        "sk-[A-Za-z0-9]{30}[a-z][0-9]",
        "AKIA[A-Z0-9]{14}[A-Z][0-9]",
        "xoxb-[0-9]{12}-[A-Za-z0-9]{20}[a-z][0-9]",
        "hf_[A-Za-z0-9]{32}[a-z][0-9]",
    ]
}
