//! The network between hosts: sockets and TCP from `turmoil-net`, delivery from event to event.
//!
//! `turmoil-net` counts retransmissions in passes over its queues, not in time, so they are switched off there: a segment
//! that is lost or held up is delivered later, when a retransmission of it would have come through. TCP stays what its users
//! see of it: bytes in order, or an error.

mod fabric;
mod flow;
mod link;
mod names;
mod reset;
mod retransmission;
mod socket;

pub(crate) use fabric::{Fabric, PLACES_MAX, Place};
pub(crate) use link::Disturbance;
pub use link::LinkSettings;
pub(crate) use socket::{Port, Sockets};
pub use socket::{TcpListener, TcpStream};
