//! Guests that reach past their world.
#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "the guests here do what they must not")]
#![expect(clippy::panic, clippy::print_stderr, reason = "a test fails, and one tells another process what it has seen")]

use std::collections::{HashMap, HashSet};
use std::process::Command;
use std::sync::mpsc;
use std::time::{Duration, Instant, SystemTime};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use windtunnel_core::executor::{Executor, ToolCall};
use windtunnel_core::tool::{Registry, ToolSpec};
use windtunnel_sim::script::{Failure, ScriptedTool, Step};
use windtunnel_sim::{ExploreError, Leaks, Run, World, WorldError, WorldHandle, explore_in};

/// Set, a test prints what another process is to compare.
const PRINTS: &str = "WINDTUNNEL_TEST_PRINTS";

#[inline(never)]
fn reads_the_time_of_day() {
    let _now = SystemTime::now();
}

#[inline(never)]
fn reads_the_monotonic_clock() {
    let _now = Instant::now();
}

#[inline(never)]
fn draws() {
    let _drawn: u64 = rand::random();
}

#[inline(never)]
fn opens_a_device_of_entropy() {
    drop(std::fs::File::open("/dev/urandom"));
}

#[inline(never)]
fn starts_a_thread() {
    std::thread::spawn(|| {}).join().unwrap();
}

type Reach = (fn(), &'static str, &'static str);

const REACHES: [Reach; 5] = [
    (reads_the_time_of_day, "read the real wall clock (clock_gettime)", "in `it::alarm::reads_the_time_of_day`"),
    (
        reads_the_monotonic_clock,
        "read the real monotonic clock (clock_gettime)",
        "in `it::alarm::reads_the_monotonic_clock`",
    ),
    (draws, "drew the system's entropy (getrandom)", "in `it::alarm::draws`"),
    (opens_a_device_of_entropy, "drew the system's entropy (open)", "in `it::alarm::opens_a_device_of_entropy`"),
    (starts_a_thread, "started a thread (pthread_create)", "in `it::alarm::starts_a_thread`"),
];

/// What leaked, where, and how often.
fn leak<T: std::fmt::Debug>(run: Run<T>) -> (String, String, u64) {
    match run.outcome {
        Err(WorldError::Leak { what, place, count }) => (what, place, count),
        other => panic!("no leak: {other:?}"),
    }
}

fn check(run: Run<()>, what: &str, place: &str) {
    let leak = leak(run);
    assert_eq!((leak.0.as_str(), leak.2), (what, 1), "{leak:?}");
    // Where tables of lines are the only debug information, functions have no paths.
    assert!(leak.1.starts_with(place) || leak.1.starts_with(&place.replace("it::alarm::", "")), "{leak:?}");
}

#[test]
fn a_reach_past_the_world_is_noticed_wherever_a_guest_runs() {
    for (reach, what, place) in REACHES {
        check(World::new(7).run(|_world| async move { reach() }), what, place);
        let in_a_task = World::new(7).run(|world| async move {
            world.host("agent").unwrap().start(move |process| async move {
                process.env().sleep(Duration::from_secs(1)).await;
                reach();
            });
            world.env().sleep(Duration::from_secs(2)).await;
        });
        check(in_a_task, what, place);
        let spawned = World::new(7).run(|world| async move {
            drop(tokio::spawn(async move { reach() }));
            world.env().sleep(Duration::from_secs(2)).await;
        });
        check(spawned, what, place);
    }
}

#[test]
fn the_place_has_a_file_where_debug_information_says_so() {
    let (_, place, _) = leak(World::new(7).run(|_world| async { reads_the_time_of_day() }));
    // Built without, there is only the function.
    if place.contains(" at ") {
        assert!(place.contains("tests/it/alarm.rs:"), "{place}");
    }
}

#[test]
fn all_leaks_are_counted_and_the_first_is_told() {
    let run = World::new(7).run(|world| async move {
        draws();
        for _ in 0..3 {
            reads_the_time_of_day();
            world.env().sleep(Duration::from_secs(1)).await;
        }
    });
    let (what, _, count) = leak(run);
    assert_eq!((what.as_str(), count), ("drew the system's entropy (getrandom)", 4));
}

#[test]
fn the_systems_environment_is_a_leak_when_it_is_asked() {
    let unused = World::new(7).run(|_world| async { drop(windtunnel_core::env::Env::system()) });
    assert!(unused.outcome.is_ok(), "{unused:?}");
    let (_, place, _) = leak(World::new(7).run(|_world| async { windtunnel_core::env::Env::system().wall() }));
    assert!(place.contains("through `") && place.contains("windtunnel_core::env::system::System"), "{place}");
}

#[test]
fn a_panic_is_told_before_a_leak() {
    let run: Run<()> = World::new(7).run(|_world| async {
        reads_the_time_of_day();
        panic!("broken");
    });
    assert!(matches!(run.outcome, Err(WorldError::Panicked { message }) if message == "broken"));
}

