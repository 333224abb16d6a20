//! Responses of models: server-sent events, and what they say in each dialect.

use windtunnel::fixtures::cassette::{End, Frame, HttpResponse};
use windtunnel::fixtures::wire::{Dialect, EventParser, Reader, View};

/// What is read does not depend on the pieces in which the bytes come. The first byte says how long they are.
pub fn stream(bytes: &[u8]) {
    let Some((size, body)) = bytes.split_first() else { return };
    let size = usize::from(*size).max(1);
    assert_eq!(events(body.chunks(size)), events([body].into_iter()));
    for dialect in Dialect::ALL {
        assert_eq!(read(dialect, body.chunks(size)), read(dialect, [body].into_iter()), "{dialect:?}");
        for (status, end) in [(200, End::Clean), (200, End::Reset), (429, End::Clean), (0, End::Cut)] {
            let frames = body.chunks(size).map(Frame::new).collect();
            let response = HttpResponse { status, headers: Vec::new(), head_us: 0, frames, end, end_us: 0 };
            let view = View::of_response(dialect, &response);
            assert!(status == 200 || view.response().is_err());
        }
    }
}

fn events<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> String {
    let (mut parser, mut events) = (EventParser::new(4096), Vec::new());
    let read: Result<Vec<()>, _> = pieces.map(|piece| parser.push(piece, &mut events)).collect();
    format!("{events:?} {:?}", read.err())
}

fn read<'a>(dialect: Dialect, pieces: impl Iterator<Item = &'a [u8]>) -> String {
    let mut reader = Reader::new(dialect);
    let deltas: Vec<_> = pieces.flat_map(|piece| reader.push(piece)).collect();
    format!("{deltas:?} {:?}", reader.end(End::Clean))
}
