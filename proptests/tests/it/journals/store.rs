//! Stores of journals answer as their contract says, whatever is asked of them and when.

use futures_util::FutureExt;
use proptest::prelude::*;
use windtunnel_core::durable::MemoryStore;
use windtunnel_core::env::Env;
use windtunnel_proptests::Violation;
use windtunnel_proptests::cases::StoreOperation;
use windtunnel_proptests::played::{Exchange, check_journal_store};
use windtunnel_proptests::strategies::store_operations;

use crate::settings::family;

/// The store in memory lives on when it is opened again.
pub(super) fn check_memory(operations: &[StoreOperation]) -> Result<Vec<Exchange>, Violation> {
    let open = async |before: Option<MemoryStore>, env: Env| before.unwrap_or_else(|| MemoryStore::new(env));
    check_journal_store(open, operations).now_or_never().unwrap()
}

proptest! {
    #![proptest_config(family!("journal-store"))]

    #[test]
    fn the_store_in_memory_keeps_the_contract_and_answers_the_same_again(operations in store_operations()) {
        let [first, second] = [(); 2].map(|()| check_memory(&operations).map(|exchanges| format!("{exchanges:?}")));
        prop_assert_eq!(first?, second?);
    }
}
