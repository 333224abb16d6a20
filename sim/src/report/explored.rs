//! Reports of what exploration found.

use super::run::failure;
use super::{Report, ReportedCampaign, ReportedRun, Snippet};
use crate::{CampaignReport, ExploreError, Failure, SweepReport};

impl ReportedRun {
    /// A run that exploration found to fail: the smallest, where one was found.
    pub fn of_failure(found: &Failure) -> Self {
        let (error, trace, faults) = found.smallest_run();
        let recipe = found.smallest();
        let point = found.point.map(|point| format!(", {point}")).unwrap_or_default();
        let plan = serde_json::to_string_pretty(&recipe.faults).unwrap_or_default();
        let has_plan = !recipe.faults.faults.is_empty();
        let snippets = has_plan.then(|| Snippet::new("Minimal plan of faults", plan));
        Self {
            name: format!("seed {}{point}", recipe.seed),
            seed: Some(recipe.seed),
            failures: vec![failure(error, trace)],
            elapsed: trace.last().map(|event| event.at).unwrap_or_default(),
            trace: trace.to_vec(),
            faults: faults.to_vec(),
            commands: vec![Snippet::new("Repeat it", found.repeat_command())],
            snippets: snippets.into_iter().chain([Snippet::new("As a Rust test", found.rust_test())]).collect(),
            ..Self::default()
        }
    }
}

impl Report {
    /// A report of what a campaign over seeds found or went through.
    ///
    /// ```
    /// use windtunnel_sim::explore;
    /// use windtunnel_sim::report::Report;
    ///
    /// let explored = explore(0..3, |_world| async { panic!("at once") });
    /// let report = Report::of_campaign("it never panics", explored.as_ref());
    /// assert!(!report.passed() && report.runs.len() == 1);
    /// ```
    pub fn of_campaign(title: impl Into<String>, explored: Result<&CampaignReport, &ExploreError>) -> Self {
        match explored {
            Ok(report) => Self::new(title).with_campaign(ReportedCampaign::of_campaign("All runs", report)),
            Err(error) => Self::of_error(title, error),
        }
    }

    /// A report of what a sweep found or went through.
    pub fn of_sweep(title: impl Into<String>, swept: Result<&SweepReport, &ExploreError>) -> Self {
        match swept {
            Ok(report) => Self::new(title).with_campaign(ReportedCampaign::of_sweep("All runs", report)),
            Err(error) => Self::of_error(title, error),
        }
    }

    fn of_error(title: impl Into<String>, error: &ExploreError) -> Self {
        let report = Self::new(title);
        match error {
            ExploreError::Failed(failure) => report.with_run(ReportedRun::of_failure(failure)),
            ExploreError::Swept(swept) => {
                let runs = swept.failures.iter().map(ReportedRun::of_failure).collect();
                Self { runs, ..report.with_campaign(ReportedCampaign::of_sweep("All runs", swept)) }
            }
            ExploreError::Unseen { report: campaign, .. } | ExploreError::NoFaultDelivered { report: campaign } => {
                let campaign = ReportedCampaign::of_campaign(first_line(error), campaign);
                report.with_campaign(ReportedCampaign { passed: false, ..campaign })
            }
            _ => {
                let name = first_line(error);
                report.with_campaign(ReportedCampaign { name, passed: false, ..ReportedCampaign::default() })
            }
        }
    }
}

fn first_line(error: &ExploreError) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Campaign;

    #[test]
    fn a_sweep_is_reported_with_its_failures_and_its_coverage() {
        let swept = Campaign::new().sweep(|world| async move {
            let pay = || async {
                world.effects().happen("payment", None).await;
                Ok::<_, windtunnel_core::BoxError>(())
            };
            let _answer = world.faults().call("pay", pay).await;
            world.assertions().always("paid at most once", world.effects().count("payment") <= 1);
        });
        let report = Report::of_sweep("pays once", swept.as_ref());
        // It pays twice, or waits for ever: what is broken comes first.
        assert_eq!((report.runs.len(), report.passed()), (2, false));
        let failing = &report.runs[0];
        assert!(failing.name.contains(", point "), "{}", failing.name);
        assert!(failing.commands[0].text.starts_with("WINDTUNNEL_REPEAT='"), "{}", failing.commands[0].text);
        assert!(failing.snippets[0].text.contains("tool.duplicate"), "{}", failing.snippets[0].text);
        assert!(failing.failures[0].event.is_some());
        let cells = &report.campaigns[0].coverage;
        assert!(cells.iter().any(|cell| cell.fault == "tool.duplicate" && cell.failed == 1), "{cells:?}");
    }

    #[test]
    fn what_was_never_seen_fails_a_report_too() {
        let unseen = Campaign::new().seeds(0..2).run(|world| async move {
            world.assertions().sometimes("a retry", false);
        });
        let report = Report::of_campaign("sometimes", unseen.as_ref());
        assert!(!report.passed());
        assert_eq!(report.campaigns[0].name, "never seen in any run: a retry");
        assert!(report.campaigns[0].assertions[0].is_broken);
    }
}
