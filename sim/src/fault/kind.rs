//! The kinds of fault: their names, where each can come, and what each usually is.

use serde::{Deserialize, Serialize};
use windtunnel_core::event::{Event, EventKind};

use super::FaultAction;

/// A kind of fault.
///
/// ```
/// use windtunnel_sim::fault::FaultKind;
///
/// assert_eq!(FaultKind::HostCrash.name(), "host.crash");
/// assert!(FaultKind::ALL.contains(&FaultKind::ToolLoseAcknowledgment));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[expect(missing_docs, reason = "each is what `FaultAction` says of the action of its name")]
pub enum FaultKind {
    #[serde(rename = "tool.error")]
    ToolError,
    #[serde(rename = "tool.hang")]
    ToolHang,
    #[serde(rename = "tool.delay")]
    ToolDelay,
    #[serde(rename = "tool.duplicate")]
    ToolDuplicate,
    #[serde(rename = "tool.lose_acknowledgment")]
    ToolLoseAcknowledgment,
    #[serde(rename = "tool.late_answer")]
    ToolLateAnswer,
    #[serde(rename = "tool.malformed_result")]
    ToolMalformedResult,
    #[serde(rename = "model.rate_limited")]
    ModelRateLimited,
    #[serde(rename = "model.server_error")]
    ModelServerError,
    #[serde(rename = "model.overloaded")]
    ModelOverloaded,
    #[serde(rename = "model.delay")]
    ModelDelay,
    #[serde(rename = "model.timeout")]
    ModelTimeout,
    #[serde(rename = "model.stalled_stream")]
    ModelStalledStream,
    #[serde(rename = "model.truncated_stream")]
    ModelTruncatedStream,
    #[serde(rename = "model.malformed_json")]
    ModelMalformedJson,
    #[serde(rename = "model.refusal")]
    ModelRefusal,
    #[serde(rename = "model.wrong_tool")]
    ModelWrongTool,
    #[serde(rename = "journal.lose_acknowledgment")]
    JournalLoseAcknowledgment,
    #[serde(rename = "journal.refuse_commit")]
    JournalRefuseCommit,
    #[serde(rename = "network.partition")]
    NetworkPartition,
    #[serde(rename = "network.latency")]
    NetworkLatency,
    #[serde(rename = "network.loss")]
    NetworkLoss,
    #[serde(rename = "network.reset")]
    NetworkReset,
    #[serde(rename = "host.crash")]
    HostCrash,
    #[serde(rename = "host.power_cut")]
    HostPowerCut,
    #[serde(rename = "host.pause")]
    HostPause,
    #[serde(rename = "host.restart")]
    HostRestart,
    #[serde(rename = "clock.skew")]
    ClockSkew,
    #[serde(rename = "clock.jump")]
    ClockJump,
    #[serde(rename = "disk.lose_flush")]
    DiskLoseFlush,
    #[serde(rename = "disk.torn_write")]
    DiskTornWrite,
    #[serde(rename = "disk.full")]
    DiskFull,
    #[serde(rename = "disk.error")]
    DiskError,
}

/// How long a fault may last.
const SECONDS: [f64; 12] = [0.1, 0.2, 0.4, 0.7, 1.2, 2.0, 3.5, 6.0, 11.0, 20.0, 45.0, 100.0];

/// Who carries a fault out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// The next tool, model or journal that can be given faults.
    Tool,
    Model,
    Journal,
    /// The world itself.
    World,
}

impl FaultKind {
    /// All kinds.
    pub const ALL: [Self; 33] = [
        Self::ToolError,
        Self::ToolHang,
        Self::ToolDelay,
        Self::ToolDuplicate,
        Self::ToolLoseAcknowledgment,
        Self::ToolLateAnswer,
        Self::ToolMalformedResult,
        Self::ModelRateLimited,
        Self::ModelServerError,
        Self::ModelOverloaded,
        Self::ModelDelay,
        Self::ModelTimeout,
        Self::ModelStalledStream,
        Self::ModelTruncatedStream,
        Self::ModelMalformedJson,
        Self::ModelRefusal,
        Self::ModelWrongTool,
        Self::JournalLoseAcknowledgment,
        Self::JournalRefuseCommit,
        Self::NetworkPartition,
        Self::NetworkLatency,
        Self::NetworkLoss,
        Self::NetworkReset,
        Self::HostCrash,
        Self::HostPowerCut,
        Self::HostPause,
        Self::HostRestart,
        Self::ClockSkew,
        Self::ClockJump,
        Self::DiskLoseFlush,
        Self::DiskTornWrite,
        Self::DiskFull,
        Self::DiskError,
    ];

