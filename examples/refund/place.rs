//! Where guests run.

use std::io;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};
use windtunnel::BoxFuture;
use windtunnel::durable::{JournalStore, MemoryStore};
use windtunnel::env::Env;
use windtunnel::event::Sink;
use windtunnel::model::ModelTransport;
use windtunnel::sim::Process;
use windtunnel::tool::{FunctionTool, RegisterError, Registry};

/// A host and a port.
pub(crate) type Address = (&'static str, u16);

/// What guests need of a place where they run: a host of a world, or of another simulator.
pub(crate) trait Place: Clone + Send + Sync + 'static {
    type Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static;
    type Listener: Send + Sync;

    fn env(&self) -> Env;
    fn sink(&self) -> Arc<dyn Sink>;
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static);

    fn listen(&self, port: u16) -> impl Future<Output = io::Result<Self::Listener>> + Send;
    fn accept(&self, listener: &Self::Listener) -> impl Future<Output = io::Result<Self::Stream>> + Send;
    fn connect(&self, address: Address) -> BoxFuture<'static, io::Result<Self::Stream>>;

    /// The tools, the model or the journal of this place, with its faults, if it has any.
    fn tools(&self, tools: Vec<FunctionTool>) -> Result<Registry, RegisterError>;
    fn model(&self, model: impl ModelTransport + 'static) -> Arc<dyn ModelTransport>;
    fn journal(&self, journal: MemoryStore) -> Arc<dyn JournalStore>;

    /// Moves money; only once under one key.
    fn pay(&self, key: Option<&str>) -> impl Future<Output = ()> + Send;
    /// Says what is to be seen in some runs.
    fn sometimes(&self, name: &str, holds: bool);
}

impl Place for Process {
    type Stream = windtunnel::sim::TcpStream;
    type Listener = windtunnel::sim::TcpListener;

    fn env(&self) -> Env {
        Self::env(self)
    }

    fn sink(&self) -> Arc<dyn Sink> {
        Arc::new(self.trace())
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let _running = Self::spawn(self, task);
    }

    async fn listen(&self, port: u16) -> io::Result<Self::Listener> {
        Self::listen(self, port).await
    }

    async fn accept(&self, listener: &Self::Listener) -> io::Result<Self::Stream> {
        Ok(listener.accept().await?.0)
    }

    fn connect(&self, (host, port): Address) -> BoxFuture<'static, io::Result<Self::Stream>> {
        let process = self.clone();
        Box::pin(async move { Self::connect(&process, host, port).await })
    }

    fn tools(&self, tools: Vec<FunctionTool>) -> Result<Registry, RegisterError> {
        let mut registry = Registry::new();
        for tool in tools {
            registry.register(self.faults().tool(tool))?;
        }
        Ok(registry)
    }

    fn model(&self, model: impl ModelTransport + 'static) -> Arc<dyn ModelTransport> {
        Arc::new(self.faults().model(model))
    }

    fn journal(&self, journal: MemoryStore) -> Arc<dyn JournalStore> {
        Arc::new(self.faults().journal(journal))
    }

    async fn pay(&self, key: Option<&str>) {
        let effects = self.effects();
        match key {
            Some(key) => drop(effects.happen_once("payment", key).await),
            None => effects.happen("payment", None).await,
        }
        self.assertions().always("paid at most once", effects.count("payment") <= 1);
    }

    fn sometimes(&self, name: &str, holds: bool) {
        self.assertions().sometimes(name, holds);
    }
}
