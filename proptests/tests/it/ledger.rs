//! Ports that fail change no result (E12, E13).

use proptest::prelude::*;
use windtunnel_core::event::{Event, Sink};
use windtunnel_core::executor::{ExecutorBuilder, Ledger, LedgerEntry};
use windtunnel_core::{BoxError, BoxFuture};
use windtunnel_proptests::played::CAUSE;
use windtunnel_proptests::properties::batches::{calls, setup};
use windtunnel_proptests::properties::simulated::{self, Setup};
use windtunnel_proptests::strategies::batch_cases;

use crate::batches::told;
use crate::settings::family;

struct Failing;
struct Panicking;

impl Ledger for Failing {
    fn record(&self, _entry: LedgerEntry) -> BoxFuture<'_, Result<(), BoxError>> {
        Box::pin(async { Err(CAUSE.into()) })
    }
}

impl Ledger for Panicking {
    fn record(&self, _entry: LedgerEntry) -> BoxFuture<'_, Result<(), BoxError>> {
        std::panic::resume_unwind(Box::new(CAUSE))
    }
}

impl Sink for Failing {
    fn record(&self, _event: &Event) -> Result<(), BoxError> {
        Err(CAUSE.into())
    }
}

impl Sink for Panicking {
    fn record(&self, _event: &Event) -> Result<(), BoxError> {
        std::panic::resume_unwind(Box::new(CAUSE))
    }
}

pub(crate) fn broken_ports() -> impl Strategy<Value = fn(ExecutorBuilder) -> ExecutorBuilder> {
    let broken: [fn(ExecutorBuilder) -> ExecutorBuilder; 4] = [
        |builder| builder.ledger(Failing),
        |builder| builder.ledger(Panicking),
        |builder| builder.sink(Failing),
        |builder| builder.sink(Panicking),
    ];
    (0..broken.len()).prop_map(move |index| broken[index])
}

proptest! {
    #![proptest_config(family!("ledger"))]

    #[test]
    fn ledgers_and_sinks_that_fail_change_no_result(case in batch_cases(), adjust in broken_ports()) {
        let (with, without) = (calls(&case), calls(&case));
        let broken = Setup { adjust, ..setup(&case) };
        let with = simulated::run(broken, |executor| async move { executor.run_many(with).await.unwrap() })?;
        let without = simulated::run(setup(&case), |executor| async move { executor.run_many(without).await.unwrap() })?;
        let (with, without): (Vec<_>, Vec<_>) =
            (with.output.iter().map(told).collect(), without.output.iter().map(told).collect());
        prop_assert_eq!(with, without);
    }
}
