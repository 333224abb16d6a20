//! Hosts: their tasks, their lives, and the network between them.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use windtunnel_core::BoxError;
use windtunnel_sim::{EventPattern, Host, LinkSettings, Process, TaskError, TcpStream, World, WorldHandle};

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// Packets take exactly this long.
fn exactly(latency: Duration) -> LinkSettings {
    LinkSettings { latency_min: latency, latency_max: latency, loss: 0.0 }
}

/// Answers each line with itself.
async fn echo(process: Process) {
    let listener = process.listen(7).await.unwrap();
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let _running = process.spawn(echo_stream(stream));
    }
}

async fn echo_stream(mut stream: TcpStream) -> io::Result<()> {
    let mut buffer = [0; 64];
    loop {
        let count = stream.read(&mut buffer).await?;
        if count == 0 {
            return Ok(());
        }
        stream.write_all(&buffer[..count]).await?;
    }
}

fn echo_world(world: &WorldHandle) -> (Host, Host) {
    world.set_links(exactly(ms(10)));
    let (server, client) = (world.host("server").unwrap(), world.host("client").unwrap());
    server.start(echo);
    (server, client)
}

async fn ask(stream: &mut TcpStream, text: &str) -> io::Result<String> {
    stream.write_all(text.as_bytes()).await?;
    let mut buffer = vec![0; text.len()];
    stream.read_exact(&mut buffer).await?;
    Ok(String::from_utf8(buffer).unwrap())
}

#[test]
fn a_conversation_takes_the_time_of_its_ways_and_no_more() {
    let run = World::new(7).run(|world| async move {
        let (_, client) = echo_world(&world);
        world.env().sleep(ms(1)).await;
        let began = world.env().now();
        let mut stream = client.process().connect("server", 7).await.unwrap();
        let connected = world.env().now() - began;
        let answer = ask(&mut stream, "hello").await.unwrap();
        (answer, connected, world.env().now() - began)
    });
    assert_eq!(run.outcome.unwrap(), ("hello".to_owned(), ms(20), ms(40)));
}

#[test]
fn a_day_without_events_costs_nothing_and_a_connection_stays() {
    let run = World::new(7).run(|world| async move {
        let (_, client) = echo_world(&world);
        let mut stream = client.process().connect("server", 7).await.unwrap();
        for _ in 0..30 {
            world.env().sleep(Duration::from_secs(86_400)).await;
            assert_eq!(ask(&mut stream, "still there?").await.unwrap(), "still there?");
        }
    });
    run.outcome.unwrap();
}

#[test]
fn much_goes_through_in_order() {
    let run = World::new(7).run(|world| async move {
        world.set_links(LinkSettings { loss: 0.2, ..LinkSettings::default() });
        let (server, client) = (world.host("server").unwrap(), world.host("client").unwrap());
        server.start(echo);
        world.env().sleep(ms(1)).await;
        let mut stream = client.process().connect("server", 7).await.unwrap();
        let sent: Vec<u8> = (0..300_000_u32).map(|number| (number % 251) as u8).collect();
        let mut received = Vec::new();
        for part in sent.chunks(7_001) {
            stream.write_all(part).await.unwrap();
            let mut buffer = vec![0; part.len()];
            stream.read_exact(&mut buffer).await.unwrap();
            received.extend(buffer);
        }
        assert!(received == sent);
    });
    run.outcome.unwrap();
    assert!(run.elapsed > Duration::from_secs(1), "losses cost time: {:?}", run.elapsed);
}

#[test]
fn who_has_no_listener_refuses_and_who_has_no_name_is_not_found() {
    let run = World::new(7).run(|world| async move {
        let (_, client) = echo_world(&world);
        let process = client.process();
        let refused = process.connect("server", 8).await.unwrap_err().kind();
        let unknown = process.connect("nobody", 8).await.unwrap_err().kind();
        let taken = process.listen(80).await.map(drop).and(process.listen(80).await.map(drop));
        (refused, unknown, taken.is_ok())
    });
    assert_eq!(run.outcome.unwrap(), (io::ErrorKind::ConnectionRefused, io::ErrorKind::NotFound, true));
}

#[test]
fn a_crash_is_heard_by_the_other_side_and_what_listens_after_a_restart_is_new() {
    let run = World::new(7).run(|world| async move {
        let (server, client) = echo_world(&world);
        let process = client.process();
        let mut stream = process.connect("server", 7).await.unwrap();
        ask(&mut stream, "one").await.unwrap();
        server.crash();
        assert!(!server.is_up());
        let mut buffer = [0; 8];
        let closed = stream.read(&mut buffer).await;
        let refused = process.connect("server", 7).await.unwrap_err().kind();
        server.restart();
        world.env().sleep(ms(1)).await;
        let mut again = process.connect("server", 7).await.unwrap();
        (closed.map_err(|error| error.kind()), refused, ask(&mut again, "two").await.unwrap())
    });
    let (closed, refused, answer) = run.outcome.unwrap();
    assert!(matches!(closed, Ok(0) | Err(io::ErrorKind::ConnectionReset)), "{closed:?}");
    assert_eq!((refused, answer.as_str()), (io::ErrorKind::ConnectionRefused, "two"));
}

