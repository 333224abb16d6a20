//! Tests in one piece.

/// Declares a test that runs a scenario in a [`Campaign`](crate::Campaign). If it fails, the test's message is the failure's
/// story: the seed, the faults, the smallest run that was found, its last events, and the line that repeats it. **Nothing goes
/// wrong unless the campaign says so**, as here:
///
/// ```
/// use windtunnel_core::BoxError;
/// use windtunnel_sim::{Campaign, RandomFaults, explored}; // or `windtunnel::sim`
///
/// explored! {
///     /// Whatever goes wrong.
///     fn a_payment_is_made_once(world in Campaign::new().random_faults(RandomFaults::swarm())) {
///         let pay = || async {
///             world.effects().happen_once("payment", "refund-7").await;
///             Ok::<_, BoxError>(())
///         };
///         let minute = std::time::Duration::from_secs(60);
///         while !matches!(world.env().timeout(minute, world.faults().call("pay", pay)).await, Ok(Ok(()))) {}
///         assert_eq!(world.effects().count("payment"), 1);
///     }
/// }
/// ```
#[macro_export]
macro_rules! explored {
    ($($(#[$attribute:meta])* fn $name:ident($world:ident in $campaign:expr) $body:block)*) => {
        $($(#[$attribute])*
        #[test]
        fn $name() {
            if let Err(error) = $campaign.run(|$world: $crate::WorldHandle| async move { $body; }) {
                panic!("{error}");
            }
        })*
    };
}

/// Declares a test that sweeps a scenario: every fault at every event where it can come ([`Campaign::sweep`](crate::Campaign::sweep)).
///
/// ```
/// use windtunnel_core::BoxError;
/// use windtunnel_sim::{Campaign, swept};
///
/// swept! {
///     fn a_payment_is_made_once(world in Campaign::new()) {
///         let pay = || async {
///             world.effects().happen_once("payment", "refund-7").await;
///             Ok::<_, BoxError>(())
///         };
///         let minute = std::time::Duration::from_secs(60);
///         while !matches!(world.env().timeout(minute, world.faults().call("pay", pay)).await, Ok(Ok(()))) {}
///         assert_eq!(world.effects().count("payment"), 1);
///     }
/// }
/// ```
#[macro_export]
macro_rules! swept {
    ($($(#[$attribute:meta])* fn $name:ident($world:ident in $campaign:expr) $body:block)*) => {
        $($(#[$attribute])*
        #[test]
        fn $name() {
            if let Err(error) = $campaign.sweep(|$world: $crate::WorldHandle| async move { $body; }) {
                panic!("{error}");
            }
        })*
    };
}
