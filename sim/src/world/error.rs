//! Why a world came to no end.

use std::time::Duration;

use super::activity::Activity;
use super::waiting::Waiting;
use crate::AssertionKind;

/// A scenario came to no end.
#[derive(Debug, thiserror::Error)]
pub enum WorldError {
    /// It panicked, as a failed assertion does.
    #[error("the scenario panicked: {message}")]
    Panicked {
        /// The panic's text.
        message: String,
    },
    /// It ended with an error.
    #[error("{problem}")]
    Failed {
        /// What the error says.
        problem: String,
    },
    /// An assertion does not hold.
    #[error("the assertion {assertion:?} does not hold")]
    AssertionFailed {
        /// Its name.
        assertion: String,
    },
    /// One name is asserted in two ways, which say different things of a campaign.
    #[error(
        "the assertion {assertion:?} is of two kinds, {} and {}: give each a name of its own", kinds[0].name(), kinds[1].name()
    )]
    AmbiguousAssertion {
        /// Its name.
        assertion: String,
        /// The first kind, and the other one.
        kinds: [AssertionKind; 2],
    },
    /// A link was given settings that mean nothing.
    #[error("a packet cannot be lost with a likelihood of {loss}; it must be a number from 0 to 1")]
    InvalidLoss {
        /// What was given as [`LinkSettings::loss`](crate::LinkSettings::loss).
        loss: f64,
    },
    /// The plan of faults names a host that was never there: a misspelt name.
    #[error("fault {index} of the plan is about the host {host:?}, and there was none of that name; {}", known(.hosts))]
    UnknownHost {
        /// The place of the fault in the plan, from 0.
        index: usize,
        /// The name.
        host: String,
        /// The hosts that there were.
        hosts: Vec<String>,
    },
    /// Faults were planned, and none came: the run tests nothing.
    #[error("of {planned} planned faults none came: their events did not, or there was nothing for them to act on")]
    NoFaultDelivered {
        /// How many were planned.
        planned: usize,
    },
    /// Everything waits and no timer is armed.
    #[error(
        "nothing is left to happen: every task waits, and none for a time before the world's limit; what hangs without \
         a timeout, or waits for a thread or for input from outside, does so forever{waiting}"
    )]
    Stuck {
        /// Who waits for what.
        waiting: Waiting,
    },
    /// The world's time ran out.
    #[error("the world's time ran out after {limit:?}: something waits or retries without end{activity}{waiting}")]
    TimeLimit {
        /// The limit ([`World::time_limit`](crate::World::time_limit)).
        limit: Duration,
        /// Who went on, and what happened again and again.
        activity: Activity,
        /// Who waits for what.
        waiting: Waiting,
    },
    /// There were too many events.
    #[error("over {events_max} events: something goes on without end{activity}")]
    TooManyEvents {
        /// The limit ([`World::events_max`](crate::World::events_max)).
        events_max: u64,
        /// Who went on, and what happened again and again.
        activity: Activity,
    },
    /// Something never waits for anything.
    #[error("tasks were polled {polls} times without time moving: one wakes itself and never waits{activity}")]
    Spinning {
        /// How often they were polled.
        polls: u64,
        /// Who went on, and what happened again and again.
        activity: Activity,
    },
    /// A guest reached past the world (`World::leaks`, feature `alarm`): its run may not follow from the seed.
    #[error("the guest {what} {place}; leaks: {count}; ask `Env` instead, or choose `Leaks::Serve`")]
    Leak {
        /// What it did first.
        what: String,
        /// Where.
        place: String,
        /// How often it reached past the world.
        count: u64,
    },
    /// The system has no thread or runtime for the world.
    #[error("the world's thread did not start")]
    Thread(#[source] std::io::Error),
}

fn known(hosts: &[String]) -> String {
    if hosts.is_empty() { "there were no hosts".to_owned() } else { format!("there were: {}", hosts.join(", ")) }
}
