//! When a segment that did not get through is sent again, as Linux does it.

use std::time::Duration;

/// The wait before the first retransmission; each further one is twice as long.
const FIRST_NS: u64 = 200_000_000;
/// The longest wait.
const LONGEST_NS: u64 = 120_000_000_000;
/// How long a segment is sent again before its connection is given up.
pub(super) const GIVEN_UP_AFTER_NS: u64 = 924_600_000_000;
/// How long a connection is tried for (`ETIMEDOUT`).
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(127);

/// The first retransmission at or after `now_ns` of what was sent at `sent_ns`.
pub(super) fn next_ns(sent_ns: u64, now_ns: u64) -> u64 {
    let (mut at_ns, mut wait_ns) = (sent_ns.saturating_add(FIRST_NS), FIRST_NS);
    while at_ns < now_ns && wait_ns < LONGEST_NS {
        wait_ns = (wait_ns * 2).min(LONGEST_NS);
        at_ns = at_ns.saturating_add(wait_ns);
    }
    if at_ns < now_ns {
        let missing = (now_ns - at_ns).div_ceil(LONGEST_NS);
        at_ns = at_ns.saturating_add(missing.saturating_mul(LONGEST_NS));
    }
    at_ns
}

/// When it gets through, if so many in a row are lost.
pub(super) fn after_losses_ns(sent_ns: u64, losses: u32) -> u64 {
    (0..losses).fold(sent_ns, |at_ns, _| next_ns(sent_ns, at_ns.saturating_add(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    #[test]
    fn waits_double_up_to_two_minutes() {
        let at = |now_ns| next_ns(0, now_ns) / 1_000_000;
        assert_eq!([0, 1, 200_000_000].map(at), [200; 3]);
        assert_eq!([200_000_001, 600_000_000].map(at), [600; 2]);
        assert_eq!(at(600_000_001), 1_400);
        assert_eq!(at(1_400_000_001), 3_000);
        // 0.2 × (2^10 − 1) = 204.6 s, and from there every 120 s.
        assert_eq!(at(204_600_000_000 - 1), 204_600);
        assert_eq!(at(204_600_000_001), 324_600);
        assert_eq!(at(86_400 * SECOND_NS), 204_600 + 120_000 * 719);
    }

    #[test]
    fn each_loss_is_one_retransmission_more() {
        let at = |losses| after_losses_ns(SECOND_NS, losses) / 1_000_000;
        assert_eq!([0, 1, 2, 3].map(at), [1_000, 1_200, 1_600, 2_400]);
    }
}