#[test]
fn nobody_hears_of_a_power_cut_until_the_host_is_back_and_knows_of_nothing() {
    let run = World::new(7).run(|world| async move {
        let (server, client) = echo_world(&world);
        let process = client.process();
        let mut stream = process.connect("server", 7).await.unwrap();
        ask(&mut stream, "one").await.unwrap();
        server.power_cut();
        let mut buffer = [0; 8];
        let silence = world.env().timeout(Duration::from_secs(600), stream.read(&mut buffer)).await;
        assert!(silence.is_err(), "the connection looks alive");
        let began = world.env().now();
        let timed_out = process.connect("server", 7).await.unwrap_err().kind();
        assert_eq!((timed_out, world.env().now() - began), (io::ErrorKind::TimedOut, Duration::from_secs(127)));
        server.restart();
        let reset = ask(&mut stream, "two").await.unwrap_err().kind();
        let mut again = process.connect("server", 7).await.unwrap();
        (reset, ask(&mut again, "three").await.unwrap())
    });
    assert_eq!(run.outcome.unwrap(), (io::ErrorKind::ConnectionReset, "three".to_owned()));
}

#[test]
fn what_is_sent_to_a_dead_host_is_given_up_after_a_quarter_of_an_hour() {
    let run = World::new(7).run(|world| async move {
        let (server, client) = echo_world(&world);
        let mut stream = client.process().connect("server", 7).await.unwrap();
        server.power_cut();
        let began = world.env().now();
        let error = ask(&mut stream, "anybody?").await.unwrap_err().kind();
        (error, (world.env().now() - began).as_secs())
    });
    assert_eq!(run.outcome.unwrap(), (io::ErrorKind::ConnectionReset, 924));
}

#[test]
fn a_destructor_can_save_nothing() {
    struct Saver {
        process: Process,
        stream: Arc<Mutex<Option<TcpStream>>>,
        tried: Arc<AtomicBool>,
    }
    impl Drop for Saver {
        fn drop(&mut self) {
            self.tried.store(true, Ordering::Relaxed);
            let task = self.process.spawn(async {});
            assert!(task.is_finished() && self.process.is_over());
            let mut stream = self.stream.lock().take().unwrap();
            let mut context = std::task::Context::from_waker(std::task::Waker::noop());
            let write = std::pin::Pin::new(&mut stream);
            assert!(tokio::io::AsyncWrite::poll_write(write, &mut context, b"saved").is_pending());
        }
    }
    for is_power_cut in [false, true] {
        let tried = Arc::new(AtomicBool::new(false));
        let run = World::new(7).run(|world| {
            let tried = Arc::clone(&tried);
            async move {
                let (server, client) = echo_world(&world);
                let heard = Arc::new(Mutex::new(Vec::new()));
                let (process, kept) = (client.process(), Arc::clone(&heard));
                server.start(move |process| {
                    let kept = Arc::clone(&kept);
                    async move {
                        let (mut stream, _) = process.listen(9).await.unwrap().accept().await.unwrap();
                        let mut heard = Vec::new();
                        let _ended = stream.read_to_end(&mut heard).await;
                        kept.lock().extend(heard);
                    }
                });
                let _task = client.spawn(async move {
                    let stream = process.connect("server", 9).await.unwrap();
                    let stream = Arc::new(Mutex::new(Some(stream)));
                    let _saver = Saver { process, stream, tried };
                    std::future::pending::<()>().await;
                });
                world.env().sleep(ms(100)).await;
                if is_power_cut {
                    client.power_cut()
                } else {
                    client.crash()
                }
                world.env().sleep(ms(100)).await;
                let heard = heard.lock().clone();
                assert_eq!(heard, Vec::<u8>::new());
            }
        });
        run.outcome.unwrap();
        assert!(tried.load(Ordering::Relaxed));
    }
}

#[test]
fn a_partition_holds_up_and_a_short_one_is_survived() {
    let run = World::new(7).run(|world| async move {
        let (server, client) = echo_world(&world);
        let mut stream = client.process().connect("server", 7).await.unwrap();
        server.partition(&client);
        let began = world.env().now();
        let process = world.host("healer").unwrap().process();
        let (healed, patient) = (server.clone(), client.clone());
        let _healing = process.clone().spawn(async move {
            process.env().sleep(Duration::from_secs(1)).await;
            healed.reconnect(&patient);
        });
        let answer = ask(&mut stream, "hello").await.unwrap();
        (answer, world.env().now() - began)
    });
    let (answer, took) = run.outcome.unwrap();
    // Sent at 0, and again at 0.2, 0.6 and 1.4 s; the answer is not held up.
    assert_eq!((answer.as_str(), took), ("hello", ms(1_420)));
}

