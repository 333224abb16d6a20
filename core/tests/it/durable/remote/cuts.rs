//! A stream that is cut after any byte, either way, heard or not.

use windtunnel_core::durable::MemoryStore;

use super::network::{Fault, Network};
use super::talk::{Talk, essence};
use crate::durable::stage::env;

/// Holds a conversation under a fault, and gives the essence of what is kept, how many calls failed and the network.
async fn talk(fault: Fault) -> (serde_json::Value, usize, Network) {
    let kept = MemoryStore::new(env());
    let network = Network::new(kept.clone(), 64).with_faults([fault]);
    let client = network.client();
    let mut talk = Talk::new(&client, &kept);
    let history = network.run(talk.whole()).await;
    (essence(&history), talk.failures, network)
}

#[tokio::test(start_paused = true)]
async fn a_cut_anywhere_loses_one_answer_at_most_and_nothing_that_was_acknowledged() {
    let (whole, failures, network) = talk(Fault::NONE).await;
    assert_eq!((failures, network.streams()), (0, 1));
    let traffic = network.traffic();
    let (mut lost, mut cuts) = (0, 0);
    for is_silent in [false, true] {
        let sent = (0..traffic.sent.len()).map(|sent_max| Fault { sent_max, is_silent, ..Fault::NONE });
        let received = (0..traffic.received.len()).map(|received_max| Fault { received_max, is_silent, ..Fault::NONE });
        // Every place is as good as its neighbours, and each conversation takes milliseconds.
        for fault in sent.chain(received).step_by(if is_silent { 11 } else { 3 }) {
            let (essence, failures, network) = talk(fault).await;
            assert_eq!(essence, whole, "{fault:?}");
            assert!(failures <= 1, "{failures} calls failed after {fault:?}");
            assert_eq!(network.streams(), 2, "{fault:?}");
            lost += failures;
            cuts += 1;
        }
    }
    assert!(cuts > 1000 && lost > cuts * 9 / 10, "{lost} of {cuts} cuts were heard of");
}

#[tokio::test(start_paused = true)]
async fn a_byte_that_is_changed_anywhere_is_never_believed() {
    let (whole, _, network) = talk(Fault::NONE).await;
    let traffic = network.traffic();
    // A pattern that hits high and low bits, digits and quotes.
    let mask = |place: usize| (place.wrapping_mul(151) % 255 + 1) as u8;
    let sent = (0..traffic.sent.len()).map(|place| Fault { flips_sent: Some((place, mask(place))), ..Fault::NONE });
    let received =
        (0..traffic.received.len()).map(|place| Fault { flips_received: Some((place, mask(place))), ..Fault::NONE });
    for fault in sent.chain(received).step_by(7) {
        let (essence, failures, network) = talk(fault).await;
        assert_eq!(essence, whole, "{fault:?}");
        // A length that is changed makes its reader wait for bytes that do not come.
        assert!(failures == 1, "{failures} calls failed after {fault:?}");
        assert_eq!(network.streams(), 2, "{fault:?}");
    }
}