    /// Its name, such as `host.crash`.
    pub fn name(self) -> &'static str {
        match self {
            Self::ToolError => "tool.error",
            Self::ToolHang => "tool.hang",
            Self::ToolDelay => "tool.delay",
            Self::ToolDuplicate => "tool.duplicate",
            Self::ToolLoseAcknowledgment => "tool.lose_acknowledgment",
            Self::ToolLateAnswer => "tool.late_answer",
            Self::ToolMalformedResult => "tool.malformed_result",
            Self::ModelRateLimited => "model.rate_limited",
            Self::ModelServerError => "model.server_error",
            Self::ModelOverloaded => "model.overloaded",
            Self::ModelDelay => "model.delay",
            Self::ModelTimeout => "model.timeout",
            Self::ModelStalledStream => "model.stalled_stream",
            Self::ModelTruncatedStream => "model.truncated_stream",
            Self::ModelMalformedJson => "model.malformed_json",
            Self::ModelRefusal => "model.refusal",
            Self::ModelWrongTool => "model.wrong_tool",
            Self::JournalLoseAcknowledgment => "journal.lose_acknowledgment",
            Self::JournalRefuseCommit => "journal.refuse_commit",
            Self::NetworkPartition => "network.partition",
            Self::NetworkLatency => "network.latency",
            Self::NetworkLoss => "network.loss",
            Self::NetworkReset => "network.reset",
            Self::HostCrash => "host.crash",
            Self::HostPowerCut => "host.power_cut",
            Self::HostPause => "host.pause",
            Self::HostRestart => "host.restart",
            Self::ClockSkew => "clock.skew",
            Self::ClockJump => "clock.jump",
            Self::DiskLoseFlush => "disk.lose_flush",
            Self::DiskTornWrite => "disk.torn_write",
            Self::DiskFull => "disk.full",
            Self::DiskError => "disk.error",
        }
    }

    /// Whether the world itself carries it out, and no tool, model or journal.
    pub(crate) fn is_of_world(self) -> bool {
        self.target() == Target::World
    }

    pub(crate) fn target(self) -> Target {
        let name = self.name();
        match name.split_once('.').map_or(name, |(target, _)| target) {
            "tool" => Target::Tool,
            "model" => Target::Model,
            "journal" => Target::Journal,
            _ => Target::World,
        }
    }

    /// Whether the fault can come at this event: where whoever carries it out is about to act, or, for faults of the world,
    /// where a guest is about to take a step. What the world itself does to hosts is no such step.
    pub(crate) fn can_come_at(self, event: &Event) -> bool {
        let is_step = !matches!(
            event.kind,
            EventKind::HostCrashed {}
                | EventKind::HostPowerCut {}
                | EventKind::HostPaused {}
                | EventKind::HostResumed {}
                | EventKind::ClockSet { .. }
                | EventKind::LinkCut { .. }
                | EventKind::LinkRestored { .. }
                | EventKind::LinkReset { .. }
                | EventKind::LinkSet { .. }
                | EventKind::FaultDelivered { .. }
                | EventKind::WorldHealed {}
                | EventKind::AssertionFailed { .. }
        );
        let is_on_network = event.kind.peer().is_some();
        let is_sent = matches!(event.kind, EventKind::NetworkConnect { .. } | EventKind::NetworkSend { .. });
        let is_on_disk = matches!(event.kind, EventKind::DiskWrite { .. } | EventKind::DiskSync {});
        match self.target() {
            Target::Tool => matches!(event.kind, EventKind::ToolBody { .. }),
            Target::Model => matches!(event.kind, EventKind::ModelRequest { .. }),
            Target::Journal => matches!(event.kind, EventKind::JournalCommit { .. }),
            Target::World => match self {
                Self::NetworkPartition | Self::NetworkReset => is_sent,
                Self::NetworkLatency | Self::NetworkLoss => matches!(event.kind, EventKind::NetworkConnect { .. }),
                Self::DiskLoseFlush => matches!(event.kind, EventKind::DiskSync {}),
                Self::DiskFull => matches!(event.kind, EventKind::DiskWrite { .. }),
                // Before a sync what was written last is pending.
                Self::DiskTornWrite => matches!(event.kind, EventKind::DiskSync {}),
                Self::DiskError => is_on_disk,
                // A clock that is wrong matters to what happens inside a host.
                Self::ClockSkew | Self::ClockJump => is_step && !is_on_network && !is_on_disk && event.host.is_some(),
                _ => is_step && event.host.is_some(),
            },
        }
    }

    /// What it usually is. `unit` is drawn from [0, 1) and says how long or how far; 0.5 where nothing is drawn.
    pub(crate) fn action(self, unit: f64) -> FaultAction {
        // From a tenth of a second to 100 s, as likely below 3 s as above; from a list, so that no machine computes others.
        let seconds = SECONDS[((unit * SECONDS.len() as f64) as usize).min(SECONDS.len() - 1)];
        let (host, peer) = (None, None);
        match self {
            Self::ToolError => FaultAction::ToolError { retryable: unit < 0.75 },
            Self::ToolHang => FaultAction::ToolHang {},
            Self::ToolDelay => FaultAction::ToolDelay { delay_s: seconds },
            Self::ToolDuplicate => FaultAction::ToolDuplicate {},
            Self::ToolLoseAcknowledgment => FaultAction::ToolLoseAcknowledgment {},
            Self::ToolLateAnswer => FaultAction::ToolLateAnswer { delay_s: seconds },
            Self::ToolMalformedResult => FaultAction::ToolMalformedResult {},
            Self::ModelRateLimited => FaultAction::ModelRateLimited { retry_after_s: Some(seconds) },
            Self::ModelServerError => FaultAction::ModelServerError {},
            Self::ModelOverloaded => FaultAction::ModelOverloaded {},
            Self::ModelDelay => FaultAction::ModelDelay { delay_s: seconds },
            Self::ModelTimeout => FaultAction::ModelTimeout { after_s: seconds },
            Self::ModelStalledStream => FaultAction::ModelStalledStream { after_s: seconds },
            Self::ModelTruncatedStream => FaultAction::ModelTruncatedStream {},
            Self::ModelMalformedJson => FaultAction::ModelMalformedJson {},
            Self::ModelRefusal => FaultAction::ModelRefusal {},
            Self::ModelWrongTool => FaultAction::ModelWrongTool {},
            Self::JournalLoseAcknowledgment => FaultAction::JournalLoseAcknowledgment {},
            Self::JournalRefuseCommit => FaultAction::JournalRefuseCommit {},
            Self::NetworkPartition => {
                let one_way = (unit * 1000.0).fract() < 0.3;
                FaultAction::NetworkPartition { host, peer, one_way, heal_after_s: Some(seconds) }
            }
            Self::NetworkLatency => {
                FaultAction::NetworkLatency { host, peer, latency_s: unit, heal_after_s: Some(10.0 * seconds) }
            }
            Self::NetworkLoss => {
                FaultAction::NetworkLoss { host, peer, loss: 0.6 * unit, heal_after_s: Some(10.0 * seconds) }
            }
            Self::NetworkReset => FaultAction::NetworkReset { host, peer },
            Self::HostCrash => FaultAction::HostCrash { host, restart_after_s: Some(seconds) },
            Self::HostPowerCut => FaultAction::HostPowerCut { host, restart_after_s: Some(seconds) },
            Self::HostPause => FaultAction::HostPause { host, resume_after_s: Some(seconds) },
            Self::HostRestart => FaultAction::HostRestart { host },
            Self::ClockSkew => FaultAction::ClockSkew { host, ahead_s: (unit - 0.5) * 7200.0 },
            Self::ClockJump => FaultAction::ClockJump { host, by_s: (unit - 0.5) * 1200.0 },
            Self::DiskLoseFlush => FaultAction::DiskLoseFlush { host, heal_after_s: Some(10.0 * seconds) },
            Self::DiskTornWrite => FaultAction::DiskTornWrite { host, restart_after_s: Some(seconds) },
            Self::DiskFull => FaultAction::DiskFull { host, heal_after_s: Some(seconds) },
            Self::DiskError => FaultAction::DiskError { host, heal_after_s: Some(seconds) },
        }
    }

    /// What a sweep tries: the same everywhere.
    pub(crate) fn typical(self) -> FaultAction {
        match self {
            Self::ClockSkew => FaultAction::ClockSkew { host: None, ahead_s: 3600.0 },
            Self::ClockJump => FaultAction::ClockJump { host: None, by_s: -600.0 },
            _ => self.action(0.5),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_listed_once_and_is_the_kind_of_its_actions() {
        let mut names: Vec<_> = FaultKind::ALL.iter().map(|kind| kind.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), FaultKind::ALL.len());
        for kind in FaultKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
            for unit in [0.0, 0.5, 0.999] {
                let action = kind.action(unit);
                assert_eq!(action.kind(), kind);
                assert_eq!(serde_json::to_value(&action).unwrap()["fault"], kind.name());
            }
            assert_eq!(kind.typical().kind(), kind);
        }
    }
}
