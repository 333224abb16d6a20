//! Streams between clients and servers, with faults.

use std::collections::VecDeque;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};
use windtunnel_core::BoxFuture;
use windtunnel_core::durable::JournalStore;
use windtunnel_core::durable::remote::{RemoteStore, ServeError, serve};

use crate::durable::stage::env;

pub(crate) const TIMEOUT: Duration = Duration::from_secs(10);

/// What goes wrong on a stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fault {
    /// Bytes that a client can send before the cut.
    pub(crate) sent_max: usize,
    /// Bytes that a client can receive before the cut.
    pub(crate) received_max: usize,
    /// Whether nobody hears of the cut.
    pub(crate) is_silent: bool,
    /// Of the bytes that a client receives (or sends), the place of one that is changed, and how.
    pub(crate) flips_received: Option<(usize, u8)>,
    pub(crate) flips_sent: Option<(usize, u8)>,
}

impl Fault {
    pub(crate) const NONE: Self = Self {
        sent_max: usize::MAX,
        received_max: usize::MAX,
        is_silent: false,
        flips_received: None,
        flips_sent: None,
    };
}

/// A network with one server. Everything runs inside [`Network::run`].
#[derive(Clone)]
pub(crate) struct Network {
    store: Arc<dyn JournalStore>,
    buffer_bytes: usize,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    sessions: Vec<BoxFuture<'static, Result<(), ServeError>>>,
    ended: Vec<Result<(), ServeError>>,
    /// Of the next streams; after the last one all is well.
    faults: VecDeque<Fault>,
    streams: usize,
    traffic: Traffic,
}

/// All bytes that clients sent and received.
#[derive(Clone, Default)]
pub(crate) struct Traffic {
    pub(crate) sent: Vec<u8>,
    pub(crate) received: Vec<u8>,
}

impl Network {
    pub(crate) fn new(store: impl JournalStore + 'static, buffer_bytes: usize) -> Self {
        Self { store: Arc::new(store), buffer_bytes, state: Arc::default() }
    }

    pub(crate) fn with_faults(self, faults: impl IntoIterator<Item = Fault>) -> Self {
        self.state.lock().faults.extend(faults);
        self
    }

    pub(crate) fn client(&self) -> RemoteStore {
        let network = self.clone();
        RemoteStore::new(env(), move || std::future::ready(Ok(network.connect())))
    }

    fn connect(&self) -> Faulty {
        let (near, far) = tokio::io::duplex(self.buffer_bytes);
        let mut state = self.state.lock();
        state.streams += 1;
        state.sessions.push(Box::pin(serve(Arc::clone(&self.store), far)));
        let fault = state.faults.pop_front().unwrap_or(Fault::NONE);
        Faulty { inner: Some(near), fault, sent: 0, received: 0, state: Arc::clone(&self.state) }
    }

    /// How many streams were connected.
    pub(crate) fn streams(&self) -> usize {
        self.state.lock().streams
    }

    pub(crate) fn traffic(&self) -> Traffic {
        self.state.lock().traffic.clone()
    }

    /// How the sessions ended that did.
    pub(crate) fn ended(&self) -> Vec<Result<(), ServeError>> {
        self.state.lock().ended.clone()
    }

    /// Runs a client, and the server at its side; fails if that takes longer than a day.
    pub(crate) async fn run<F: Future>(&self, client: F) -> F::Output {
        let mut client = pin!(env().timeout(Duration::from_secs(86_400), client));
        let output = std::future::poll_fn(|context| {
            let output = client.as_mut().poll(context);
            self.poll_sessions(context);
            output
        });
        output.await.unwrap()
    }

    pub(crate) fn poll_sessions(&self, context: &mut Context<'_>) {
        let sessions = std::mem::take(&mut self.state.lock().sessions);
        for mut session in sessions {
            let polled = session.as_mut().poll(context);
            let mut state = self.state.lock();
            match polled {
                Poll::Ready(end) => state.ended.push(end),
                Poll::Pending => state.sessions.push(session),
            }
        }
    }
}

/// A client's end of a stream.
struct Faulty {
    inner: Option<DuplexStream>,
    fault: Fault,
    sent: usize,
    received: usize,
    state: Arc<Mutex<State>>,
}

impl Faulty {
    fn cut<T>(&mut self) -> Poll<io::Result<T>> {
        if self.fault.is_silent {
            return Poll::Pending;
        }
        self.inner = None;
        Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()))
    }

    fn is_cut(&self) -> bool {
        self.sent >= self.fault.sent_max || self.received >= self.fault.received_max
    }
}

fn flip(bytes: &mut [u8], at: usize, flip: Option<(usize, u8)>) {
    if let Some((place, mask)) = flip
        && let Some(byte) = place.checked_sub(at).and_then(|place| bytes.get_mut(place))
    {
        *byte ^= mask;
    }
}

impl AsyncRead for Faulty {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let left = this.fault.received_max - this.received;
        if this.is_cut() {
            return this.cut();
        }
        let mut bytes = vec![0; buffer.remaining().min(left)];
        let mut limited = ReadBuf::new(&mut bytes);
        let Some(inner) = &mut this.inner else { return Poll::Ready(Ok(())) };
        ready!(Pin::new(inner).poll_read(context, &mut limited))?;
        let count = limited.filled().len();
        flip(&mut bytes[..count], this.received, this.fault.flips_received);
        this.received += count;
        this.state.lock().traffic.received.extend(&bytes[..count]);
        buffer.put_slice(&bytes[..count]);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Faulty {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        let left = this.fault.sent_max - this.sent;
        if this.is_cut() {
            return this.cut();
        }
        let mut bytes = bytes[..bytes.len().min(left)].to_vec();
        flip(&mut bytes, this.sent, this.fault.flips_sent);
        let Some(inner) = &mut this.inner else { return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())) };
        let count = ready!(Pin::new(inner).poll_write(context, &bytes))?;
        this.sent += count;
        this.state.lock().traffic.sent.extend(&bytes[..count]);
        Poll::Ready(Ok(count))
    }

    fn poll_flush(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
