//! Durable workflows whose journals are in a file come to the same end whatever happens.

use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use proptest::test_runner::Config;
use windtunnel_core::BoxFuture;
use windtunnel_core::durable::sqlite::SqliteStore;
use windtunnel_core::env::Env;
use windtunnel_proptests::properties::journals::check_any;
use windtunnel_proptests::strategies::{replayed_worker_cases, worker_cases};

use super::store::folder;
use crate::settings::family;

fn config() -> Config {
    let config = family!("journal-workflow-sqlite");
    Config { cases: config.cases.div_ceil(8), max_shrink_iters: 1024, ..config }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn workflows_in_a_file_come_to_their_end_whatever_goes_wrong(
        case in prop_oneof![3 => worker_cases(), 1 => replayed_worker_cases()],
    ) {
        // Made before any world: the name of a folder is drawn, which no guest may do.
        let (folder, opened) = (folder(), AtomicUsize::new(0));
        let open = |env: Env| -> BoxFuture<'static, SqliteStore> {
            let file = folder.path().join(format!("{}.db", opened.fetch_add(1, Ordering::Relaxed)));
            Box::pin(async { SqliteStore::open(file, env).await.unwrap() })
        };
        check_any(&case, open)?;
    }
}
