//! One direction of one connection.

use std::net::{IpAddr, SocketAddr};

use turmoil_net::{Packet, TcpSegment, Transport};

/// From where to where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Flow {
    pub(super) from: SocketAddr,
    pub(super) to: SocketAddr,
}

impl Flow {
    /// The flow and the segment, if the packet is TCP.
    pub(super) fn of(packet: &Packet) -> Option<(Self, &TcpSegment)> {
        match &packet.payload {
            Transport::Tcp(segment) => {
                let from = SocketAddr::new(packet.src, segment.src_port);
                let to = SocketAddr::new(packet.dst, segment.dst_port);
                Some((Self { from, to }, segment))
            }
            Transport::Udp(_) => None,
        }
    }

    pub(super) fn reversed(self) -> Self {
        Self { from: self.to, to: self.from }
    }

    pub(super) fn touches(&self, address: IpAddr) -> bool {
        self.from.ip() == address || self.to.ip() == address
    }
}

/// What is known of a flow.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FlowState {
    /// When its last packet arrives: none overtakes it.
    pub(super) last_arrival_ns: u64,
    /// What the sender expects next and has sent, for a reset that the other side believes.
    pub(super) next_sequence: u32,
    pub(super) has_ended: bool,
    /// The connection is of a life of the receiver that is over.
    pub(super) is_stale: bool,
}
