//! What a world of the refund agent costs: the same guests in a world and in a classic `turmoil::Sim`, and worlds on two threads.
//!
//! These machines are noisy, so all take turns within one run, and the ratios are of medians.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark reports and stops at the first surprise")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the real clock, and needs threads")]

#[path = "refund/classic.rs"]
mod classic;
#[path = "../examples/refund/scenario.rs"]
mod scenario;

use std::num::{NonZeroU32, NonZeroUsize};
use std::time::{Duration, Instant};

use classic::in_a_classic_simulation;
use scenario::{Pace, Variant, refund, refund_at};
use windtunnel::sim::{Campaign, LinkSettings, Run, World};

const ROUNDS: u64 = 9;
const WORLDS: u64 = 100;
const LATENCY: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

/// A pace at which all is done within a second.
fn quick() -> Pace {
    Pace {
        thinking: Duration::from_millis(50),
        review: Duration::from_millis(300),
        look: Duration::from_millis(100),
        turns_per_activation: NonZeroU32::MIN.saturating_add(3),
    }
}

fn main() {
    let minutes = Pace::of_people(Duration::from_secs(120));
    against_classic("a second of it", quick(), Some(SECOND), ROUNDS);
    against_classic("with a review of two minutes", minutes, None, 3);
    each_variant();
    sweeps();
    scaling();
}

fn against_classic(what: &str, pace: Pace, span: Option<Duration>, rounds: u64) {
    let mut micros: [Vec<f64>; 2] = Default::default();
    let mut events = 0;
    for seed in 0..rounds {
        micros[0].push(micros_of(|| in_a_classic_simulation(seed, Variant::Correct, pace, span, LATENCY)));
        micros[1].push(micros_of(|| {
            for seed in 0..WORLDS {
                events = in_a_world(seed, pace, span).trace.len();
            }
        }));
    }
    let [classic, worlds] = micros.map(median);
    let ours = worlds / WORLDS as f64;
    println!("{what}, median of {rounds} rounds:");
    println!("  classic turmoil  {classic:10.0} µs");
    println!("  a world          {ours:10.0} µs   {:.0} times as fast, {events} events", classic / ours);
}

fn in_a_world(seed: u64, pace: Pace, span: Option<Duration>) -> Run<()> {
    let run = World::new(seed).run(|world| async move {
        world.set_links(LinkSettings { latency_min: LATENCY, latency_max: LATENCY, loss: 0.0 });
        let refund = refund_at(world.clone(), Variant::Correct, pace).await.unwrap();
        assert_eq!(refund.payments, 1);
        if let Some(span) = span {
            assert!(world.env().now() < span);
            world.env().until(span).await;
        }
    });
    assert!(run.outcome.is_ok(), "{:?}", run.outcome);
    run
}

fn calm(seed: u64, variant: Variant) -> usize {
    let run = World::new(seed).run(|world| async move { refund(world, variant).await.unwrap() });
    assert_eq!(run.outcome.unwrap().payments, 1);
    run.trace.len()
}

fn each_variant() {
    for variant in [Variant::Correct, Variant::Naive] {
        let mut micros = Vec::new();
        let mut events = 0;
        for _ in 0..ROUNDS {
            let all = micros_of(|| events = (0..WORLDS).map(|seed| calm(seed, variant)).sum());
            micros.push(all / WORLDS as f64);
        }
        let events = events as u64 / WORLDS;
        println!("{variant:?}, whole, in a calm world: {:.0} µs and {events} events a run", median(micros));
    }
}

/// Every fault at every event, on one core.
fn sweeps() {
    let mut seconds = Vec::new();
    let mut runs = 0;
    for _ in 0..ROUNDS {
        let campaign = Campaign::new().seeds(7..8).jobs(NonZeroUsize::MIN).pairs_max(0);
        let sweep = || {
            let swept = campaign
                .sweep(|world| async move { assert_eq!(refund(world, Variant::Correct).await.unwrap().payments, 1) });
            runs = swept.unwrap().campaign.seeds;
        };
        seconds.push(micros_of(sweep) / 1e6);
    }
    println!("a sweep of single faults on one core: {:.2} s, {runs} runs", median(seconds));
}

fn scaling() {
    let mut rates: [Vec<f64>; 2] = Default::default();
    for _ in 0..ROUNDS {
        for (threads, rates) in (1..).zip(&mut rates) {
            let all = micros_of(|| {
                std::thread::scope(|scope| {
                    for thread in 0..threads {
                        let seeds = thread * 1000..thread * 1000 + 3 * WORLDS;
                        scope.spawn(move || {
                            for seed in seeds {
                                let _payments = calm(seed, Variant::Correct);
                            }
                        });
                    }
                });
            });
            rates.push((threads * 3 * WORLDS) as f64 * 1e6 / all);
        }
    }
    let [one, two] = rates.map(median);
    println!("one thread {one:.0} worlds a second, two {two:.0}: {:.2} times as many", two / one);
}

fn micros_of(work: impl FnOnce()) -> f64 {
    let began = Instant::now();
    work();
    began.elapsed().as_secs_f64() * 1e6
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
