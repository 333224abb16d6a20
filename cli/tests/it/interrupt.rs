//! Ctrl-C.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

use crate::command::{Ended, Folder};

const CASE: &str = r#"{"id": "long", "tools": [], "calls": []}"#;

pub(crate) fn interrupt(process: u32) {
    assert!(Command::new("kill").args(["-INT", &process.to_string()]).status().unwrap().success());
}

#[test]
fn an_interrupted_run_tells_what_it_knows() {
    let folder = Folder::new("interrupt_run", &[("long.json", CASE)]);
    // So many seeds that the run cannot end by itself.
    let mut child = folder.command(&["run", "long.json", "--seeds", "0..10000000000000"]).spawn().unwrap();
    // By its first line it has taken the signal over.
    let mut progress = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    progress.read_line(&mut line).unwrap();
    assert_eq!(line, "long: 0 of 10000000000000 seeds, 0 failed\n");
    interrupt(child.id());
    let ended = Ended::of(child.wait_with_output().unwrap());
    assert_eq!(ended.code, Some(130));
    let lines: Vec<&str> = ended.out.lines().collect();
    assert_eq!(lines[0], "long over seeds 0..10000000000000");
    assert!(lines[1].starts_with("interrupted after ") && lines[1].ends_with(" of 10000000000000 seeds"));
    assert!(ended.out.ends_with("no seed failed\n\n"), "{}", ended.out);
    line.clear();
    progress.read_to_string(&mut line).unwrap();
    assert_eq!(line, "");
}

/// Whether the process has taken SIGINT over.
#[cfg(target_os = "linux")]
fn handles_interrupts(process: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:\t")).unwrap();
    u64::from_str_radix(caught, 16).unwrap() & 0b10 != 0
}

#[cfg(target_os = "linux")]
#[test]
fn waiting_for_input_can_be_interrupted() {
    let folder = Folder::new("interrupt_stdin", &[]);
    let mut child = folder.command(&["check", "-"]).stdin(Stdio::piped()).spawn().unwrap();
    let held_open = child.stdin.take();
    while !handles_interrupts(child.id()) {
        std::thread::yield_now();
    }
    interrupt(child.id());
    let ended = Ended::of(child.wait_with_output().unwrap());
    assert_eq!((ended.code, &*ended.out), (Some(130), "interrupted after 0 of 0 cases\n0 passed, 0 failed\n"));
    drop(held_open);
}