#[test]
fn a_partition_may_be_of_one_direction() {
    let run = World::new(7).run(|world| async move {
        let (server, client) = echo_world(&world);
        let mut stream = client.process().connect("server", 7).await.unwrap();
        ask(&mut stream, "one").await.unwrap();
        server.partition_towards(&client);
        let deaf = world.env().timeout(Duration::from_secs(60), ask(&mut stream, "two")).await;
        assert!(deaf.is_err());
        server.reconnect(&client);
        let mut buffer = [0; 3];
        stream.read_exact(&mut buffer).await.unwrap();
        assert_eq!(&buffer, b"two", "the server had heard it");
    });
    run.outcome.unwrap();
}

#[test]
fn a_reset_is_seen_by_both_sides() {
    let run = World::new(7).run(|world| async move {
        let (server, client) = echo_world(&world);
        let ended = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&ended);
        server.start(move |process| {
            let count = Arc::clone(&count);
            async move {
                let listener = process.listen(9).await.unwrap();
                let (stream, _) = listener.accept().await.unwrap();
                let error = echo_stream(stream).await.unwrap_err();
                assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
                count.fetch_add(1, Ordering::Relaxed);
            }
        });
        world.env().sleep(ms(1)).await;
        let mut stream = client.process().connect("server", 9).await.unwrap();
        ask(&mut stream, "one").await.unwrap();
        client.reset_connections(&server);
        let error = ask(&mut stream, "two").await.unwrap_err().kind();
        world.env().sleep(ms(100)).await;
        assert_eq!(ended.load(Ordering::Relaxed), 1);
        let mut again = client.process().connect("server", 7).await.unwrap();
        assert_eq!(ask(&mut again, "three").await.unwrap(), "three");
        error
    });
    assert!(matches!(run.outcome.unwrap(), io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe));
}

#[test]
fn a_task_is_lost_with_its_process_and_its_timers_never_fire() {
    let run = World::new(7).run(|world| async move {
        let host = world.host("a").unwrap();
        let (process, rang) = (host.process(), Arc::new(AtomicBool::new(false)));
        let ring = Arc::clone(&rang);
        let stray = process.env().sleep(ms(10));
        let task = host.spawn(async move {
            process.env().sleep(ms(10)).await;
            ring.store(true, Ordering::Relaxed);
        });
        world.env().sleep(ms(5)).await;
        host.crash();
        let lost = task.await;
        let stray = world.env().timeout(ms(100), stray).await;
        assert!(stray.is_err(), "even where somebody else waits for it");
        assert!(!rang.load(Ordering::Relaxed));
        lost
    });
    assert_eq!(run.outcome.unwrap(), Err(TaskError));
}

#[test]
fn a_paused_process_goes_on_where_it_stood() {
    let run = World::new(7).run(|world| async move {
        let (server, client) = echo_world(&world);
        let mut stream = client.process().connect("server", 7).await.unwrap();
        server.pause();
        let silence = world.env().timeout(Duration::from_secs(5), ask(&mut stream, "hello")).await;
        assert!(silence.is_err());
        server.resume();
        let mut buffer = [0; 5];
        stream.read_exact(&mut buffer).await.unwrap();
        buffer
    });
    assert_eq!(&run.outcome.unwrap(), b"hello");
}

#[test]
fn a_clock_may_be_wrong_on_one_host() {
    let run = World::new(7).run(|world| async move {
        let (ahead, behind) = (world.host("a").unwrap(), world.host("b").unwrap());
        ahead.put_clock_ahead(Duration::from_secs(90));
        behind.put_clock_behind(Duration::from_secs(90));
        ahead.restart();
        let difference = |later: SystemTime, earlier| later.duration_since(earlier).unwrap().as_secs();
        let shown = [ahead.env().wall(), world.env().wall(), behind.env().wall()];
        assert_eq!(ahead.env().now(), world.env().now());
        (difference(shown[0], shown[1]), difference(shown[1], shown[2]))
    });
    assert_eq!(run.outcome.unwrap(), (90, 90));
}

