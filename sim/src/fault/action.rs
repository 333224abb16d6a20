//! What a fault does.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::FaultKind;

/// What a fault does, where and for how long. A host that is not named is the one of the event at which the fault comes; a
/// peer that is not named is the other host of that event, or every other one. Times are in seconds of the world's time;
/// what is wrong with hosts, links, clocks and disks and has no end is over when the world heals, if it does
/// ([`World::heal_after`](crate::World::heal_after)). A tool that hangs does so for good: whoever calls it needs a timeout.
///
/// Faults of tools, models and journals come to the next one that can be given faults ([`Faults`](super::Faults)), from
/// their event on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "fault", deny_unknown_fields)]
pub enum FaultAction {
    /// The tool fails, and nothing has happened.
    #[serde(rename = "tool.error")]
    ToolError {
        /// Whether it says that another attempt may succeed.
        #[serde(default = "yes")]
        retryable: bool,
    },
    /// The tool never answers, and nothing happens: not even when the world heals.
    #[serde(rename = "tool.hang")]
    ToolHang {},
    /// The tool begins late.
    #[serde(rename = "tool.delay")]
    ToolDelay {
        /// By how much.
        delay_s: f64,
    },
    /// The tool is run twice for one call, and gives its first answer.
    #[serde(rename = "tool.duplicate")]
    ToolDuplicate {},
    /// The tool does its work, and the caller sees a failure that says to try again.
    #[serde(rename = "tool.lose_acknowledgment")]
    ToolLoseAcknowledgment {},
    /// The tool does its work at once, and answers late.
    #[serde(rename = "tool.late_answer")]
    ToolLateAnswer {
        /// By how much.
        delay_s: f64,
    },
    /// The tool does its work, and what it answers is not what it should be. It comes to the next call that has an answer.
    #[serde(rename = "tool.malformed_result")]
    ToolMalformedResult {},
    /// Too many requests (HTTP 429).
    #[serde(rename = "model.rate_limited")]
    ModelRateLimited {
        /// How long the provider says to wait.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after_s: Option<f64>,
    },
    /// The provider fails (HTTP 500).
    #[serde(rename = "model.server_error")]
    ModelServerError {},
    /// The provider has no capacity (HTTP 529).
    #[serde(rename = "model.overloaded")]
    ModelOverloaded {},
    /// The model answers late: its first token, where it streams.
    #[serde(rename = "model.delay")]
    ModelDelay {
        /// By how much.
        delay_s: f64,
    },
    /// The model does not answer in time.
    #[serde(rename = "model.timeout")]
    ModelTimeout {
        /// When that is noticed.
        after_s: f64,
    },
    /// The answer stops in the middle, and breaks off later.
    #[serde(rename = "model.stalled_stream")]
    ModelStalledStream {
        /// How much later.
        after_s: f64,
    },
    /// The answer breaks off. As what else becomes of an answer, it comes to the next request that has one.
    #[serde(rename = "model.truncated_stream")]
    ModelTruncatedStream {},
    /// The arguments of the answer's calls are no JSON object.
    #[serde(rename = "model.malformed_json")]
    ModelMalformedJson {},
    /// The model refuses.
    #[serde(rename = "model.refusal")]
    ModelRefusal {},
    /// The model calls a tool that there is not.
    #[serde(rename = "model.wrong_tool")]
    ModelWrongTool {},
    /// The journal commits, and says nothing.
    #[serde(rename = "journal.lose_acknowledgment")]
    JournalLoseAcknowledgment {},
    /// The journal refuses a commit.
    #[serde(rename = "journal.refuse_commit")]
    JournalRefuseCommit {},
    /// Nothing gets through.
    #[serde(rename = "network.partition")]
    NetworkPartition {
        /// From this host.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        host: Option<String>,
        /// To this one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        peer: Option<String>,
        /// Whether everything gets through in the other direction.
        #[serde(default, skip_serializing_if = "is_no")]
        one_way: bool,
        /// Until then.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        heal_after_s: Option<f64>,
    },
    /// Packets take long, in both directions.
    #[serde(rename = "network.latency")]
    NetworkLatency {
        /// From this host.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        host: Option<String>,
        /// To this one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        peer: Option<String>,
        /// So long.
        latency_s: f64,
        /// Until then.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        heal_after_s: Option<f64>,
    },
    /// Packets are lost, in both directions.
    #[serde(rename = "network.loss")]
    NetworkLoss {
        /// From this host.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        host: Option<String>,
        /// To this one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        peer: Option<String>,
        /// How likely each is, from 0 to 1.
        loss: f64,
        /// Until then.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        heal_after_s: Option<f64>,
    },
    /// All connections break.
    #[serde(rename = "network.reset")]
    NetworkReset {
        /// Of this host.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        host: Option<String>,
        /// With this one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        peer: Option<String>,
    },
    /// The process is killed.
    #[serde(rename = "host.crash")]
    HostCrash {
        /// On this host.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        host: Option<String>,
        /// When it is started again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        restart_after_s: Option<f64>,
    },
    /// The power is cut.
    #[serde(rename = "host.power_cut")]
    HostPowerCut {
        /// Of this host.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        host: Option<String>,
        /// When it is started again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        restart_after_s: Option<f64>,
    },
    /// The process stands still.
    #[serde(rename = "host.pause")]
    HostPause {
        /// On this host.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        host: Option<String>,
        /// When it goes on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resume_after_s: Option<f64>,
    },
    /// The process is killed and started again at once.
    #[serde(rename = "host.restart")]
    HostRestart {
        /// On this host.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        host: Option<String>,
    },
    /// The wall clock is wrong.
    #[serde(rename = "clock.skew")]
    ClockSkew {
        /// Of this host.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        host: Option<String>,
        /// So far ahead of the world's; below 0, behind.
        ahead_s: f64,
    },
    /// The wall clock jumps.
    #[serde(rename = "clock.jump")]
    ClockJump {
        /// Of this host.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        host: Option<String>,
        /// So far ahead; below 0, back.
        by_s: f64,
    },
    /// Syncs report success and make nothing durable.
    #[serde(rename = "disk.lose_flush")]
    DiskLoseFlush {
        /// Of this host.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        host: Option<String>,
        /// Until then.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        heal_after_s: Option<f64>,
    },
    /// The power is cut, and of the last write that is not synced a part survives. For an event at which there is such a write,
    /// as `disk.sync`.
    #[serde(rename = "disk.torn_write")]
    DiskTornWrite {
        /// Of this host.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        host: Option<String>,
        /// When it is started again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        restart_after_s: Option<f64>,
    },
    /// The disk is full.
    #[serde(rename = "disk.full")]
    DiskFull {
        /// Of this host.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        host: Option<String>,
        /// Until then.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        heal_after_s: Option<f64>,
    },
    /// Whatever is asked of the disk fails.
    #[serde(rename = "disk.error")]
    DiskError {
        /// Of this host.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        host: Option<String>,
        /// Until then.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        heal_after_s: Option<f64>,
    },
}

