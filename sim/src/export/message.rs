//! Which bytes that were received are those that were sent.

use std::collections::{BTreeMap, VecDeque};

use windtunnel_core::event::{Event, EventKind};

/// Bytes on their way: the two events of one message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message<'a> {
    pub(super) sent: &'a Event,
    /// The event that took its first bytes.
    pub(super) received: &'a Event,
}

/// What was sent and not yet received, from one host to another.
type Pending<'a> = BTreeMap<(&'a str, &'a str), VecDeque<(&'a Event, usize, bool)>>;

/// The messages of a trace, in the order in which they arrived.
///
/// Events do not say of which connection they are: of two between the same hosts at once, the bytes that were sent first
/// are taken to arrive first.
pub(super) fn messages(events: &[Event]) -> Vec<Message<'_>> {
    let mut pending = Pending::new();
    let mut messages = Vec::new();
    for event in events {
        let Some(host) = event.host.as_deref() else { continue };
        match &event.kind {
            EventKind::NetworkSend { to, bytes } => {
                pending.entry((host, to)).or_default().push_back((event, *bytes, true));
            }
            EventKind::NetworkReceive { from, bytes } => {
                if let Some(sent) = pending.get_mut(&(&**from, host)) {
                    receive(sent, *bytes, event, &mut messages);
                }
            }
            EventKind::LinkReset { to } => {
                pending.retain(|(one, other), _| (*one, *other) != (host, &**to) && (*one, *other) != (&**to, host));
            }
            EventKind::HostCrashed {} | EventKind::HostPowerCut {} => {
                pending.retain(|(one, other), _| *one != host && *other != host);
            }
            _ => {}
        }
    }
    messages
}

fn receive<'a>(
    pending: &mut VecDeque<(&'a Event, usize, bool)>,
    mut bytes: usize,
    received: &'a Event,
    messages: &mut Vec<Message<'a>>,
) {
    while let Some((sent, left, is_first)) = pending.front_mut().filter(|_| bytes > 0) {
        if std::mem::take(is_first) {
            messages.push(Message { sent, received });
        }
        let taken = bytes.min(*left);
        (bytes, *left) = (bytes - taken, *left - taken);
        if *left == 0 {
            pending.pop_front();
        }
    }
}
