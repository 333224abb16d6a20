//! Faults as data.

use serde::{Deserialize, Serialize};

use super::{EventPattern, FaultAction};

/// What goes wrong in a run: each fault comes once, at its event.
///
/// ```
/// use windtunnel_sim::fault::FaultPlan;
///
/// let plan = FaultPlan::from_json(
///     r#"[{"when": {"event": "operation.commit", "nth": 2}, "do": {"fault": "host.crash", "restart_after_s": 1}}]"#,
/// )?;
/// assert_eq!(plan.faults.len(), 1);
/// # Ok::<(), windtunnel_sim::fault::FaultPlanError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FaultPlan {
    /// The faults.
    pub faults: Vec<Fault>,
}

/// One fault.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// At which event it comes.
    pub when: EventPattern,
    /// What it is.
    #[serde(rename = "do")]
    pub action: FaultAction,
}

/// A plan that cannot be carried out.
#[derive(Debug, thiserror::Error)]
pub enum FaultPlanError {
    /// It is no plan.
    #[error("this is no plan of faults: {0}")]
    Json(#[from] serde_json::Error),
    /// A number has no meaning there.
    #[error("fault {index}: `{field}` of {kind} is {value}; it must be a finite number{least}", least = if *is_signed { "" } else { " of at least 0" })]
    Number {
        /// The place of the fault, from 0.
        index: usize,
        /// Its kind.
        kind: &'static str,
        /// Which number.
        field: &'static str,
        /// What it is.
        value: f64,
        /// Whether it may be below 0.
        is_signed: bool,
    },
    /// A likelihood that is none.
    #[error("fault {index}: `loss` of network.loss is {loss}; it must be a number from 0 to 1")]
    Loss {
        /// The place of the fault, from 0.
        index: usize,
        /// What it is.
        loss: f64,
    },
    /// A fault that never comes.
    #[error("fault {index}: events are counted from 1, and `nth` is 0")]
    Never {
        /// The place of the fault, from 0.
        index: usize,
    },
}

impl FaultPlan {
    /// A plan of these.
    pub fn new(faults: impl IntoIterator<Item = Fault>) -> Self {
        Self { faults: faults.into_iter().collect() }
    }

    /// Reads a plan: a list of `{when, do}`.
    ///
    /// # Errors
    /// [`FaultPlanError`] with the place of what is wrong.
    pub fn from_json(text: &str) -> Result<Self, FaultPlanError> {
        let plan: Self = serde_json::from_str(text)?;
        plan.check()?;
        Ok(plan)
    }

    /// The plan as JSON.
    pub fn to_json(&self) -> String {
        // A value with string keys always has a JSON form.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Whether it can be carried out.
    ///
    /// # Errors
    /// [`FaultPlanError`] for the first fault that cannot.
    pub fn check(&self) -> Result<(), FaultPlanError> {
        for (index, fault) in self.faults.iter().enumerate() {
            for (field, value, is_signed) in fault.action.numbers() {
                // More than five centuries is more than a world has.
                if !value.is_finite() || value.abs() > 1e10 || (value < 0.0 && !is_signed) {
                    let kind = fault.action.kind().name();
                    return Err(FaultPlanError::Number { index, kind, field, value, is_signed });
                }
            }
            if let FaultAction::NetworkLoss { loss, .. } = fault.action
                && loss > 1.0
            {
                return Err(FaultPlanError::Loss { index, loss });
            }
            if fault.when.is_never() {
                return Err(FaultPlanError::Never { index });
            }
        }
        Ok(())
    }
}

impl Fault {
    /// A fault at an event.
    pub fn new(when: EventPattern, action: FaultAction) -> Self {
        Self { when, action }
    }

    /// The hosts that it names.
    pub(crate) fn hosts(&self) -> impl Iterator<Item = &str> {
        [self.when.host(), self.action.host(), self.action.peer()].into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        FaultPlan::from_json(text).unwrap_err().to_string()
    }

    #[test]
    fn a_plan_is_written_as_it_was_read() {
        let text = r#"[{"when":{"event":"tool.body","host":"bank","tool":"pay","nth":2},"do":{"fault":"tool.lose_acknowledgment"}},{"when":{"key":"k"},"do":{"fault":"network.partition","host":"a","peer":"b","one_way":true,"heal_after_s":1.5}}]"#;
        assert_eq!(FaultPlan::from_json(text).unwrap().to_json(), text);
    }

    #[test]
    fn what_is_wrong_with_a_plan_is_said() {
        let crash = |fields: &str| format!(r#"[{{"when":{{}},"do":{{"fault":"host.crash"{fields}}}}}]"#);
        assert_eq!(
            error(&crash(r#","restart_after_s":-1"#)),
            "fault 0: `restart_after_s` of host.crash is -1; it must be a finite number of at least 0"
        );
        assert!(
            error(&crash(r#","restart":1"#)).contains("unknown field `restart`"),
            "{}",
            error(&crash(r#","restart":1"#))
        );
        assert!(error(r#"[{"when":{},"do":{"fault":"host.explode"}}]"#).contains("unknown variant `host.explode`"));
        assert_eq!(
            error(r#"[{"when":{},"do":{"fault":"network.loss","loss":1.5}}]"#),
            "fault 0: `loss` of network.loss is 1.5; it must be a number from 0 to 1"
        );
        assert_eq!(
            error(r#"[{"when":{"nth":0},"do":{"fault":"tool.hang"}}]"#),
            "fault 0: events are counted from 1, and `nth` is 0"
        );
    }
}
