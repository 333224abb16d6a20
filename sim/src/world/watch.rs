//! The alarm for guests that reach past their world, on the world's thread. Without the feature `alarm`, nothing.

#[cfg(feature = "alarm")]
pub(super) use armed::Watch;
#[cfg(not(feature = "alarm"))]
pub(super) use unarmed::Watch;

#[cfg(feature = "alarm")]
mod armed {
    use std::hash::RandomState;
    use std::sync::Arc;
    use std::time::{Duration, SystemTime};

    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::Rng as _;
    use windtunnel_alarm::{Alarm, Policy, Scope, Simulated};
    use windtunnel_core::env::Clock;

    use super::super::clock::WorldClock;
    use super::super::error::WorldError;
    use super::super::leaks::Leaks;
    use super::super::streams::Streams;

    /// How long the machine is up when the world begins: no clock of it shows nothing.
    const UPTIME: Duration = Duration::from_secs(24 * 60 * 60);

    /// What guests are given where the process's clocks and entropy are meant.
    struct WorldSimulated {
        clock: WorldClock,
        generator: ChaCha8Rng,
    }

    /// The alarm, while a world runs.
    pub(in super::super) struct Watch {
        alarm: Option<Alarm>,
    }

    impl Watch {
        /// Begins on this thread. Tasks that libraries spawn with tokio are guests too.
        pub(in super::super) fn begin(leaks: Leaks, clock: WorldClock, streams: &Arc<Streams>) -> Self {
            let policy = match leaks {
                Leaks::Fail => Policy::Note,
                Leaks::Serve => Policy::Serve,
                Leaks::Ignore => return Self { alarm: None },
            };
            let simulated = WorldSimulated { clock, generator: streams.generator("world/entropy") };
            Self { alarm: Some(Alarm::arm(policy, simulated, || tokio::task::try_id().is_some())) }
        }

        /// Makes what guests will use, such as tokio's runtime. The standard library draws the keys of a thread's hash maps
        /// once: they are of the seed from here on, whether or not a map has an order that anybody looks at.
        pub(in super::super) fn prepare<T>(&self, make: impl FnOnce() -> T) -> T {
            let _preparation = windtunnel_alarm::preparation();
            if self.alarm.is_some() {
                let _keys = RandomState::new();
            }
            make()
        }

        /// What follows on this thread is a guest's.
        pub(in super::super) fn guest() -> Scope {
            windtunnel_alarm::guest()
        }

        /// Ends, and gives the first leak.
        pub(in super::super) fn end(self) -> Result<(), WorldError> {
            match self.alarm.and_then(Alarm::disarm) {
                None => Ok(()),
                Some(leaks) => Err(WorldError::Leak {
                    what: leaks.first.to_string(),
                    place: leaks.first.place.to_string(),
                    count: leaks.count,
                }),
            }
        }
    }

    impl Simulated for WorldSimulated {
        fn wall(&self) -> SystemTime {
            self.clock.wall()
        }

        fn monotonic(&self) -> Duration {
            UPTIME + self.clock.now()
        }

        fn fill(&mut self, bytes: &mut [u8]) {
            self.generator.fill_bytes(bytes);
        }
    }
}

#[cfg(not(feature = "alarm"))]
mod unarmed {
    use std::sync::Arc;

    use super::super::clock::WorldClock;
    use super::super::error::WorldError;
    use super::super::leaks::Leaks;
    use super::super::streams::Streams;

    /// No alarm.
    pub(in super::super) struct Watch;

    impl Watch {
        pub(in super::super) fn begin(_: Leaks, _: WorldClock, _: &Arc<Streams>) -> Self {
            Self
        }

        pub(in super::super) fn prepare<T>(&self, make: impl FnOnce() -> T) -> T {
            make()
        }

        pub(in super::super) fn guest() -> Self {
            Self
        }

        pub(in super::super) fn end(self) -> Result<(), WorldError> {
            Ok(())
        }
    }
}
