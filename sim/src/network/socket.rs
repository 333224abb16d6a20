//! Sockets that know their host, so that they work in any task.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use turmoil_net::HostId;
use turmoil_net::shim::tokio::net as shim;
use windtunnel_core::env::Env;

use super::fabric::{is_up, touch};
use super::retransmission::CONNECT_TIMEOUT;

/// The network as one life of a host sees it. When that is over, nothing of it answers any more.
#[derive(Clone)]
pub(crate) struct Port {
    pub(crate) host: HostId,
    pub(crate) is_frozen: Arc<AtomicBool>,
    pub(crate) env: Env,
}

impl Port {
    /// Acts on this host's sockets; never, if its life is over.
    fn poll<T>(&self, act: impl FnOnce() -> Poll<T>) -> Poll<T> {
        if self.is_frozen.load(Ordering::Relaxed) || !is_up() {
            return Poll::Pending;
        }
        turmoil_net::set_current(self.host);
        let polled = act();
        // What waits has changed nothing, but for what begins: see `poll_beginning`.
        if polled.is_ready() {
            touch();
        }
        polled
    }

    /// As [`Port::poll`], for what sends something before it waits.
    fn poll_beginning<T>(&self, act: impl FnOnce() -> Poll<T>) -> Poll<T> {
        let polled = self.poll(act);
        touch();
        polled
    }

    /// Drops a socket, if there still is a network that it belongs to.
    fn close<S>(&self, socket: Option<S>) {
        if is_up() {
            turmoil_net::set_current(self.host);
            drop(socket);
            touch();
        } else {
            std::mem::forget(socket);
        }
    }

    pub(crate) async fn listen(self, port: u16) -> io::Result<TcpListener> {
        let any = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), port);
        let mut binding = Box::pin(shim::TcpListener::bind(any));
        let listener = std::future::poll_fn(|context| self.poll(|| binding.as_mut().poll(context))).await?;
        Ok(TcpListener { inner: Some(listener), port: self })
    }

    pub(crate) async fn connect(self, address: SocketAddr) -> io::Result<TcpStream> {
        let mut connecting =
            Connecting { inner: Some(Box::pin(shim::TcpStream::connect(address))), port: self.clone() };
        let connected = std::future::poll_fn(|context| connecting.poll(context));
        match self.env.timeout(CONNECT_TIMEOUT, connected).await {
            Ok(stream) => Ok(TcpStream { inner: Some(stream?), port: self }),
            Err(_elapsed) => Err(io::ErrorKind::TimedOut.into()),
        }
    }
}

type Connect = Pin<Box<dyn Future<Output = io::Result<shim::TcpStream>> + Send>>;

/// An attempt to connect, which closes its socket in the right place if it is dropped.
struct Connecting {
    inner: Option<Connect>,
    port: Port,
}

impl Connecting {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<io::Result<shim::TcpStream>> {
        let Some(inner) = &mut self.inner else { return Poll::Pending };
        self.port.poll_beginning(|| inner.as_mut().poll(context))
    }
}

impl Drop for Connecting {
    fn drop(&mut self) {
        self.port.close(self.inner.take());
    }
}

/// Accepts connections to a port of a host.
pub struct TcpListener {
    inner: Option<shim::TcpListener>,
    port: Port,
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
        let Some(inner) = &self.inner else { return Poll::Pending };
        let accepted = self.port.poll(|| inner.poll_accept(context));
        accepted.map_ok(|(stream, peer)| (TcpStream { inner: Some(stream), port: self.port.clone() }, peer))
    }
}

impl Drop for TcpListener {
    fn drop(&mut self) {
        self.port.close(self.inner.take());
    }
}

/// A connection between two hosts: bytes in order, with the latency and the faults of the way.
pub struct TcpStream {
    inner: Option<shim::TcpStream>,
    port: Port,
}

impl TcpStream {
    fn poll_inner<T>(
        &mut self,
        act: impl FnOnce(Pin<&mut shim::TcpStream>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        let Self { inner, port } = self;
        let Some(inner) = inner else { return Poll::Pending };
        port.poll(|| act(Pin::new(inner)))
    }
}

impl AsyncRead for TcpStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.poll_inner(|inner| inner.poll_read(context, buffer))
    }
}

impl AsyncWrite for TcpStream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_inner(|inner| inner.poll_write(context, buffer))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_inner(|inner| inner.poll_flush(context))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        touch();
        self.poll_inner(|inner| inner.poll_shutdown(context))
    }
}

impl Drop for TcpStream {
    fn drop(&mut self) {
        self.port.close(self.inner.take());
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
