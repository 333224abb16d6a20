//! What an event is called, and what it is about.

use std::sync::Arc;

use super::EventKind;

impl EventKind {
    /// The names of all events.
    pub const NAMES: [&'static str; 52] = [
        "run.started",
        "run.finished",
        "tool.started",
        "tool.attempt",
        "tool.retry",
        "tool.finished",
        "tool.pending",
        "tool.cache_hit",
        "approval.requested",
        "approval.decided",
        "program.started",
        "program.call",
        "program.answer",
        "program.retry",
        "program.finished",
        "model.started",
        "model.finished",
        "activation.started",
        "activation.decided",
        "activation.reconciled",
        "activation.replayed",
        "activation.retry",
        "activation.finished",
        "operation.started",
        "operation.executed",
        "operation.commit",
        "operation.committed",
        "operation.replayed",
        "operation.refused",
        "tool.body",
        "model.request",
        "journal.commit",
        "effect.happened",
        "mark",
        "host.started",
        "host.crashed",
        "host.power_cut",
        "host.paused",
        "host.resumed",
        "clock.set",
        "network.connect",
        "network.send",
        "network.receive",
        "disk.write",
        "disk.sync",
        "link.cut",
        "link.restored",
        "link.reset",
        "link.set",
        "fault.delivered",
        "world.healed",
        "assertion.failed",
    ];

    /// The name in the catalogue, such as `tool.retry`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::RunStarted {} => "run.started",
            Self::RunFinished {} => "run.finished",
            Self::ToolStarted { .. } => "tool.started",
            Self::ToolAttempt { .. } => "tool.attempt",
            Self::ToolRetry { .. } => "tool.retry",
            Self::ToolFinished { .. } => "tool.finished",
            Self::ToolPending { .. } => "tool.pending",
            Self::ToolCacheHit { .. } => "tool.cache_hit",
            Self::ApprovalRequested { .. } => "approval.requested",
            Self::ApprovalDecided { .. } => "approval.decided",
            Self::ProgramStarted { .. } => "program.started",
            Self::ProgramCall { .. } => "program.call",
            Self::ProgramAnswer { .. } => "program.answer",
            Self::ProgramRetry { .. } => "program.retry",
            Self::ProgramFinished { .. } => "program.finished",
            Self::ModelStarted { .. } => "model.started",
            Self::ModelFinished { .. } => "model.finished",
            Self::ActivationStarted { .. } => "activation.started",
            Self::ActivationDecided { .. } => "activation.decided",
            Self::ActivationReconciled { .. } => "activation.reconciled",
            Self::ActivationReplayed { .. } => "activation.replayed",
            Self::ActivationRetry { .. } => "activation.retry",
            Self::ActivationFinished { .. } => "activation.finished",
            Self::OperationStarted { .. } => "operation.started",
            Self::OperationExecuted { .. } => "operation.executed",
            Self::OperationCommit { .. } => "operation.commit",
            Self::OperationCommitted { .. } => "operation.committed",
            Self::OperationReplayed { .. } => "operation.replayed",
            Self::OperationRefused { .. } => "operation.refused",
            Self::ToolBody { .. } => "tool.body",
            Self::ModelRequest { .. } => "model.request",
            Self::JournalCommit { .. } => "journal.commit",
            Self::EffectHappened { .. } => "effect.happened",
            Self::Mark { .. } => "mark",
            Self::HostStarted {} => "host.started",
            Self::HostCrashed {} => "host.crashed",
            Self::HostPowerCut {} => "host.power_cut",
            Self::HostPaused {} => "host.paused",
            Self::HostResumed {} => "host.resumed",
            Self::ClockSet { .. } => "clock.set",
            Self::NetworkConnect { .. } => "network.connect",
            Self::NetworkSend { .. } => "network.send",
            Self::NetworkReceive { .. } => "network.receive",
            Self::DiskWrite { .. } => "disk.write",
            Self::DiskSync {} => "disk.sync",
            Self::LinkCut { .. } => "link.cut",
            Self::LinkRestored { .. } => "link.restored",
            Self::LinkReset { .. } => "link.reset",
            Self::LinkSet { .. } => "link.set",
            Self::FaultDelivered { .. } => "fault.delivered",
            Self::WorldHealed {} => "world.healed",
            Self::AssertionFailed { .. } => "assertion.failed",
        }
    }

    /// The tool that the event is about.
    pub fn tool(&self) -> Option<&Arc<str>> {
        match self {
            Self::ToolStarted { tool }
            | Self::ToolAttempt { tool, .. }
            | Self::ToolRetry { tool, .. }
            | Self::ToolFinished { tool, .. }
            | Self::ToolPending { tool, .. }
            | Self::ToolCacheHit { tool }
            | Self::ToolBody { tool }
            | Self::ApprovalRequested { tool, .. }
            | Self::ApprovalDecided { tool, .. }
            | Self::ProgramCall { tool, .. }
            | Self::ProgramAnswer { tool, .. }
            | Self::ProgramRetry { tool, .. } => Some(tool),
            _ => None,
        }
    }

    /// The key that the event is about: of an operation, or the idempotency key of an effect.
    pub fn key(&self) -> Option<&Arc<str>> {
        match self {
            Self::OperationStarted { operation, .. }
            | Self::OperationExecuted { operation, .. }
            | Self::OperationCommit { operation, .. }
            | Self::OperationCommitted { operation, .. }
            | Self::OperationReplayed { operation, .. }
            | Self::OperationRefused { operation, .. } => Some(operation),
            Self::EffectHappened { key, .. } => key.as_ref(),
            _ => None,
        }
    }

    /// The other host that the event is about.
    pub fn peer(&self) -> Option<&Arc<str>> {
        match self {
            Self::NetworkConnect { to, .. }
            | Self::NetworkSend { to, .. }
            | Self::LinkCut { to }
            | Self::LinkRestored { to }
            | Self::LinkReset { to }
            | Self::LinkSet { to, .. } => Some(to),
            Self::NetworkReceive { from, .. } => Some(from),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_has_a_name_that_is_listed_once() {
        let source = include_str!("about.rs");
        let named = source.lines().filter_map(|line| line.trim().strip_prefix("Self::")?.split_once("=> \""));
        let named: Vec<_> = named.map(|(_, name)| name.trim_end_matches("\",")).collect();
        assert_eq!(named, EventKind::NAMES);
    }
}
