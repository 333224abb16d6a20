//! The digests that rows carry.

use rusqlite::ToSql;
use rusqlite::types::{FromSql, FromSqlResult, ToSqlOutput, ValueRef};
use sha2::{Digest, Sha256};

/// A SHA-256.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seal([u8; 32]);

impl Seal {
    /// That of a row, to be fed with its columns.
    pub(super) fn of(kind: &'static str) -> Sealing {
        Sealing(Sha256::new()).text(kind)
    }

    /// Where the chain of an activation's records begins.
    pub(super) fn chain(workflow: i64, activation: i64) -> Self {
        Self::of("records").integer(workflow).integer(activation).done()
    }

    /// The next link of a chain.
    pub(super) fn link(self, attempt: i64, text: &str) -> Self {
        Self(
            Sha256::new().chain_update(self.0).chain_update(attempt.to_le_bytes()).chain_update(text).finalize().into(),
        )
    }

    pub(super) fn decision(workflow: i64, position: i64, text: &str) -> Self {
        Self::of("decision").integer(workflow).integer(position).text(text).done()
    }
}

/// A digest on its way. Each value is fed with its kind and length, so that no two rows are one text.
pub(super) struct Sealing(Sha256);

impl Sealing {
    pub(super) fn integer(self, integer: i64) -> Self {
        Self(self.0.chain_update(b"i").chain_update(integer.to_le_bytes()))
    }

    pub(super) fn text(self, text: &str) -> Self {
        let length = (text.len() as u64).to_le_bytes();
        Self(self.0.chain_update(b"t").chain_update(length).chain_update(text))
    }

    pub(super) fn seal(self, seal: Seal) -> Self {
        Self(self.0.chain_update(b"s").chain_update(seal.0))
    }

    pub(super) fn optional<T>(self, value: Option<T>, feed: impl FnOnce(Self, T) -> Self) -> Self {
        match value {
            Some(value) => feed(self, value),
            None => Self(self.0.chain_update(b"n")),
        }
    }

    pub(super) fn done(self) -> Seal {
        Seal(self.0.finalize().into())
    }
}

impl ToSql for Seal {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Blob(&self.0)))
    }
}

impl FromSql for Seal {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        <[u8; 32]>::column_result(value).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_rows_have_one_seal() {
        let seals = [
            Seal::of("a").text("b").done(),
            Seal::of("ab").text("").done(),
            Seal::of("a").optional(Some("b"), Sealing::text).integer(0).done(),
            Seal::of("a").optional(None, Sealing::text).integer(0).done(),
            Seal::chain(1, 2),
            Seal::chain(2, 1),
            Seal::chain(1, 2).link(1, "a"),
            Seal::chain(1, 2).link(2, "a"),
        ];
        for (index, seal) in seals.iter().enumerate() {
            assert!(!seals[..index].contains(seal), "{index}");
        }
    }
}
