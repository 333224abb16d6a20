//! Sockets that know their host, so that they work in any task.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};

use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use turmoil_net::HostId;
use turmoil_net::shim::tokio::net as shim;
use windtunnel_core::env::Env;
use windtunnel_core::event::{Emitter, EventKind};

use super::fabric::{is_up, touch};
use super::names::Names;
use super::retransmission::CONNECT_TIMEOUT;
use crate::world::subject_of_world;

/// The network as one life of a host sees it. When that is over, nothing of it answers any more.
#[derive(Clone)]
pub(crate) struct Port {
    pub(crate) host: HostId,
    pub(crate) is_frozen: Arc<AtomicBool>,
    pub(crate) sockets: Sockets,
    pub(crate) env: Env,
    pub(crate) emitter: Emitter,
    pub(crate) names: Names,
}

/// The sockets that one life of a host has, in whatever task they are.
#[derive(Clone, Default)]
pub(crate) struct Sockets {
    opened: Arc<Mutex<Opened>>,
}

#[derive(Default)]
struct Opened {
    sockets: Vec<Weak<Mutex<Option<Inner>>>>,
    swept_at: usize,
}

/// What the socket stack knows.
enum Inner {
    Connecting(Connect),
    Listener(shim::TcpListener),
    Stream(shim::TcpStream),
}

type Connect = Pin<Box<dyn Future<Output = io::Result<shim::TcpStream>> + Send>>;

/// A socket of a life.
struct Socket {
    inner: Arc<Mutex<Option<Inner>>>,
    port: Port,
    /// Who is at the other end; for a listener, its own port.
    peer: Arc<str>,
}

impl Sockets {
    fn keep(&self, inner: Inner) -> Arc<Mutex<Option<Inner>>> {
        let socket = Arc::new(Mutex::new(Some(inner)));
        let mut opened = self.opened.lock();
        if opened.sockets.len() >= opened.swept_at {
            opened.sockets.retain(|socket| socket.strong_count() > 0);
            opened.swept_at = (2 * opened.sockets.len()).max(64);
        }
        opened.sockets.push(Arc::downgrade(&socket));
        socket
    }

    /// Closes them as an operating system does, also those that tasks of libraries still hold.
    pub(crate) fn close_all(&self, host: HostId) {
        let opened = std::mem::take(&mut self.opened.lock().sockets);
        for socket in opened.iter().filter_map(Weak::upgrade) {
            close(host, socket.lock().take());
        }
    }
}

/// Drops what the stack knows of a socket, if there still is a network that it belongs to.
fn close(host: HostId, inner: Option<Inner>) {
    if is_up() {
        turmoil_net::set_current(host);
        drop(inner);
        touch();
    } else {
        std::mem::forget(inner);
    }
}

impl Port {
    fn socket(&self, inner: Inner, peer: Arc<str>) -> Socket {
        Socket { inner: self.sockets.keep(inner), port: self.clone(), peer }
    }

    pub(crate) async fn listen(self, port: u16) -> io::Result<TcpListener> {
        let any = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), port);
        let mut binding = Box::pin(shim::TcpListener::bind(any));
        let bound = std::future::poll_fn(|context| {
            if self.is_frozen.load(Ordering::Relaxed) || !is_up() {
                return Poll::Pending;
            }
            turmoil_net::set_current(self.host);
            binding.as_mut().poll(context)
        });
        let listener = bound.await?;
        Ok(TcpListener { socket: self.socket(Inner::Listener(listener), format!("port {port}").into()) })
    }

    pub(crate) async fn connect(self, address: SocketAddr, host: &str) -> io::Result<TcpStream> {
        let (host, port): (Arc<str>, u16) = (host.into(), address.port());
        let to = Arc::clone(&host);
        self.emitter.emit(&subject_of_world(), || EventKind::NetworkConnect { to, port }).await;
        let peer: Arc<str> = format!("{host}:{port}").into();
        let connecting = Inner::Connecting(Box::pin(shim::TcpStream::connect(address)));
        let socket = self.socket(connecting, Arc::clone(&peer));
        let connected = std::future::poll_fn(|context| {
            let polled = socket.poll("a connection to", |inner| match inner {
                Inner::Connecting(connecting) => connecting.as_mut().poll(context),
                Inner::Listener(_) | Inner::Stream(_) => Poll::Pending,
            });
            // The first poll sends.
            touch();
            polled
        });
        match self.env.timeout(CONNECT_TIMEOUT, connected).await {
            Ok(stream) => {
                Ok(TcpStream { socket: self.socket(Inner::Stream(stream?), peer), host, is_announced: false })
            }
            Err(_elapsed) => Err(io::ErrorKind::TimedOut.into()),
        }
    }
}