fn yes() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_no(flag: &bool) -> bool {
    !flag
}

impl FaultAction {
    /// Its kind.
    pub fn kind(&self) -> FaultKind {
        match self {
            Self::ToolError { .. } => FaultKind::ToolError,
            Self::ToolHang {} => FaultKind::ToolHang,
            Self::ToolDelay { .. } => FaultKind::ToolDelay,
            Self::ToolDuplicate {} => FaultKind::ToolDuplicate,
            Self::ToolLoseAcknowledgment {} => FaultKind::ToolLoseAcknowledgment,
            Self::ToolLateAnswer { .. } => FaultKind::ToolLateAnswer,
            Self::ToolMalformedResult {} => FaultKind::ToolMalformedResult,
            Self::ModelRateLimited { .. } => FaultKind::ModelRateLimited,
            Self::ModelServerError {} => FaultKind::ModelServerError,
            Self::ModelOverloaded {} => FaultKind::ModelOverloaded,
            Self::ModelDelay { .. } => FaultKind::ModelDelay,
            Self::ModelTimeout { .. } => FaultKind::ModelTimeout,
            Self::ModelStalledStream { .. } => FaultKind::ModelStalledStream,
            Self::ModelTruncatedStream {} => FaultKind::ModelTruncatedStream,
            Self::ModelMalformedJson {} => FaultKind::ModelMalformedJson,
            Self::ModelRefusal {} => FaultKind::ModelRefusal,
            Self::ModelWrongTool {} => FaultKind::ModelWrongTool,
            Self::JournalLoseAcknowledgment {} => FaultKind::JournalLoseAcknowledgment,
            Self::JournalRefuseCommit {} => FaultKind::JournalRefuseCommit,
            Self::NetworkPartition { .. } => FaultKind::NetworkPartition,
            Self::NetworkLatency { .. } => FaultKind::NetworkLatency,
            Self::NetworkLoss { .. } => FaultKind::NetworkLoss,
            Self::NetworkReset { .. } => FaultKind::NetworkReset,
            Self::HostCrash { .. } => FaultKind::HostCrash,
            Self::HostPowerCut { .. } => FaultKind::HostPowerCut,
            Self::HostPause { .. } => FaultKind::HostPause,
            Self::HostRestart { .. } => FaultKind::HostRestart,
            Self::ClockSkew { .. } => FaultKind::ClockSkew,
            Self::ClockJump { .. } => FaultKind::ClockJump,
            Self::DiskLoseFlush { .. } => FaultKind::DiskLoseFlush,
            Self::DiskTornWrite { .. } => FaultKind::DiskTornWrite,
            Self::DiskFull { .. } => FaultKind::DiskFull,
            Self::DiskError { .. } => FaultKind::DiskError,
        }
    }