#[test]
fn the_same_seed_is_the_same_world() {
    let scenario = |world: WorldHandle| async move {
        world.set_links(LinkSettings { loss: 0.1, ..LinkSettings::default() });
        let server = world.host("server")?;
        server.start(echo);
        let mut tasks = Vec::new();
        for name in ["a", "b", "c"] {
            let process = world.host(name)?.process();
            tasks.push(process.clone().spawn(async move {
                let mut stream = process.connect("server", 7).await?;
                for round in 0..5 {
                    ask(&mut stream, &format!("{name}{round}")).await?;
                }
                io::Result::Ok(process.env().now())
            }));
        }
        world.env().sleep(ms(30)).await;
        server.crash();
        server.restart();
        let mut ends = Vec::new();
        for task in tasks {
            ends.push(task.await?.map_err(|error| error.kind()));
        }
        Ok::<_, BoxError>(ends)
    };
    for seed in 0..20 {
        let (first, second) = (World::new(seed).run(scenario), World::new(seed).run(scenario));
        assert_eq!(first.elapsed, second.elapsed);
        assert_eq!(first.outcome.unwrap().unwrap(), second.outcome.unwrap().unwrap());
    }
}

#[test]
fn names_are_checked_and_room_ends() {
    let run = World::new(7).run(|world| async move {
        let refused = ["", "a b", "ä", &"x".repeat(64)].map(|name| world.host(name).is_err());
        let room = (0..40).filter(|number| world.host(&format!("host-{number}")).is_ok()).count();
        let same = world.host("host-0").unwrap();
        same.crash();
        (refused, room, world.host("host-0").unwrap().is_up())
    });
    assert_eq!(run.outcome.unwrap(), ([true; 4], 32, false));
}

#[test]
fn sockets_may_outlive_their_world() {
    let run = World::new(7).run(|world| async move {
        let (_, client) = echo_world(&world);
        client.process().connect("server", 7).await.unwrap()
    });
    drop(run.outcome.unwrap());
}

#[test]
fn a_give_up_is_for_what_was_held_up_then() {
    let run = World::new(7).run(|world| async move {
        let (server, client) = echo_world(&world);
        let mut stream = client.process().connect("server", 7).await.unwrap();
        let env = world.env();
        for at in [0, 900] {
            env.until(Duration::from_secs(at + 1)).await;
            server.partition(&client);
            stream.write_all(b"x").await.unwrap();
            env.sleep(Duration::from_secs(100)).await;
            server.reconnect(&client);
            assert_eq!(stream.read_u8().await.unwrap(), b'x');
        }
    });
    run.outcome.unwrap();
}

#[test]
fn a_server_listens_again_after_an_attempt_to_connect_was_given_up() {
    let run = World::new(7).run(|world| async move {
        let (server, client) = (world.host("server").unwrap(), world.host("client").unwrap());
        server.start(|process| async move {
            let listener = process.listen(80).await.unwrap();
            while let Ok((mut stream, _)) = listener.accept().await {
                let _gone = stream.write_all(b"hello").await;
            }
        });
        // The attempt comes through when nobody waits for it any more.
        client.partition(&server);
        let (process, env) = (client.process(), client.env());
        let given_up = env.timeout(Duration::from_secs(5), process.connect("server", 80)).await;
        assert!(given_up.is_err());
        client.reconnect(&server);
        env.sleep(Duration::from_secs(10)).await;
        for end in [Host::power_cut, Host::crash] {
            end(&server);
            server.restart();
            let mut greeting = String::new();
            process.connect("server", 80).await.unwrap().read_to_string(&mut greeting).await.unwrap();
            assert_eq!(greeting, "hello");
        }
    });
    run.outcome.unwrap();
}

#[test]
fn a_host_that_is_restarted_as_it_starts_runs_its_program_once() {
    let run = World::new(7).run(|world| async move {
        let host = world.host("a").unwrap();
        let runs = Arc::new(AtomicU32::new(0));
        let again = host.clone();
        let restart = world.at(EventPattern::named("host.started"), move |_| again.restart());
        let counted = Arc::clone(&runs);
        host.start(move |_process| {
            let counted = Arc::clone(&counted);
            async move {
                counted.fetch_add(1, Ordering::Relaxed);
            }
        });
        world.env().sleep(Duration::from_secs(1)).await;
        assert!(restart.was_reached());
        runs.load(Ordering::Relaxed)
    });
    assert_eq!(run.outcome.unwrap(), 1);
}

#[test]
fn the_end_of_a_program_is_awaited_over_its_lives() {
    let run = World::new(7).run(|world| async move {
        let host = world.host("a").unwrap();
        host.start(|process| async move { process.env().sleep(Duration::from_secs(10)).await });
        let (crashing, env) = (host.clone(), world.env());
        let crash = async {
            env.sleep(Duration::from_secs(4)).await;
            crashing.restart();
        };
        futures_util::join!(crash, host.finished());
        host.finished().await;
        world.env().now()
    });
    assert_eq!(run.outcome.unwrap(), Duration::from_secs(14));
}