impl Socket {
    /// Acts on the socket; never, if its life is over. What waits has changed nothing, unless the caller says so. It waits
    /// for something of its peer, such as "data from".
    fn poll<T>(&self, awaited: &str, act: impl FnOnce(&mut Inner) -> Poll<T>) -> Poll<T> {
        let mut inner = self.inner.lock();
        match &mut *inner {
            Some(inner) if is_up() && !self.port.is_frozen.load(Ordering::Relaxed) => {
                turmoil_net::set_current(self.port.host);
                let polled = act(inner);
                if polled.is_ready() {
                    touch();
                } else if let Some(waits) = self.port.env.waits() {
                    waits.found_unready(format!("{awaited} {}", self.peer));
                }
                polled
            }
            _ => Poll::Pending,
        }
    }

    fn poll_stream<T>(&self, awaited: &str, act: impl FnOnce(Pin<&mut shim::TcpStream>) -> Poll<T>) -> Poll<T> {
        self.poll(awaited, |inner| match inner {
            Inner::Stream(stream) => act(Pin::new(stream)),
            Inner::Connecting(_) | Inner::Listener(_) => Poll::Pending,
        })
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        close(self.port.host, self.inner.lock().take());
    }
}

/// Accepts connections to a port of a host.
pub struct TcpListener {
    socket: Socket,
}

impl TcpListener {
    /// Waits for the next connection. Gives the stream and the address of the other side.
    ///
    /// # Errors
    /// As the operating system's.
    pub async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        std::future::poll_fn(|context| self.poll_accept(context)).await
    }

    /// Polls for the next connection.
    ///
    /// # Errors
    /// As the operating system's.
    pub fn poll_accept(&self, context: &mut Context<'_>) -> Poll<io::Result<(TcpStream, SocketAddr)>> {
        let accepted = self.socket.poll("somebody who connects to its", |inner| match inner {
            Inner::Listener(listener) => listener.poll_accept(context),
            Inner::Connecting(_) | Inner::Stream(_) => Poll::Pending,
        });
        accepted.map_ok(|(stream, address)| {
            let port = &self.socket.port;
            let host = port.names.at(address.ip());
            let socket = port.socket(Inner::Stream(stream), Arc::clone(&host));
            (TcpStream { socket, host, is_announced: false }, address)
        })
    }
}

/// A connection between two hosts: bytes in order, with the latency and the faults of the way.
pub struct TcpStream {
    socket: Socket,
    /// The host at the other end.
    host: Arc<str>,
    /// Whether the write that is tried now has been: it is one event, however often it finds no room.
    is_announced: bool,
}

impl AsyncRead for TcpStream {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = self.socket.poll_stream("data from", |stream| stream.poll_read(context, buffer));
        let bytes = buffer.filled().len() - before;
        if bytes > 0 {
            let (port, from) = (&self.socket.port, Arc::clone(&self.host));
            port.emitter.emit_now(&subject_of_world(), || EventKind::NetworkReceive { from, bytes });
            if port.is_frozen.load(Ordering::Relaxed) {
                return Poll::Pending;
            }
        }
        read
    }
}

impl AsyncWrite for TcpStream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &[u8]) -> Poll<io::Result<usize>> {
        let port = &self.socket.port;
        if !self.is_announced && !port.is_frozen.load(Ordering::Relaxed) {
            let (to, bytes) = (Arc::clone(&self.host), buffer.len());
            port.emitter.emit_now(&subject_of_world(), || EventKind::NetworkSend { to, bytes });
        }
        let written = self.socket.poll_stream("room to send to", |stream| stream.poll_write(context, buffer));
        self.is_announced = written.is_pending();
        written
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.socket.poll_stream("room to send to", |stream| stream.poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        touch();
        self.socket.poll_stream("room to send to", |stream| stream.poll_shutdown(context))
    }
}

impl fmt::Debug for TcpListener {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("TcpListener").finish_non_exhaustive()
    }
}

impl fmt::Debug for TcpStream {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("TcpStream").finish_non_exhaustive()
    }
}
