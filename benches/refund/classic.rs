//! The guests in a classic `turmoil::Sim`.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use windtunnel::BoxFuture;
use windtunnel::durable::{JournalStore, MemoryStore};
use windtunnel::env::Env;
use windtunnel::event::{EventLog, Sink};
use windtunnel::model::ModelTransport;
use windtunnel::tool::{FunctionTool, RegisterError, Registry};

use crate::scenario::{HOSTS, Outside, Pace, Place, Variant, guest, review};

/// A host of the simulation. Effects are counted, and nothing goes wrong.
#[derive(Clone)]
struct ClassicHost {
    env: Env,
    log: EventLog,
    paid: Arc<Mutex<Vec<Option<String>>>>,
}

impl Place for ClassicHost {
    type Stream = turmoil::net::TcpStream;
    type Listener = turmoil::net::TcpListener;

    fn env(&self) -> Env {
        self.env.clone()
    }

    fn sink(&self) -> Arc<dyn Sink> {
        Arc::new(self.log.clone())
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        drop(tokio::spawn(task));
    }

    async fn listen(&self, port: u16) -> io::Result<Self::Listener> {
        turmoil::net::TcpListener::bind(("0.0.0.0", port)).await
    }

    async fn accept(&self, listener: &Self::Listener) -> io::Result<Self::Stream> {
        Ok(listener.accept().await?.0)
    }

    fn connect(&self, address: (&'static str, u16)) -> BoxFuture<'static, io::Result<Self::Stream>> {
        Box::pin(turmoil::net::TcpStream::connect(address))
    }

    fn tools(&self, tools: Vec<FunctionTool>) -> Result<Registry, RegisterError> {
        let mut registry = Registry::new();
        for tool in tools {
            registry.register(tool)?;
        }
        Ok(registry)
    }

    fn model(&self, model: impl ModelTransport + 'static) -> Arc<dyn ModelTransport> {
        Arc::new(model)
    }

    fn journal(&self, journal: MemoryStore) -> Arc<dyn JournalStore> {
        Arc::new(journal)
    }

    async fn pay(&self, key: Option<&str>) {
        let mut paid = self.paid.lock().unwrap();
        let key = key.map(str::to_owned);
        if key.is_none() || !paid.contains(&key) {
            paid.push(key);
        }
    }

    fn sometimes(&self, _name: &str, _holds: bool) {}
}

/// Runs the refund to its end, and then until `span` is over, if there is one.
pub(crate) fn in_a_classic_simulation(
    seed: u64,
    variant: Variant,
    pace: Pace,
    span: Option<Duration>,
    latency: Duration,
) {
    let mut simulation = turmoil::Builder::new()
        .rng_seed(seed)
        .simulation_duration(Duration::from_secs(3600))
        .min_message_latency(latency)
        .max_message_latency(latency)
        .build();
    let (outside, log, paid) = (Outside::new(Env::system()), EventLog::default(), Arc::default());
    for name in HOSTS {
        let (outside, log, paid) = (outside.clone(), log.clone(), Arc::clone(&paid));
        simulation.host(name, move || {
            let (outside, log, paid) = (outside.clone(), log.clone(), Arc::clone(&paid));
            async move {
                guest(name, ClassicHost { env: Env::system(), log, paid }, variant, pace, outside).await;
                Ok(())
            }
        });
    }
    simulation.client("reviewer", async move {
        let env = Env::system();
        let answer = review(&env, &outside, pace).await.map_err(|error| error.to_string())?;
        assert!(!answer.is_empty());
        if let Some(span) = span {
            env.until(span).await;
        }
        Ok(())
    });
    simulation.run().unwrap();
    assert_eq!(paid.lock().unwrap().len(), 1);
}
