//! A client's stream: connected when it is needed, lost for ever when anything is wrong with it.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite};

use super::error::{ProtocolError, RemoteError};
use super::exchange::Exchange;
use super::frame::{FrameError, FrameReader, FrameWriter};
use super::message::{ErrorCode, read_response, request_frame};
use super::request::{Request, VERSION};
use crate::BoxFuture;

/// The identifier of `hello`; calls count from 1.
const HELLO_ID: u64 = 0;

/// A stream of bytes both ways.
pub(super) trait Duplex: AsyncRead + AsyncWrite + Send {}

impl<S: AsyncRead + AsyncWrite + Send> Duplex for S {}

type BoxDuplex = Pin<Box<dyn Duplex>>;

/// How a client gets a stream.
pub(super) type Connect = Box<dyn Fn() -> BoxFuture<'static, io::Result<BoxDuplex>> + Send + Sync>;

/// The calls and the stream that they use.
pub(super) struct Line {
    connect: Connect,
    link: Link,
    streams: u64,
    pub(super) exchange: Exchange,
}

enum Link {
    Down,
    Connecting(BoxFuture<'static, io::Result<BoxDuplex>>),
    Up(Connection),
}

/// How far a line was.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    streams: u64,
    heard: u64,
}

impl Line {
    pub(super) fn new(connect: Connect) -> Self {
        Self { connect, link: Link::Down, streams: 0, exchange: Exchange::default() }
    }

    /// Writes and reads all that is possible without waiting. Connects only if there is something to send.
    pub(super) fn drive(&mut self, context: &mut Context<'_>) {
        if let Err(error) = self.try_drive(context) {
            self.fail(&error);
        }
    }

    fn try_drive(&mut self, context: &mut Context<'_>) -> Result<(), RemoteError> {
        loop {
            match &mut self.link {
                Link::Down if !self.exchange.has_outgoing() => return Ok(()),
                Link::Down => {
                    self.streams += 1;
                    self.link = Link::Connecting((self.connect)());
                }
                Link::Connecting(connecting) => match connecting.as_mut().poll(context) {
                    Poll::Pending => return Ok(()),
                    Poll::Ready(Err(error)) => return Err(RemoteError::Connect(Arc::new(error))),
                    Poll::Ready(Ok(stream)) => self.link = Link::Up(Connection::new(stream)?),
                },
                Link::Up(connection) => return connection.exchange(&mut self.exchange, context),
            }
        }
    }

    fn fail(&mut self, error: &RemoteError) {
        self.link = Link::Down;
        self.exchange.fail(error);
    }

    /// To be asked again later by [`Line::give_up`].
    pub(super) fn mark(&self) -> Mark {
        Mark { streams: self.streams, heard: self.exchange.heard() }
    }

    /// Gives the stream up if nothing came on it since this call's request was sent; if it was not sent, then if nothing
    /// came, and no other stream was connected, since the mark.
    pub(super) fn give_up(&mut self, id: u64, since: Mark) {
        let since = Mark { heard: self.exchange.heard_before(id).unwrap_or(since.heard), ..since };
        if self.mark() == since && !matches!(self.link, Link::Down) {
            self.fail(&RemoteError::Silent);
        }
    }
}

/// A stream that is connected.
struct Connection {
    stream: BoxDuplex,
    reader: FrameReader,
    writer: FrameWriter,
    /// Until the server has agreed to the version nothing else is sent.
    is_greeted: bool,
    hello: Option<Vec<u8>>,
}

impl Connection {
    fn new(stream: BoxDuplex) -> Result<Self, FrameError> {
        let hello = Some(request_frame(HELLO_ID, &Request::Hello { version: VERSION })?);
        Ok(Self { stream, reader: FrameReader::default(), writer: FrameWriter::default(), is_greeted: false, hello })
    }

    fn exchange(&mut self, exchange: &mut Exchange, context: &mut Context<'_>) -> Result<(), RemoteError> {
        loop {
            let Self { stream, writer, hello, is_greeted, .. } = self;
            let next = || if *is_greeted { exchange.next_frame() } else { hello.take() };
            let written = writer.poll_write(stream.as_mut(), context, next);
            match self.reader.poll_next(self.stream.as_mut(), context) {
                Poll::Ready(Ok(Some(text))) => self.hear(&text, exchange)?,
                Poll::Ready(Ok(None)) => return Err(RemoteError::Closed),
                Poll::Ready(Err(error)) => return Err(error.into()),
                // What a server says before it closes its side is worth more than that nothing can be written.
                Poll::Pending => match written {
                    Poll::Ready(Err(error)) => return Err(FrameError::from(error).into()),
                    Poll::Ready(Ok(())) | Poll::Pending => return Ok(()),
                },
            }
        }
    }

    fn hear(&mut self, text: &str, exchange: &mut Exchange) -> Result<(), RemoteError> {
        let response = read_response(text)?;
        exchange.count_heard();
        if self.is_greeted || response.id != Some(HELLO_ID) {
            return exchange.hear(response);
        }
        match response.outcome {
            Ok(result) if result["version"] == VERSION => {
                self.is_greeted = true;
                Ok(())
            }
            Ok(_) | Err(ErrorCode::UnknownVersion) => Err(ProtocolError::UnknownVersion.into()),
            Err(code) => Err(RemoteError::Refused { code }),
        }
    }
}