#[test]
fn an_exploration_tells_the_leak() {
    let error = explore_in(World::new, 3..4, |_world| async { reads_the_time_of_day() }).unwrap_err();
    let ExploreError::Failed(failing) = &error else { panic!("{error}") };
    assert_eq!(failing.recipe.seed, 3);
    let text = error.to_string();
    assert!(text.contains("the guest read the real wall clock (clock_gettime) in `"), "{text}");
    assert!(text.contains("reads_the_time_of_day`"), "{text}");
}

async fn call_with_a_retry(world: WorldHandle, reach: fn()) {
    let spec = ToolSpec { retries: 2, ..ToolSpec::new("search", "Searches.", serde_json::json!({"type": "object"})) };
    let mut registry = Registry::new();
    registry.register(ScriptedTool::new(spec, [Step::fail(Failure::Foreign), Step::answer()])).unwrap();
    let executor = Executor::builder(registry).env(world.env()).sink(world.trace()).build();
    reach();
    executor.run_call(ToolCall::new("search", serde_json::json!({}))).await.unwrap();
    reach();
}

#[test]
fn a_leak_changes_nothing_of_the_trace() {
    let run = |leaks, reach| World::new(7).leaks(leaks).run(|world| call_with_a_retry(world, reach));
    let quiet = run(Leaks::Ignore, || {}).digest();
    for (reach, ..) in REACHES {
        for leaks in [Leaks::Fail, Leaks::Serve, Leaks::Ignore] {
            assert_eq!(run(leaks, reach).digest(), quiet);
        }
        assert!(run(Leaks::Ignore, reach).outcome.is_ok());
    }
}

#[test]
fn what_belongs_to_the_world_is_no_leak() {
    let run = World::new(7).run(|world| async move {
        let env = world.env();
        let _drawn = (env.now(), env.wall(), env.random_u64("x"), env.unit("y"), env.next_id("call"));
        env.run_blocking(|| {}).await.unwrap();
        let _late = env.timeout(Duration::from_secs(1), std::future::pending::<()>()).await;
        let began = tokio::time::Instant::now();
        tokio::time::sleep(Duration::from_millis(10)).await;
        let _late = tokio::time::timeout(Duration::from_millis(10), std::future::pending::<()>()).await;
        assert_eq!(began.elapsed(), Duration::from_millis(20));
        world.host("server").unwrap().start(|process| async move {
            let (mut stream, _) = process.listen(80).await.unwrap().accept().await.unwrap();
            stream.write_all(b"hello").await.unwrap();
        });
        let client = world.host("client").unwrap().process();
        env.sleep(Duration::from_secs(1)).await;
        let mut text = String::new();
        client.connect("server", 80).await.unwrap().read_to_string(&mut text).await.unwrap();
        tokio::spawn(async { tokio::task::yield_now().await }).await.unwrap();
        let (left, right) = (tokio::sync::oneshot::channel::<()>(), std::sync::Mutex::new(text));
        drop(left);
        call_with_a_retry(world, || {}).await;
        right.into_inner().unwrap()
    });
    assert_eq!(run.outcome.unwrap(), "hello");
}

fn in_2001() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(978_307_200)
}

#[test]
fn served_clocks_show_the_worlds_time() {
    let run = World::new(7).epoch(in_2001()).leaks(Leaks::Serve).run(|world| async move {
        let (wall, monotonic, tokios) = (SystemTime::now(), Instant::now(), tokio::time::Instant::now());
        assert_eq!((wall, tokios.into_std()), (world.env().wall(), monotonic));
        world.env().sleep(Duration::from_nanos(1_500_000_007)).await;
        let in_a_task = world.host("agent").unwrap().spawn(async { SystemTime::now() });
        let spawned = tokio::spawn(async { SystemTime::now() }).await.unwrap();
        assert_eq!((in_a_task.await.unwrap(), spawned), (SystemTime::now(), SystemTime::now()));
        (wall, SystemTime::now().duration_since(wall).unwrap(), monotonic.elapsed())
    });
    let waited = Duration::from_nanos(1_500_000_007);
    assert_eq!(run.outcome.unwrap(), (in_2001(), waited, waited));
}

#[test]
fn a_thread_cannot_be_served() {
    check(
        World::new(7).leaks(Leaks::Serve).run(|_world| async {
            reads_the_time_of_day();
            starts_a_thread();
        }),
        "started a thread (pthread_create)",
        "in `it::alarm::starts_a_thread`",
    );
}

#[test]
fn outside_of_the_world_everything_is_real_while_one_runs() {
    let (ask, asked) = mpsc::channel::<()>();
    let (answer, answered) = mpsc::channel();
    let outside = std::thread::spawn(move || {
        for () in asked {
            answer.send((SystemTime::now(), rand::random::<u64>())).unwrap();
        }
    });
    let began = SystemTime::now();
    let answered = std::sync::Mutex::new(answered);
    let outsiders = |leaks| {
        let run = World::new(7).epoch(in_2001()).leaks(leaks).run(|_world| async {
            ask.send(()).unwrap();
            answered.lock().unwrap().recv().unwrap()
        });
        run.outcome.unwrap()
    };
    let told = [Leaks::Serve, Leaks::Serve, Leaks::Fail].map(outsiders);
    assert!(told.iter().all(|(wall, _)| *wall >= began), "{told:?}");
    assert_ne!(told[0].1, told[1].1);
    assert!(SystemTime::now() >= began);
    drop(ask);
    outside.join().unwrap();
}

