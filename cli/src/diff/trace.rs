//! Where a trace comes from.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use serde_json::Value;
use windtunnel_sim::case::Format;

use crate::failure::Failure;
use crate::selection;

/// The name that stands for standard input.
const STDIN: &str = "-";

/// The largest file of events that is read: about a million events.
const FILE_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// The events of a file, of standard input, or of a case that is run with a seed.
pub(super) fn read(reference: &str, case: Option<&str>) -> Result<Vec<Value>, Failure> {
    if reference == STDIN {
        return parse("<stdin>", io::stdin().lock());
    }
    match reference.rsplit_once(':') {
        Some((file, seed)) if Format::of_name(file).is_some() && !Path::new(reference).exists() => {
            let problem = || format!("{reference}: {seed:?} is not a seed: a number below 2^64");
            run(file, case, seed.parse().map_err(|_| Failure::Selection(problem()))?)
        }
        _ => {
            let unreadable = |source| Failure::Unreadable { file: reference.to_owned(), source };
            parse(reference, BufReader::new(File::open(reference).map_err(unreadable)?))
        }
    }
}

fn run(file: &str, case: Option<&str>, seed: u64) -> Result<Vec<Value>, Failure> {
    let run = selection::case(file, case)?.run(seed);
    let events = run.trace().iter().map(|event| serde_json::to_value(event).map_err(io::Error::from));
    Ok(events.collect::<io::Result<_>>()?)
}

/// A line for each event; what a replay sums up at the end is none.
fn parse(file: &str, text: impl BufRead) -> Result<Vec<Value>, Failure> {
    let mut events = Vec::new();
    let unreadable = |source| Failure::Unreadable { file: file.to_owned(), source };
    let mut text = text.take(FILE_BYTES_MAX);
    for (number, line) in text.by_ref().lines().enumerate() {
        let line = line.map_err(unreadable)?;
        if line.trim().is_empty() {
            continue;
        }
        let event = serde_json::from_str::<Value>(&line).map_err(|error| error.to_string());
        match event.and_then(|event| if is_event(&event) { Ok(event) } else { Err("no event".to_owned()) }) {
            Ok(event) => events.push(event),
            Err(_) if is_summary(&line) => {}
            Err(problem) => {
                let number = number + 1;
                let remedy =
                    "write events with `windtunnel replay --events FILE`, or name a case with its seed, FILE:SEED";
                return Err(Failure::Selection(format!("{file}:{number}: this is no event: {problem}; {remedy}")));
            }
        }
    }
    if text.limit() == 0 {
        return Err(Failure::Selection(format!("{file}: larger than the {FILE_BYTES_MAX} bytes allowed")));
    }
    Ok(events)
}

fn is_event(value: &Value) -> bool {
    value["type"].is_string() && value["at_ns"].is_u64() && value["data"].is_object()
}

fn is_summary(line: &str) -> bool {
    serde_json::from_str::<Value>(line).is_ok_and(|value| value["type"] == "summary")
}
