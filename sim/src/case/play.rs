//! Running a case in a world.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures_util::StreamExt;
use parking_lot::Mutex;
use windtunnel_core::event::{Event, EventKind};
use windtunnel_core::executor::{CallContext, Executor, MemoryCache, MemoryLedger, ToolCall, ToolResult};
use windtunnel_core::tool::{Interrupted, RegisterError, Registry};

use super::definition::Case;
use super::run::{CaseRun, FinishedCall};
use crate::script::{Invocations, ScriptedApprovals, ScriptedTool};
use crate::{Divergence, Run, Trace, World, WorldHandle};

/// More than any case that is meant to end makes.
const CACHED_MAX: usize = 100_000;

impl Case {
    /// Runs the case with a seed, on virtual time.
    pub fn run(&self, seed: u64) -> CaseRun {
        // Outside the world, so that what is known survives a world that comes to no end.
        let log = Log { calls: Mutex::new(self.calls.iter().map(|_| None).collect()), ..Log::default() };
        let reviewer = self.decisions.clone().map(ScriptedApprovals::new);
        let world = World::new(seed).run(|world| self.play(world, &log, reviewer.clone()));
        let world = Run {
            seed: world.seed,
            outcome: world.outcome.and_then(|played| played),
            trace: world.trace,
            digest: world.digest,
            elapsed: world.elapsed,
        };
        let mut calls = log.calls.into_inner();
        attribute_delays(&mut calls, &world.trace);
        CaseRun {
            calls,
            invocations: log.invocations.to_vec(),
            ledger: log.ledger.entries(),
            approval_requests: reviewer.map_or(0, |reviewer| reviewer.requests().len()),
            world,
        }
    }
}