#[test]
fn a_world_in_a_world_has_an_alarm_of_its_own_and_a_thread_that_is_told() {
    let inner = std::sync::Mutex::new(None);
    let outer = World::new(7).run(|_world| async {
        let run = World::new(8).run(|_world| async { reads_the_time_of_day() });
        *inner.lock().unwrap() = Some(run);
    });
    let (what, place, count) = leak(outer);
    assert_eq!((what.as_str(), count), ("started a thread (pthread_create)", 1), "{place}");
    check(
        inner.into_inner().unwrap().unwrap(),
        "read the real wall clock (clock_gettime)",
        "in `it::alarm::reads_the_time_of_day`",
    );
}

#[test]
fn worlds_at_once_tell_their_own_leaks() {
    let told = |seed: u64| {
        let run = World::new(seed).run(|_world| async move {
            for _ in 0..seed {
                reads_the_time_of_day();
            }
        });
        if seed == 0 { run.outcome.map_or(1, |()| 0) } else { leak(run).2 }
    };
    let counts: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..16).map(|seed| scope.spawn(move || told(seed))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(counts, (0..16).collect::<Vec<_>>());
}

/// A map's order follows the seed, and to make one is no leak: nothing of it differs from run to run, in another process either
/// (see `another_process_has_the_same_orders`).
#[test]
fn to_make_a_map_is_no_leak() {
    let made = |world: WorldHandle| async move {
        let mut orders = vec![chance().await];
        let spawned = tokio::spawn(async { chance().await });
        orders.push(spawned.await.unwrap());
        orders.push(world.host("agent").unwrap().process().spawn(async { chance().await }).await.unwrap());
        orders
    };
    let run = World::new(7).check_determinism(made).unwrap();
    assert_eq!(run.outcome.unwrap().len(), 3);
}

/// The order of a map and of a set, and what is drawn.
async fn chance() -> String {
    let map: HashMap<_, _> = (0..20).map(|number| (number, ())).collect();
    let set: HashSet<_> = (0..20).collect();
    format!("{:?} {:?}", map.into_keys().collect::<Vec<_>>(), set)
}

/// Which of four branches that are ready come first.
async fn selected() -> String {
    let mut chosen = String::new();
    for _ in 0..40 {
        let branch = tokio::select! {
            () = async {} => 'a',
            () = async {} => 'b',
            () = async {} => 'c',
            () = async {} => 'd',
        };
        chosen.push(branch);
    }
    chosen
}

fn in_worlds<F: Future<Output = String>>(leaks: Leaks, seeds: &[u64], scenario: impl Fn() -> F + Sync) -> Vec<String> {
    seeds.iter().map(|seed| World::new(*seed).leaks(leaks).run(|_world| scenario()).outcome.unwrap()).collect()
}

#[test]
fn the_order_of_maps_follows_the_seed() {
    for leaks in [Leaks::Fail, Leaks::Serve] {
        let orders = in_worlds(leaks, &[7, 7, 8], chance);
        assert_eq!(orders[0], orders[1]);
        assert_ne!(orders[0], orders[2]);
    }
}

#[test]
fn served_entropy_follows_the_seed() {
    let draw = || async { format!("{:?}", [rand::random::<u64>(), rand::random()]) };
    let drawn = in_worlds(Leaks::Serve, &[7, 7, 8], draw);
    assert_eq!(drawn[0], drawn[1]);
    assert_ne!(drawn[0], drawn[2]);
}

#[test]
fn another_process_has_the_same_orders() {
    let orders = || {
        let drawn =
            in_worlds(Leaks::Serve, &[7, 8], || async { format!("{} {:?}", chance().await, rand::random::<u64>()) });
        [in_worlds(Leaks::Serve, &[7, 8], selected), drawn].concat()
    };
    if std::env::var_os(PRINTS).is_some() {
        // The first worlds of this process.
        return orders().iter().for_each(|order| eprintln!("order: {order}"));
    }
    let printed = || {
        let mut test = Command::new(std::env::current_exe().unwrap());
        test.args(["alarm::another_process_has_the_same_orders", "--exact", "--nocapture"]).env(PRINTS, "yes");
        let output = String::from_utf8(test.output().unwrap().stderr).unwrap();
        output.lines().filter_map(|line| line.strip_prefix("order: ")).map(str::to_owned).collect::<Vec<_>>()
    };
    let (first, second) = (printed(), printed());
    assert_eq!((first.len(), &first), (4, &second));
    assert_ne!(first[0], first[1]);
    // What is drawn is the same after any number of worlds, `select!` only if tokio takes a seed.
    let from = if cfg!(tokio_unstable) { 0 } else { 2 };
    assert_eq!(orders()[from..], first[from..]);
}
