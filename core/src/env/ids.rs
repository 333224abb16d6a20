//! Identity.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use parking_lot::Mutex;

/// A source of identifiers.
pub trait Ids: Send + Sync {
    /// A new identifier that begins with `kind` and a hyphen, unique within the environment.
    fn next_id(&self, kind: &'static str) -> Arc<str>;
}

/// Identifiers counted from one for each kind: `call-1`, `call-2`, `run-1`.
#[derive(Debug, Default)]
pub struct CountingIds {
    last: Mutex<BTreeMap<&'static str, u64>>,
}

impl Ids for CountingIds {
    fn next_id(&self, kind: &'static str) -> Arc<str> {
        let mut last = self.last.lock();
        let count = last.entry(kind).or_insert(0);
        *count += 1;
        let mut id = String::with_capacity(kind.len() + 21);
        let _infallible = write!(id, "{kind}-{count}");
        id.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_counts_on_its_own() {
        let ids = CountingIds::default();
        let given = [ids.next_id("call"), ids.next_id("run"), ids.next_id("call")];
        assert_eq!(given.each_ref().map(|id| &**id), ["call-1", "run-1", "call-2"]);
    }
}
