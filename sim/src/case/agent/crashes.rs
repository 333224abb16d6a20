//! Where workers crash. A pure plan: it is told what is passed, and says whether somebody goes down there.

use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

/// A point at which a worker can crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CrashPoint {
    /// An operation has begun, and its tool or model is not called yet.
    BeforeCall,
    /// A tool has had its effect, or the model has answered, and the worker does not hear of it.
    AfterEffect,
    /// The worker has the result, and the store has not.
    BeforeCommit,
    /// The store has the record, and the worker does not hear of it.
    AfterCommit,
    /// The activation has its decision, and the store has not.
    BeforeDecision,
    /// The store has the decision, and the worker does not hear of it.
    AfterDecision,
}

/// A crash that came.
#[derive(Clone, Debug, PartialEq)]
pub struct Crash {
    /// Where.
    pub at: CrashPoint,
    /// The activation, from 1.
    pub activation: u64,
    /// The operation's key, if it was at one.
    pub operation: Option<Arc<str>>,
    /// Which worker, from 1.
    pub worker: u64,
    /// When, since the case began.
    pub time: Duration,
    /// Whether chance did it, and not the file.
    pub is_drawn: bool,
}

/// A crash that the file asks for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PlannedCrash {
    pub(super) at: CrashPoint,
    /// Any, if it does not say which.
    pub(super) operation: Option<String>,
    /// Any, if it does not say which.
    pub(super) activation: Option<u64>,
    /// Which of the times that it is passed, over all attempts.
    pub(super) nth: NonZeroU32,
}

/// Where a worker is.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Place {
    pub(super) activation: u64,
    pub(super) operation: Option<Arc<str>>,
}

/// Who goes down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Fall {
    Planned,
    Drawn,
}

/// The crashes that are still to come.
#[derive(Debug)]
pub(super) struct CrashPlan {
    planned: Vec<Pending>,
    rate: f64,
    drawn_left: u32,
}

#[derive(Debug)]
struct Pending {
    crash: PlannedCrash,
    passed: u32,
    is_delivered: bool,
}

impl CrashPlan {
    pub(super) fn new(planned: impl IntoIterator<Item = PlannedCrash>, rate: f64, drawn_max: u32) -> Self {
        let pending = |crash| Pending { crash, passed: 0, is_delivered: false };
        Self { planned: planned.into_iter().map(pending).collect(), rate, drawn_left: drawn_max }
    }

    /// Counts that a point is passed, and says whether somebody goes down there. `unit` is drawn only where chance decides.
    pub(super) fn pass(&mut self, at: CrashPoint, place: &Place, unit: impl FnOnce() -> f64) -> Option<Fall> {
        let mut is_planned = false;
        for pending in self.planned.iter_mut().filter(|pending| pending.crash.is_at(at, place)) {
            pending.passed = pending.passed.saturating_add(1);
            if pending.passed == pending.crash.nth.get() {
                pending.is_delivered = true;
                is_planned = true;
            }
        }
        if is_planned {
            return Some(Fall::Planned);
        }
        if self.drawn_left == 0 || self.rate <= 0.0 || unit() >= self.rate {
            return None;
        }
        self.drawn_left -= 1;
        Some(Fall::Drawn)
    }

    /// The planned crashes that did not come, by their places in the file, with how often each was passed.
    pub(super) fn unreached(&self) -> Vec<(usize, &PlannedCrash, u32)> {
        let pending = self.planned.iter().enumerate().filter(|(_, pending)| !pending.is_delivered);
        pending.map(|(index, pending)| (index, &pending.crash, pending.passed)).collect()
    }
}

impl PlannedCrash {
    fn is_at(&self, at: CrashPoint, place: &Place) -> bool {
        self.at == at
            && self.operation.as_deref().is_none_or(|operation| place.operation.as_deref() == Some(operation))
            && self.activation.is_none_or(|activation| place.activation == activation)
    }
}

/// As in "the crash …".
impl fmt::Display for PlannedCrash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.at.as_str())?;
        if let Some(operation) = &self.operation {
            write!(formatter, " of operation {operation:?}")?;
        }
        if let Some(activation) = self.activation {
            write!(formatter, " of activation {activation}")?;
        }
        match self.nth.get() {
            1 => Ok(()),
            nth => write!(formatter, ", time {nth}"),
        }
    }
}

impl CrashPoint {
    /// `before-call`, `after-effect`, `before-commit`, `after-commit`, `before-decision` or `after-decision`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BeforeCall => "before-call",
            Self::AfterEffect => "after-effect",
            Self::BeforeCommit => "before-commit",
            Self::AfterCommit => "after-commit",
            Self::BeforeDecision => "before-decision",
            Self::AfterDecision => "after-decision",
        }
    }

    /// Whether it is at an operation, and not at a decision.
    pub(super) fn is_of_operation(self) -> bool {
        !matches!(self, Self::BeforeDecision | Self::AfterDecision)
    }
}

impl fmt::Display for CrashPoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl Crash {
    /// The crash as JSON, with the names that case files use; what is absent is `null`.
    pub fn to_json(&self) -> Value {
        json!({
            "at": self.at.as_str(),
            "activation": self.activation,
            "operation": self.operation.as_deref(),
            "worker": self.worker,
            "at_ms": self.time.as_nanos() as f64 / 1e6,
            "drawn": self.is_drawn,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(at: CrashPoint, nth: u32) -> PlannedCrash {
        PlannedCrash { at, operation: None, activation: None, nth: NonZeroU32::new(nth).unwrap() }
    }

    fn place(activation: u64, operation: Option<&str>) -> Place {
        Place { activation, operation: operation.map(Arc::from) }
    }

    #[test]
    fn a_crash_comes_once_at_its_point_and_time() {
        let second = PlannedCrash { operation: Some("a".to_owned()), ..planned(CrashPoint::AfterEffect, 2) };
        let mut plan = CrashPlan::new([second], 0.0, 0);
        let mut pass = |at, operation| plan.pass(at, &place(1, Some(operation)), || panic!("nothing is drawn"));
        for (at, operation, expected) in [
            (CrashPoint::AfterEffect, "b", None),
            (CrashPoint::BeforeCommit, "a", None),
            (CrashPoint::AfterEffect, "a", None),
            (CrashPoint::AfterEffect, "a", Some(Fall::Planned)),
            (CrashPoint::AfterEffect, "a", None),
        ] {
            assert_eq!(pass(at, operation), expected, "{at} of {operation}");
        }
        assert!(plan.unreached().is_empty());
    }

    #[test]
    fn an_activation_can_be_named_and_what_did_not_come_is_told() {
        let third = PlannedCrash { activation: Some(3), ..planned(CrashPoint::BeforeDecision, 1) };
        let mut plan = CrashPlan::new([third], 0.0, 0);
        assert_eq!(plan.pass(CrashPoint::BeforeDecision, &place(2, None), || 0.0), None);
        let told: Vec<_> =
            plan.unreached().iter().map(|(index, crash, passed)| format!("{index} {crash} {passed}")).collect();
        assert_eq!(told, ["0 before-decision of activation 3 0"]);
        assert_eq!(plan.pass(CrashPoint::BeforeDecision, &place(3, None), || 0.0), Some(Fall::Planned));
    }

    #[test]
    fn chance_has_a_rate_and_an_end() {
        let mut plan = CrashPlan::new([], 0.5, 1);
        let mut pass = |unit| plan.pass(CrashPoint::BeforeCall, &place(1, Some("a")), || unit);
        assert_eq!([pass(0.5), pass(0.4), pass(0.0)], [None, Some(Fall::Drawn), None]);
    }
}
