//! What TCP promises holds whatever happens on the way: bytes in order, none invented, and an end that says whether all came.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use windtunnel_core::env::Env;
use windtunnel_sim::{Host, LinkSettings, Process, World};

/// A message as long as it says.
fn message(length: usize) -> Vec<u8> {
    (0..length).map(|place| (place.wrapping_mul(31) % 251) as u8).collect()
}

type Received = Arc<Mutex<Vec<(Vec<u8>, bool)>>>;

/// Notes what comes over each connection, and whether it came to its end.
async fn receive(process: Process, received: Received) {
    let Ok(listener) = process.listen(9).await else { return };
    while let Ok((mut stream, _)) = listener.accept().await {
        let received = Arc::clone(&received);
        let _running = process.spawn(async move {
            let (mut bytes, mut buffer) = (Vec::new(), [0; 1500]);
            let is_whole = loop {
                match stream.read(&mut buffer).await {
                    Ok(0) => break true,
                    Ok(count) => bytes.extend_from_slice(&buffer[..count]),
                    Err(_) => break false,
                }
            };
            received.lock().push((bytes, is_whole));
        });
    }
}

/// Sends messages, each over a connection of its own; gives how many were sent and closed without an error.
async fn send(process: Process, lengths: Vec<usize>) -> usize {
    let mut sent = 0;
    for length in lengths {
        let sending = async {
            let mut stream = process.connect("receiver", 9).await?;
            for part in message(length).chunks(997) {
                stream.write_all(part).await?;
            }
            stream.shutdown().await
        };
        let sending = Box::pin(sending);
        if matches!(process.env().timeout(Duration::from_secs(2_000), sending).await, Ok(Ok(()))) {
            sent += 1;
        }
    }
    sent
}

fn draw(env: &Env, below: u64) -> u64 {
    env.random_u64("test/streams") % below
}

async fn disturb(env: &Env, sender: &Host, receiver: &Host) {
    for _ in 0..draw(env, 6) {
        env.sleep(Duration::from_millis(draw(env, 40))).await;
        match draw(env, 4) {
            0 => sender.partition(receiver),
            1 => receiver.partition_towards(sender),
            2 => sender.reset_connections(receiver),
            _ => {
                receiver.crash();
                receiver.restart();
            }
        }
        env.sleep(Duration::from_millis(draw(env, 3_000))).await;
        sender.reconnect(receiver);
    }
}

#[test]
fn bytes_come_in_order_or_not_at_all_whatever_happens_on_the_way() {
    let (mut whole, mut broken) = (0, 0);
    for seed in 0..150 {
        let run = World::new(seed).run(|world| async move {
            let env = world.env();
            let loss = [0.0, 0.1, 0.4][draw(&env, 3) as usize];
            let latency_max = Duration::from_millis(1 + draw(&env, 30));
            world.set_links(LinkSettings { latency_min: Duration::ZERO, latency_max, loss });
            let (sender, receiver) = (world.host("sender").unwrap(), world.host("receiver").unwrap());
            let received = Received::default();
            let kept = Arc::clone(&received);
            receiver.start(move |process| receive(process, Arc::clone(&kept)));
            env.sleep(Duration::from_millis(1)).await;
            let lengths: Vec<_> = (0..4).map(|_| draw(&env, 200_000) as usize).collect();
            let sending = sender.spawn(send(sender.process(), lengths.clone()));
            disturb(&env, &sender, &receiver).await;
            let sent = sending.await.unwrap();
            env.sleep(Duration::from_secs(2_000)).await;
            let received = received.lock().clone();
            (lengths, sent, received)
        });
        let (lengths, _sent, received) = run.outcome.unwrap();
        let longest = message(200_000);
        for (bytes, is_whole) in &received {
            assert!(longest.starts_with(bytes), "seed {seed}: bytes that were never sent so");
            assert!(!is_whole || lengths.contains(&bytes.len()), "seed {seed}: an end before all bytes came");
            *if *is_whole { &mut whole } else { &mut broken } += 1;
        }
    }
    assert!(whole > 200 && broken > 10, "{whole} whole, {broken} broken");
}

#[test]
fn a_world_does_not_keep_connections_that_have_ended() {
    let run = World::new(7).run(|world| async move {
        let (sender, receiver) = (world.host("sender").unwrap(), world.host("receiver").unwrap());
        let received = Received::default();
        let kept = Arc::clone(&received);
        receiver.start(move |process| receive(process, Arc::clone(&kept)));
        world.env().sleep(Duration::from_millis(1)).await;
        let sent = sender.spawn(send(sender.process(), vec![10; 3_000])).await.unwrap();
        world.env().sleep(Duration::from_secs(1)).await;
        (sent, received.lock().len())
    });
    assert_eq!(run.outcome.unwrap(), (3_000, 3_000));
}
