//! The caller's side of one call.

use std::fmt;
use std::io;
use std::pin::Pin;

use serde::Serialize;
use tokio::io::{AsyncRead, AsyncWrite};
use windtunnel_core::BoxFuture;

use super::error::ServiceError;
use super::line::Lines;
use super::message::{Incoming, Outgoing, Refusal};

/// A stream of bytes both ways.
trait Duplex: AsyncRead + AsyncWrite + Send {}

impl<S: AsyncRead + AsyncWrite + Send> Duplex for S {}

type BoxDuplex = Pin<Box<dyn Duplex>>;

/// Where a service is: how to get a connection to it.
pub(super) struct Service {
    connect: Box<dyn Fn() -> BoxFuture<'static, io::Result<BoxDuplex>> + Send + Sync>,
}

/// A call that has been sent.
pub(super) struct Call {
    lines: Lines<BoxDuplex>,
}

/// What a service says.
pub(super) enum Said {
    Result(serde_json::Value),
    Notification { method: String, params: serde_json::Value },
    Error(Refusal),
}

impl Service {
    pub(super) fn new<F, Fut, S>(connect: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = io::Result<S>> + Send + 'static,
        S: AsyncRead + AsyncWrite + Send + 'static,
    {
        let connect = move || -> BoxFuture<'static, io::Result<BoxDuplex>> {
            let connecting = connect();
            Box::pin(async move { connecting.await.map(|stream| Box::pin(stream) as BoxDuplex) })
        };
        Self { connect: Box::new(connect) }
    }

    /// Connects, and asks.
    pub(super) async fn call(&self, method: &str, params: &impl Serialize) -> Result<Call, ServiceError> {
        let stream = (self.connect)().await.map_err(ServiceError::Connect)?;
        let mut lines = Lines::new(stream);
        lines.send(&Outgoing::request(method, params)).await?;
        Ok(Call { lines })
    }
}

impl Call {
    /// The next that the service says.
    pub(super) async fn next(&mut self) -> Result<Said, ServiceError> {
        let line = self.lines.next().await?.ok_or(ServiceError::Ended)?;
        match Incoming::read(&line) {
            Ok(Incoming::Result(result)) => Ok(Said::Result(result)),
            Ok(Incoming::Notification { method, params }) => Ok(Said::Notification { method, params }),
            Ok(Incoming::Error(refusal)) => Ok(Said::Error(refusal)),
            Ok(Incoming::Request { .. }) => Err(ServiceError::malformed("a service asks nothing")),
            Err(refusal) => Err(ServiceError::malformed(refusal.message)),
        }
    }
}

impl fmt::Debug for Service {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Service").finish_non_exhaustive()
    }
}