    /// The host that it names.
    pub(crate) fn host(&self) -> Option<&str> {
        match self {
            Self::NetworkPartition { host, .. }
            | Self::NetworkLatency { host, .. }
            | Self::NetworkLoss { host, .. }
            | Self::NetworkReset { host, .. }
            | Self::HostCrash { host, .. }
            | Self::HostPowerCut { host, .. }
            | Self::HostPause { host, .. }
            | Self::HostRestart { host }
            | Self::ClockSkew { host, .. }
            | Self::ClockJump { host, .. }
            | Self::DiskLoseFlush { host, .. }
            | Self::DiskTornWrite { host, .. }
            | Self::DiskFull { host, .. }
            | Self::DiskError { host, .. } => host.as_deref(),
            _ => None,
        }
    }

    /// The peer that it names.
    pub(crate) fn peer(&self) -> Option<&str> {
        match self {
            Self::NetworkPartition { peer, .. }
            | Self::NetworkLatency { peer, .. }
            | Self::NetworkLoss { peer, .. }
            | Self::NetworkReset { peer, .. } => peer.as_deref(),
            _ => None,
        }
    }

    /// Its numbers, each with its name and whether it may be below 0.
    pub(super) fn numbers(&self) -> Vec<(&'static str, f64, bool)> {
        match self {
            Self::ToolDelay { delay_s } | Self::ToolLateAnswer { delay_s } => vec![("delay_s", *delay_s, false)],
            Self::ModelRateLimited { retry_after_s: Some(after_s) } => vec![("retry_after_s", *after_s, false)],
            Self::ModelDelay { delay_s } => vec![("delay_s", *delay_s, false)],
            Self::ModelTimeout { after_s } | Self::ModelStalledStream { after_s } => vec![("after_s", *after_s, false)],
            Self::NetworkPartition { heal_after_s: Some(after_s), .. }
            | Self::DiskLoseFlush { heal_after_s: Some(after_s), .. }
            | Self::DiskFull { heal_after_s: Some(after_s), .. }
            | Self::DiskError { heal_after_s: Some(after_s), .. } => vec![("heal_after_s", *after_s, false)],
            Self::NetworkLatency { latency_s, heal_after_s, .. } => {
                let healing = heal_after_s.map(|after_s| ("heal_after_s", after_s, false));
                [("latency_s", *latency_s, false)].into_iter().chain(healing).collect()
            }
            Self::NetworkLoss { loss, heal_after_s, .. } => {
                let healing = heal_after_s.map(|after_s| ("heal_after_s", after_s, false));
                [("loss", *loss, false)].into_iter().chain(healing).collect()
            }
            Self::HostCrash { restart_after_s: Some(after_s), .. }
            | Self::HostPowerCut { restart_after_s: Some(after_s), .. }
            | Self::DiskTornWrite { restart_after_s: Some(after_s), .. } => vec![("restart_after_s", *after_s, false)],
            Self::HostPause { resume_after_s: Some(after_s), .. } => vec![("resume_after_s", *after_s, false)],
            Self::ClockSkew { ahead_s, .. } => vec![("ahead_s", *ahead_s, true)],
            Self::ClockJump { by_s, .. } => vec![("by_s", *by_s, true)],
            _ => Vec::new(),
        }
    }
}

/// A time of an action, which [`FaultPlan::check`](super::FaultPlan::check) has found to be one.
pub(super) fn duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}
