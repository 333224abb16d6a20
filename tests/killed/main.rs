//! Real workers on a real file, killed with SIGKILL at named points and at random instants, beside a process that counts
//! what they did outside. Its own harness, since it is also the program of those processes.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test says what it expects by failing")]
#![expect(clippy::print_stdout, reason = "it is a program, and its counts are for people")]

mod audit;
mod effects;
mod lives;
mod points;
mod program;
mod trials;
mod worker;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Conclusion, Trial};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [effects::ROLE] => effects::serve(),
        [worker::ROLE, rest @ ..] => worker::run(rest),
        _ => {
            let conclusion: Conclusion = libtest_mimic::run(&Arguments::from_args(), trials());
            conclusion.exit_code()
        }
    }
}

fn trials() -> Vec<Trial> {
    vec![
        Trial::test("a_worker_killed_at_a_named_point_loses_and_repeats_nothing_committed", trials::named_points),
        Trial::test("workers_killed_at_random_instants_lose_and_repeat_nothing_committed", trials::random_instants),
    ]
}
