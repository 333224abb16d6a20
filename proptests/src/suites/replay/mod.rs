//! The suite for what records and replays.

mod answers;
mod consumption;
mod lanes;
mod redaction;
mod schedule;
mod service;
mod subject;
mod suite;
mod trial;

pub use redaction::RedactionCase;
pub use schedule::ReplaySchedule;
pub use service::LiveService;
pub use subject::{ReplayFeature, ReplayRest, ReplaySetup, ReplaySubject, Replayed};
pub use suite::replay_suite;
