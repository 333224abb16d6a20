//! The report of cases that were checked.

use windtunnel_sim::report::{CaseRow, Count, Fact, Report, ReportedCampaign, ReportedRun};

/// How many cases have a timeline, failing ones before others.
const RUNS_MAX: usize = 20;

/// How many events the timelines of cases that passed have together.
const EVENTS_MAX: usize = 100_000;

/// The cases so far.
#[derive(Default)]
pub(crate) struct CheckedCases {
    rows: Vec<CaseRow>,
    /// The runs that are kept, each with the place of its case.
    failing: Vec<(usize, ReportedRun)>,
    passing: Vec<(usize, ReportedRun)>,
    events: usize,
}

impl CheckedCases {
    /// One case more.
    pub(crate) fn add(&mut self, name: &str, run: ReportedRun) {
        let message = run.failures.first().map(|failure| failure.message.as_str()).unwrap_or_default();
        let row = CaseRow {
            name: name.to_owned(),
            passed: run.passed(),
            run: None,
            elapsed_ns: u64::try_from(run.elapsed.as_nanos()).unwrap_or(u64::MAX),
            events: run.trace.len(),
            failure: message.lines().next().unwrap_or_default().to_owned(),
        };
        let place = self.rows.len();
        let fits = self.events + run.trace.len() <= EVENTS_MAX;
        if !row.passed && self.failing.len() < RUNS_MAX {
            self.failing.push((place, run));
        } else if row.passed && fits && self.passing.len() < RUNS_MAX {
            self.events += run.trace.len();
            self.passing.push((place, run));
        }
        self.rows.push(row);
    }

    /// A file that holds no cases.
    pub(crate) fn add_unreadable(&mut self, file: &str, problem: &str) {
        let failure = problem.lines().next().unwrap_or_default().to_owned();
        let name = format!("{file}, not accepted");
        self.rows.push(CaseRow { name, passed: false, run: None, elapsed_ns: 0, events: 0, failure });
    }

    /// The report of all.
    pub(crate) fn into_report(mut self, title: &str) -> Report {
        let mut report = Report::new(title);
        for (place, run) in self.failing.into_iter().chain(self.passing).take(RUNS_MAX) {
            self.rows[place].run = Some(report.runs.len());
            report.runs.push(run);
        }
        let failed = self.rows.iter().filter(|row| !row.passed).count();
        let passed = self.rows.len() - failed;
        let outcomes = [Count::new("passed", passed as u64), Count::new("failed", failed as u64)];
        // Those that failed first, as what is looked for.
        self.rows.sort_by_key(|row| row.passed);
        report.with_campaign(ReportedCampaign {
            name: "All cases".to_owned(),
            passed: failed == 0,
            facts: vec![Fact::new("cases", self.rows.len()), Fact::new("failed", failed)],
            unit: "case".to_owned(),
            outcomes: outcomes.into_iter().filter(|outcome| outcome.count > 0).collect(),
            cases: self.rows,
            ..ReportedCampaign::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use windtunnel_sim::report::ReportedFailure;

    use super::*;

    #[test]
    fn failing_cases_come_first_and_each_row_finds_its_run() {
        let mut cases = CheckedCases::default();
        for number in 0..50 {
            let failure = ReportedFailure { message: format!("wrong {number}\nmore"), event: None };
            let failures = if number % 10 == 9 { vec![failure] } else { Vec::new() };
            cases.add(
                &format!("case {number}"),
                ReportedRun { name: format!("run {number}"), failures, ..Default::default() },
            );
        }
        let report = cases.into_report("all");
        assert_eq!((report.runs.len(), report.passed()), (RUNS_MAX, false));
        assert_eq!(report.runs[0].name, "run 9");
        let rows = &report.campaigns[0].cases;
        assert_eq!((rows.len(), &*rows[4].failure), (50, "wrong 49"));
        let found = |row: &CaseRow| row.run.map(|run| report.runs[run].name.replace("run", "case"));
        assert!(rows.iter().all(|row| found(row).is_none_or(|name| name == row.name)));
    }
}
