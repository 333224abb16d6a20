//! The server's side of a stream.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_util::stream::{FuturesUnordered, StreamExt};
use tokio::io::{AsyncRead, AsyncWrite};

use super::dispatch::answer;
use super::error::ProtocolError;
use super::exchange::REQUESTS_IN_FLIGHT_MAX;
use super::frame::{FrameError, FrameReader, FrameWriter};
use super::message::{ErrorCode, Incoming, read_request, response_frame};
use super::request::Request;
use crate::BoxFuture;
use crate::durable::store::JournalStore;

/// Requests that are read before others of the task run.
const REQUESTS_A_POLL_MAX: usize = 64;

/// A stream was not served to its end.
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The stream failed, or what came on it was damaged.
    #[error("the stream of a client cannot be used any more; see the cause")]
    Frame(#[from] FrameError),
    /// The client breaks the protocol. It was told so.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
}

/// As the message: a cause is not shown.
impl fmt::Debug for ServeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ServeError({self})")
    }
}

/// Answers a client's requests on one stream from a store, until the client closes the stream.
///
/// At most 64 requests run at once, all inside this future; while as many run or wait until their answers are written,
/// nothing more is read. When the client closes the stream, what runs is finished; when the stream breaks or the client
/// breaks the protocol, what runs is dropped, as it is with this future. A dropped call of a store happens or does not.
///
/// There is no time limit: a client that neither reads nor closes its stream holds this future, but nothing else. See [the
/// module](super) for an example.
///
/// # Errors
/// [`ServeError`] if the stream fails, is damaged, ends in the middle of a request, or holds what the protocol does not
/// allow. A method that is unknown and parameters that are wrong are answered, and are no error here.
pub async fn serve(store: Arc<dyn JournalStore>, stream: impl AsyncRead + AsyncWrite) -> Result<(), ServeError> {
    let mut stream = pin!(stream);
    let mut session = Session {
        store,
        reader: FrameReader::default(),
        writer: FrameWriter::default(),
        running: FuturesUnordered::new(),
        ids: BTreeSet::new(),
        answers: VecDeque::new(),
        is_greeted: false,
        end: None,
    };
    std::future::poll_fn(|context| session.poll(stream.as_mut(), context)).await
}

type Answer = (u64, Result<String, ErrorCode>);

struct Session {
    store: Arc<dyn JournalStore>,
    reader: FrameReader,
    writer: FrameWriter,
    running: FuturesUnordered<BoxFuture<'static, Answer>>,
    /// Of what runs.
    ids: BTreeSet<u64>,
    /// Frames to be written.
    answers: VecDeque<Vec<u8>>,
    is_greeted: bool,
    /// Once nothing more is read.
    end: Option<Result<(), ServeError>>,
}

impl Session {
    fn poll(
        &mut self,
        mut stream: Pin<&mut (impl AsyncRead + AsyncWrite)>,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), ServeError>> {
        for _ in 0..REQUESTS_A_POLL_MAX {
            while let Poll::Ready(Some(answer)) = self.running.poll_next_unpin(context) {
                self.put(answer)?;
            }
            match self.writer.poll_write(stream.as_mut(), context, || self.answers.pop_front()) {
                // The client does not wait for more.
                Poll::Ready(Err(error)) => return Poll::Ready(self.end.take().unwrap_or(Err(broken(error)))),
                Poll::Ready(Ok(())) | Poll::Pending => {}
            }
            let in_flight = self.running.len() + self.answers.len() + usize::from(!self.writer.is_written());
            if self.end.is_some() {
                if in_flight > 0 || !self.writer.is_idle() {
                    return Poll::Pending;
                }
                return Poll::Ready(self.end.take().unwrap_or(Ok(())));
            }
            if in_flight >= REQUESTS_IN_FLIGHT_MAX {
                return Poll::Pending;
            }
            match ready!(self.reader.poll_next(stream.as_mut(), context)) {
                Ok(Some(text)) => self.take(&text)?,
                Ok(None) => self.end = Some(Ok(())),
                Err(error) => return Poll::Ready(Err(error.into())),
            }
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }

    /// Begins what a client asks for.
    fn take(&mut self, text: &str) -> Result<(), ServeError> {
        let Incoming { id, request } = match read_request(text) {
            Ok(incoming) => incoming,
            Err(ProtocolError::NotJson) => return self.refuse(None, ErrorCode::NotJson, ProtocolError::NotJson),
            Err(error) => return self.refuse(None, ErrorCode::NotRequest, error),
        };
        if self.ids.contains(&id) {
            return self.refuse(None, ErrorCode::NotRequest, ProtocolError::IdInFlight);
        }
        match &request {
            Ok(Request::Hello { .. }) if self.is_greeted => {
                return self.refuse(Some(id), ErrorCode::HelloMisplaced, ProtocolError::HelloMisplaced);
            }
            Ok(Request::Hello { version }) if *version != super::request::VERSION => {
                return self.refuse(Some(id), ErrorCode::UnknownVersion, ProtocolError::UnknownVersion);
            }
            Ok(Request::Hello { .. }) => self.is_greeted = true,
            _ if !self.is_greeted => {
                return self.refuse(Some(id), ErrorCode::HelloMisplaced, ProtocolError::HelloMisplaced);
            }
            _ => {}
        }
        match request {
            Err(code) => self.put((id, Err(code))),
            Ok(request) => {
                let answer = answer(Arc::clone(&self.store), request);
                self.ids.insert(id);
                self.running.push(Box::pin(async move { (id, answer.await) }));
                Ok(())
            }
        }
    }

    /// Puts an answer where it will be written.
    fn put(&mut self, (id, outcome): Answer) -> Result<(), ServeError> {
        self.ids.remove(&id);
        let outcome = outcome.as_deref().map_err(|code| *code);
        let frame = response_frame(Some(id), outcome)
            .or_else(|_too_long| response_frame(Some(id), Err(ErrorCode::Unanswerable)))?;
        self.answers.push_back(frame);
        Ok(())
    }

    /// Says why, drops what runs, and ends.
    fn refuse(&mut self, id: Option<u64>, code: ErrorCode, error: ProtocolError) -> Result<(), ServeError> {
        self.answers.push_back(response_frame(id, Err(code))?);
        self.running.clear();
        self.ids.clear();
        self.end = Some(Err(error.into()));
        Ok(())
    }
}

fn broken(error: io::Error) -> ServeError {
    FrameError::from(error).into()
}
