//! Packets that break a connection.

use turmoil_net::{Packet, TcpFlags, TcpSegment, Transport};

use super::flow::Flow;

const TTL: u8 = 64;

/// What tells the receiver of `flow` that its connection is gone.
pub(super) fn reset(flow: Flow, sequence: u32) -> Packet {
    let flags = TcpFlags { rst: true, ack: true, ..TcpFlags::default() };
    let segment = TcpSegment {
        src_port: flow.from.port(),
        dst_port: flow.to.port(),
        seq: sequence,
        ack: 0,
        flags,
        window: 0,
        payload: Default::default(),
    };
    Packet { src: flow.from.ip(), dst: flow.to.ip(), ttl: TTL, payload: Transport::Tcp(segment) }
}

/// The answer to a segment for a connection that nobody knows.
pub(super) fn answer(flow: Flow, segment: &TcpSegment) -> Packet {
    let mut packet = reset(flow.reversed(), segment.ack);
    if let Transport::Tcp(answer) = &mut packet.payload {
        answer.ack = segment.seq.wrapping_add(length(segment));
    }
    packet
}

/// How far a segment moves the sequence.
pub(super) fn length(segment: &TcpSegment) -> u32 {
    // A segment is at most as long as the largest packet.
    segment.payload.len() as u32 + u32::from(segment.flags.syn) + u32::from(segment.flags.fin)
}
