//! The service's side of connections.

use std::io;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use windtunnel_core::executor::Executor;
use windtunnel_core::model::ModelTransport;
use windtunnel_core::tool::Registry;

use super::error::ServiceError;
use super::line::Lines;
use super::message::{Incoming, NOT_A_REQUEST, NOT_JSON, Outgoing, Refusal, UNANSWERABLE};
use super::model_answers::answer_model;
use super::tool_answers::answer_tools;
use crate::{Process, TcpStream};

/// Answers calls of tools on a port of a host, as long as that lives. Faults come to those that are wrapped
/// ([`Faults::tool`](crate::fault::Faults::tool)). See [the module](super) for an example.
///
/// # Errors
/// As the operating system's, if the port cannot be listened to.
pub async fn serve_tools(process: Process, port: u16, tools: Registry) -> io::Result<()> {
    let executor = Executor::builder(tools).env(process.env()).build();
    serve(process, port, |stream| {
        let executor = executor.clone();
        async move { answer_tools(&executor, stream).await }
    })
    .await
}

/// Answers requests to a model on a port of a host, as long as that lives. See [`RemoteModel`](super::RemoteModel) for an
/// example.
///
/// # Errors
/// As the operating system's, if the port cannot be listened to.
pub async fn serve_model(process: Process, port: u16, model: impl ModelTransport + 'static) -> io::Result<()> {
    let model = Arc::new(model);
    serve(process, port, |stream| {
        let model = Arc::clone(&model);
        async move { answer_model(&*model, stream).await }
    })
    .await
}

async fn serve<Fut>(process: Process, port: u16, answer: impl Fn(TcpStream) -> Fut) -> io::Result<()>
where
    Fut: Future<Output = Result<(), ServiceError>> + Send + 'static,
{
    let listener = process.listen(port).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        let answering = answer(stream);
        // A caller that breaks the protocol is told so, and has broken its own connection only.
        let _running = process.spawn(async move { answering.await.is_ok() });
    }
}

/// A connection on which something is asked.
pub(super) struct Asked<S> {
    lines: Lines<S>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Asked<S> {
    pub(super) fn on(stream: S) -> Self {
        Self { lines: Lines::new(stream) }
    }

    /// The next request: its id, method and parameters. What is none is refused, and ends the connection.
    pub(super) async fn next(&mut self) -> Result<Option<(u64, String, Value)>, ServiceError> {
        let refusal = match self.lines.next().await {
            Ok(None) => return Ok(None),
            Ok(Some(line)) => match Incoming::read(&line) {
                Ok(Incoming::Request { id, method, params }) => return Ok(Some((id, method, params))),
                Ok(_) => Refusal::new(NOT_A_REQUEST, "a service is sent requests only"),
                Err(refusal) => refusal,
            },
            Err(error @ ServiceError::TooLong { .. }) => Refusal::new(NOT_A_REQUEST, error.to_string()),
            Err(ServiceError::Malformed { problem }) => Refusal::new(NOT_JSON, problem),
            Err(error) => return Err(error),
        };
        self.lines.send(&Outgoing::error(None, &refusal)).await?;
        Err(ServiceError::malformed(refusal.message))
    }

    pub(super) async fn answer<T: Serialize>(&mut self, message: &Outgoing<'_, T>) -> Result<(), ServiceError> {
        self.lines.send(message).await
    }

    /// Says so if an answer was longer than a message may be: whoever asks would take silence for a lost connection, and ask
    /// again.
    pub(super) async fn settle(&mut self, id: u64, answered: Result<(), ServiceError>) -> Result<(), ServiceError> {
        let Err(error @ ServiceError::TooLong { .. }) = answered else { return answered };
        self.refuse(id, &Refusal::new(UNANSWERABLE, format!("the answer cannot be written: {error}"))).await
    }

    /// Refuses, without the text if that is longer than a message may be.
    pub(super) async fn refuse(&mut self, id: u64, refusal: &Refusal) -> Result<(), ServiceError> {
        let refused = self.lines.send(&Outgoing::error(Some(id), refusal)).await;
        let Err(error @ ServiceError::TooLong { .. }) = refused else { return refused };
        let shorter =
            Refusal { message: format!("what is said of the failure cannot be written: {error}"), ..refusal.clone() };
        self.lines.send(&Outgoing::error(Some(id), &shorter)).await
    }
}
