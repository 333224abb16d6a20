//! A report, as its writer puts it together.

use std::path::Path;

use serde::Serialize;

use super::run::RunDocument;
use super::{ReportedCampaign, ReportedRun, page};
use crate::export::{self, SaveError};

/// A report: runs on a timeline, and what many runs add up to.
///
/// ```
/// use windtunnel_sim::World;
/// use windtunnel_sim::report::{Report, ReportedRun};
///
/// let run = World::new(7).run(|world| async move {
///     world.assertions().always("all is well", true);
/// });
/// let report = Report::new("a first look").with_run(ReportedRun::of_run("seed 7", &run));
/// assert!(report.to_html().starts_with("<!doctype html>"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// What stands above it.
    pub title: String,
    /// Its runs, each with a timeline. The first is shown at first.
    pub runs: Vec<ReportedRun>,
    /// What many runs add up to.
    pub campaigns: Vec<ReportedCampaign>,
}

/// What the page reads.
#[derive(Serialize)]
struct Document<'a> {
    title: &'a str,
    passed: bool,
    runs: Vec<RunDocument<'a>>,
    campaigns: &'a [ReportedCampaign],
}

impl Report {
    /// A report without anything in it.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// The same with one more run.
    #[must_use]
    pub fn with_run(mut self, run: ReportedRun) -> Self {
        self.runs.push(run);
        self
    }

    /// The same with what one more campaign adds up to.
    #[must_use]
    pub fn with_campaign(mut self, campaign: ReportedCampaign) -> Self {
        self.campaigns.push(campaign);
        self
    }

    /// Whether nothing in it failed.
    pub fn passed(&self) -> bool {
        self.runs.iter().all(ReportedRun::passed) && self.campaigns.iter().all(|campaign| campaign.passed)
    }

    /// The report as a page. It loads nothing, and its own policy forbids it to.
    pub fn to_html(&self) -> String {
        let runs = self.runs.iter().map(RunDocument::of).collect();
        let document = Document { title: &self.title, passed: self.passed(), runs, campaigns: &self.campaigns };
        // Values with string keys always have a JSON form.
        let data = serde_json::to_string(&document).unwrap_or_default();
        page::render(&self.title, &data)
    }

    /// Writes the page to a file: whole, or not at all. What was there is replaced.
    ///
    /// # Errors
    /// [`SaveError`] with the file.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), SaveError> {
        export::save(path, &self.to_html())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::World;

    #[test]
    fn the_same_runs_give_the_same_bytes() {
        let page = || {
            let run = World::new(3).run(|world| async move { world.assertions().always("a", false) });
            Report::new("twice").with_run(ReportedRun::of_run("seed 3", &run)).to_html()
        };
        assert_eq!(page(), page());
    }

    #[test]
    fn a_report_fails_with_any_of_its_parts() {
        let failing = ReportedCampaign { passed: false, ..ReportedCampaign::default() };
        assert!(Report::new("nothing").passed());
        assert!(!Report::new("a campaign").with_campaign(failing).passed());
    }
}
