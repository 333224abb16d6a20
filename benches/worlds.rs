//! What a world of hosts costs: a client that asks three servers now and then, in a world and in a classic `turmoil::Sim`.
//!
//! These machines are noisy, so both take turns within one run, and the ratio is of medians.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark reports and stops at the first surprise")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the real clock, and the other simulator tokio's")]

use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use windtunnel::sim::{LinkSettings, World, WorldHandle};

const ROUNDS: usize = 9;
const SERVERS: [&str; 3] = ["tools", "model", "journal"];
const ASKED: u32 = 10;
const LATENCY: Duration = Duration::from_millis(5);

fn main() {
    let minute = Duration::from_secs(60);
    let mut micros: [Vec<f64>; 2] = Default::default();
    for seed in 0..ROUNDS as u64 {
        let began = Instant::now();
        classic(seed, minute);
        micros[0].push(began.elapsed().as_secs_f64() * 1e6);
        const MANY: u64 = 20;
        let began = Instant::now();
        for seed in 0..MANY {
            world(seed, minute);
        }
        micros[1].push(began.elapsed().as_secs_f64() * 1e6 / MANY as f64);
    }
    let [classic, ours] = micros.map(median);
    println!("{ASKED} rounds to {} hosts over a simulated minute, median of {ROUNDS}:", SERVERS.len());
    println!("  classic turmoil  {classic:10.0} µs");
    println!(
        "  a world          {ours:10.0} µs   {:.0} times as fast, {:.0} worlds a second",
        classic / ours,
        1e6 / ours
    );
    let began = Instant::now();
    world(7, Duration::from_secs(30 * 86_400));
    println!("the same over thirty simulated days: {:.2} ms", began.elapsed().as_secs_f64() * 1e3);
    let mut short: Vec<f64> = Vec::new();
    for _ in 0..ROUNDS {
        const MANY: u64 = 500;
        let began = Instant::now();
        for seed in 0..MANY {
            world(seed, Duration::from_secs(1));
        }
        short.push(MANY as f64 / began.elapsed().as_secs_f64());
    }
    println!("the same over a simulated second: {:.0} worlds a second", median(short));
}

fn world(seed: u64, span: Duration) {
    let links = LinkSettings { latency_min: LATENCY, latency_max: LATENCY, loss: 0.0 };
    let run = World::new(seed).run(|world: WorldHandle| async move {
        world.set_links(links);
        for name in SERVERS {
            world.host(name).unwrap().start(|process| async move {
                let listener = process.listen(80).await.unwrap();
                while let Ok((stream, _)) = listener.accept().await {
                    let _running = process.spawn(echo(stream));
                }
            });
        }
        let process = world.host("agent").unwrap().process();
        for _ in 0..ASKED {
            for name in SERVERS {
                ask(process.connect(name, 80).await.unwrap()).await;
            }
            process.env().sleep(span / ASKED).await;
        }
    });
    run.outcome.unwrap();
}

fn classic(seed: u64, span: Duration) {
    let mut simulation = turmoil::Builder::new()
        .rng_seed(seed)
        .simulation_duration(span * 2)
        .min_message_latency(LATENCY)
        .max_message_latency(LATENCY)
        .build();
    for name in SERVERS {
        simulation.host(name, || async {
            let listener = turmoil::net::TcpListener::bind("0.0.0.0:80").await?;
            loop {
                let (stream, _) = listener.accept().await?;
                drop(tokio::spawn(echo(stream)));
            }
        });
    }
    simulation.client("agent", async move {
        for _ in 0..ASKED {
            for name in SERVERS {
                ask(turmoil::net::TcpStream::connect((name, 80)).await?).await;
            }
            tokio::time::sleep(span / ASKED).await;
        }
        Ok(())
    });
    simulation.run().unwrap();
}

async fn echo(mut stream: impl AsyncRead + AsyncWrite + Unpin) {
    let mut buffer = [0; 64];
    while let Ok(count) = stream.read(&mut buffer).await {
        if count == 0 || stream.write_all(&buffer[..count]).await.is_err() {
            return;
        }
    }
}

async fn ask(mut stream: impl AsyncRead + AsyncWrite + Unpin) {
    stream.write_all(b"hello world request").await.unwrap();
    let mut buffer = [0; 64];
    assert!(stream.read(&mut buffer).await.unwrap() > 0);
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
