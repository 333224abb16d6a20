//! The same guests in a world and in a classic `turmoil::Sim`: what they come to is the same.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use windtunnel_sim::{LinkSettings, Process, World};

/// What guests need of a network.
trait Network: Clone + Send + Sync + 'static {
    type Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static;
    type Listener: Send;

    fn listen(&self, port: u16) -> impl Future<Output = io::Result<Self::Listener>> + Send;
    fn accept(&self, listener: &Self::Listener) -> impl Future<Output = io::Result<Self::Stream>> + Send;
    fn connect(&self, host: &str, port: u16) -> impl Future<Output = io::Result<Self::Stream>> + Send;
    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send;
}

impl Network for Process {
    type Stream = windtunnel_sim::TcpStream;
    type Listener = windtunnel_sim::TcpListener;

    async fn listen(&self, port: u16) -> io::Result<Self::Listener> {
        Self::listen(self, port).await
    }

    async fn accept(&self, listener: &Self::Listener) -> io::Result<Self::Stream> {
        Ok(listener.accept().await?.0)
    }

    async fn connect(&self, host: &str, port: u16) -> io::Result<Self::Stream> {
        Self::connect(self, host, port).await
    }

    async fn sleep(&self, duration: Duration) {
        self.env().sleep(duration).await;
    }
}

#[derive(Clone)]
struct Classic;

impl Network for Classic {
    type Stream = turmoil::net::TcpStream;
    type Listener = turmoil::net::TcpListener;

    async fn listen(&self, port: u16) -> io::Result<Self::Listener> {
        turmoil::net::TcpListener::bind(("0.0.0.0", port)).await
    }

    async fn accept(&self, listener: &Self::Listener) -> io::Result<Self::Stream> {
        Ok(listener.accept().await?.0)
    }

    async fn connect(&self, host: &str, port: u16) -> io::Result<Self::Stream> {
        turmoil::net::TcpStream::connect((host, port)).await
    }

    #[expect(clippy::disallowed_methods, reason = "the other simulator has tokio's clock and no environment")]
    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// Answers each request of 8 bytes with the sum so far, one connection after another.
async fn add_up<N: Network>(network: N) -> io::Result<()> {
    let listener = network.listen(80).await?;
    let mut sum = 0_u64;
    loop {
        let mut stream = network.accept(&listener).await?;
        while let Ok(number) = stream.read_u64().await {
            sum += number;
            network.sleep(Duration::from_millis(3)).await;
            if stream.write_u64(sum).await.is_err() {
                break;
            }
        }
    }
}

type Told = Arc<Mutex<Vec<Result<u64, io::ErrorKind>>>>;

/// Asks twice on one connection, and then on another; and asks a port where nobody listens.
async fn ask<N: Network>(network: N, told: Told) {
    network.sleep(Duration::from_millis(50)).await;
    for numbers in [[1, 2], [3, 4]] {
        let answered = ask_on_one(&network, &numbers, &told).await;
        if let Err(error) = answered {
            told.lock().push(Err(error.kind()));
        }
    }
    let refused = network.connect("adder", 81).await.map(drop);
    told.lock().push(refused.map(|()| 0).map_err(|error| error.kind()));
}

async fn ask_on_one<N: Network>(network: &N, numbers: &[u64], told: &Told) -> io::Result<()> {
    let mut stream = network.connect("adder", 80).await?;
    for number in numbers {
        stream.write_u64(*number).await?;
        let sum = stream.read_u64().await?;
        told.lock().push(Ok(sum));
    }
    Ok(())
}

fn in_a_world(seed: u64) -> Vec<Result<u64, io::ErrorKind>> {
    let told = Told::default();
    let run = World::new(seed).run(|world| {
        let told = Arc::clone(&told);
        async move {
            world.set_links(LinkSettings::default());
            world.host("adder").unwrap().start(|process| async move {
                let _ended = add_up(process).await;
            });
            let asker = world.host("asker").unwrap();
            asker.spawn(ask(asker.process(), told)).await.unwrap();
        }
    });
    run.outcome.unwrap();
    let told = told.lock();
    told.clone()
}

fn in_a_classic_simulation(seed: u64) -> Vec<Result<u64, io::ErrorKind>> {
    let told = Told::default();
    let mut simulation = turmoil::Builder::new().rng_seed(seed).simulation_duration(Duration::from_secs(60)).build();
    simulation.host("adder", || async { Ok(add_up(Classic).await?) });
    let asking = Arc::clone(&told);
    simulation.client("asker", async move {
        ask(Classic, asking).await;
        Ok(())
    });
    simulation.run().unwrap();
    let told = told.lock();
    told.clone()
}

#[test]
fn guests_come_to_the_same_in_both() {
    let expected = vec![Ok(1), Ok(3), Ok(6), Ok(10), Err(io::ErrorKind::ConnectionRefused)];
    for seed in 0..5 {
        assert_eq!(in_a_world(seed), expected);
        assert_eq!(in_a_classic_simulation(seed), expected);
    }
}
