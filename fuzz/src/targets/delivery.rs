//! Recorded responses that are delivered again, in other pieces.

use windtunnel::fixtures::cassette::{End, Frame, HttpResponse};
use windtunnel::fixtures::delivery::{Cut, CutPoint, Delivery, Grain, Part, Split, Timing, cuts, splits};
use windtunnel::fixtures::wire::{Dialect, View};

/// However a response is split, its bytes and what they say stay, and however it is cut, what comes is its beginning; it comes
/// in order, and what was delivered is delivered again as it came. The first bytes say how: the size of the frames, a step of
/// time, a place, and which split, dialect, end and status.
pub fn delivery(bytes: &[u8]) {
    let Some(([size, step_us, place, choice], body)) = bytes.split_first_chunk() else { return };
    let end = [End::Clean, End::Cut, End::Reset][usize::from(choice % 3)];
    let status = if choice & 4 == 0 { 200 } else { 529 };
    // Time may go back in a file that somebody wrote, and reach as far as it can.
    let at_us = |index: usize| u64::from(*step_us).wrapping_mul(index as u64).wrapping_sub(u64::from(*place));
    let frames = body.chunks(usize::from(*size).max(1)).enumerate();
    let frames: Vec<_> = frames.map(|(index, bytes)| Frame { at_us: at_us(index), bytes: bytes.to_vec() }).collect();
    let end_us = at_us(frames.len());
    let response = HttpResponse { status, headers: Vec::new(), head_us: at_us(3), frames, end, end_us };

    let place = usize::from(*place);
    let offsets = body.iter().take(4).map(|byte| usize::from(*byte) * (place + 1)).collect();
    let ways = [Split::AsRecorded, Split::Whole, Split::EveryByte, Split::PerEvent, Split::At(offsets)];
    let split = ways[usize::from(choice >> 3 & 7) % ways.len()].clone();
    let dialect = Dialect::ALL[usize::from(choice >> 6) % Dialect::ALL.len()];
    let factor = [1.0, 0.0, -1.0, 0.3, f64::NAN, f64::INFINITY, 1e300, 2.0][usize::from(step_us % 8)];
    let expected = says(dialect, &response);
    for timing in [Timing::Recorded, Timing::Fast, Timing::Scaled(factor)] {
        let whole = Delivery { timing, split: split.clone(), cut: None };
        let applied = check_all_comes(&whole, &response);
        if timing == Timing::Recorded {
            assert_eq!(says(dialect, &applied), expected, "{dialect:?} {whole:?}");
        }
        for after in [CutPoint::Bytes(place), CutPoint::Bytes(body.len() / 2), CutPoint::Frames(place % 7)] {
            check(&Delivery { cut: Some(Cut { after, end }), ..whole.clone() }, &response);
        }
    }
    if let Some(delivery) = splits(&response).nth(place) {
        let applied = check_all_comes(&delivery, &response);
        assert_eq!(says(dialect, &applied), expected, "{dialect:?} {delivery:?}");
    }
    for grain in [Grain::Frames, Grain::Events, Grain::Bytes] {
        if let Some(delivery) = cuts(&response, grain).nth(place) {
            check(&delivery, &response);
        }
    }
}

fn says(dialect: Dialect, response: &HttpResponse) -> String {
    format!("{:?}", View::of_response(dialect, response).response())
}

/// All that comes of a response that is not cut.
fn check_all_comes(delivery: &Delivery, response: &HttpResponse) -> HttpResponse {
    let applied = check(delivery, response);
    assert_eq!(applied.body(), response.body(), "{delivery:?}");
    assert_eq!(applied.end, response.end);
    applied
}

/// What comes of a response that is delivered so.
fn check(delivery: &Delivery, response: &HttpResponse) -> HttpResponse {
    let (mut last_us, mut is_over) = (0, false);
    for (number, step) in delivery.steps(response).enumerate() {
        assert!(step.at_us >= last_us && !is_over, "{delivery:?}");
        assert_eq!(step.part == Part::Head, number == 0);
        (last_us, is_over) = (step.at_us, matches!(step.part, Part::End(_)));
        if let Part::Bytes(bytes) = step.part {
            assert!(!bytes.is_empty(), "{delivery:?}");
        }
    }
    assert!(is_over);
    let applied = delivery.applied(response);
    let length = match delivery.cut.map(|cut| cut.after) {
        None => usize::MAX,
        Some(CutPoint::Bytes(count)) => count,
        Some(CutPoint::Frames(count)) => response.frames.iter().take(count).map(|frame| frame.bytes.len()).sum(),
    };
    let whole = response.body();
    assert_eq!(applied.body(), whole[..whole.len().min(length)], "{delivery:?}");
    assert_eq!(Delivery::default().applied(&applied), applied);
    applied
}
