//! The command as its users meet it.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod agent;
mod check;
mod command;
mod console;
mod diff;
mod exports;
mod faults;
mod fixture;
mod guide;
mod init;
mod input;
mod interrupt;
mod journal;
mod journal_damage;
mod journal_orders;
mod journal_replay;
mod manual;
mod mcp;
mod operations;
mod program;
mod program_check;
mod program_input;
mod program_run;
mod program_show;
mod programs;
mod recorded;
mod replay;
mod report;
mod run;
mod schema;
mod shrink;
mod sweep;
mod traffic;
mod workflow;
