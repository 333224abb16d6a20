//! What many runs add up to, as a part of a report.

use serde::{Serialize, Serializer};

use super::Distribution;
use crate::{CampaignReport, SweepReport, Tally};

/// What many runs add up to. Each part that is empty is left out of the page.
#[derive(Clone, Debug, Serialize)]
pub struct ReportedCampaign {
    /// What it is called.
    pub name: String,
    /// Whether nothing in it failed.
    pub passed: bool,
    /// Its numbers at a glance.
    pub facts: Vec<Fact>,
    /// What has outcomes, such as `call`.
    pub unit: String,
    /// How often each outcome came.
    pub outcomes: Vec<Count>,
    /// How attempts, latencies and the like are spread.
    pub distributions: Vec<Distribution>,
    /// What came of each kind of fault at the events of each name.
    pub coverage: Vec<CoverageCell>,
    /// How often each kind of fault came.
    pub faults: Vec<Count>,
    /// Kinds of fault that were to come, and never did.
    pub never_came: Vec<String>,
    /// Kinds of fault for which there was no event at which they can come.
    pub nowhere_to_come: Vec<String>,
    /// What was asserted.
    pub assertions: Vec<AssertionRow>,
    /// The cases that were checked.
    pub cases: Vec<CaseRow>,
    /// The runs that took longest, in virtual time.
    pub slowest: Vec<SlowRun>,
}

/// One number at a glance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// What it counts.
    pub label: String,
    /// The number.
    pub value: String,
}

/// How often something came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Count {
    /// What came.
    pub label: String,
    /// How often.
    pub count: u64,
}

/// What came of all faults of a kind at all events of a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CoverageCell {
    /// The kind of fault.
    pub fault: String,
    /// The name of the events.
    pub event: String,
    /// How many runs passed.
    pub passed: usize,
    /// How many failed.
    pub failed: usize,
    /// How often the fault did not come.
    pub skipped: usize,
}

/// How often an assertion held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AssertionRow {
    /// Its name.
    pub name: String,
    /// What it says, such as `always`.
    pub kind: String,
    /// How often it held.
    pub held: u64,
    /// How often it did not.
    pub failed: u64,
    /// Whether what it says is not so.
    pub is_broken: bool,
}

/// A case that was checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CaseRow {
    /// Its name.
    pub name: String,
    /// Whether it passed.
    pub passed: bool,
    /// The place of its run in the report, if it is there.
    pub run: Option<usize>,
    /// How long it took, in nanoseconds of virtual time.
    pub elapsed_ns: u64,
    /// How many events it had.
    pub events: usize,
    /// Why it failed, on one line.
    pub failure: String,
}

/// A run among those that took longest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SlowRun {
    /// Its seed.
    #[serde(serialize_with = "exactly")]
    pub seed: u64,
    /// How long it took, in nanoseconds of virtual time.
    pub elapsed_ns: u64,
    /// How many events it had.
    pub events: usize,
    /// Whether it passed.
    pub passed: bool,
    /// The place of its run in the report, if it is there.
    pub run: Option<usize>,
    /// What repeats it.
    pub command: String,
}

/// Numbers of a page are exact below 2^53 only.
fn exactly<S: Serializer>(seed: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(seed)
}

impl Default for ReportedCampaign {
    fn default() -> Self {
        Self {
            name: String::new(),
            passed: true,
            facts: Vec::new(),
            unit: "run".to_owned(),
            outcomes: Vec::new(),
            distributions: Vec::new(),
            coverage: Vec::new(),
            faults: Vec::new(),
            never_came: Vec::new(),
            nowhere_to_come: Vec::new(),
            assertions: Vec::new(),
            cases: Vec::new(),
            slowest: Vec::new(),
        }
    }
}

impl Fact {
    /// A number with what it counts.
    pub fn new(label: impl Into<String>, value: impl ToString) -> Self {
        Self { label: label.into(), value: value.to_string() }
    }
}

impl Count {
    /// How often something came.
    pub fn new(label: impl Into<String>, count: u64) -> Self {
        Self { label: label.into(), count }
    }
}

impl AssertionRow {
    fn of(name: &str, tally: &Tally) -> Self {
        Self {
            name: name.to_owned(),
            kind: tally.kind.name().to_owned(),
            held: tally.held,
            failed: tally.failed,
            is_broken: tally.is_broken(),
        }
    }
}

impl ReportedCampaign {
    /// What a campaign over seeds went through.
    pub fn of_campaign(name: impl Into<String>, report: &CampaignReport) -> Self {
        let assertions: Vec<_> = report.assertions.iter().map(|(name, tally)| AssertionRow::of(name, tally)).collect();
        Self {
            name: name.into(),
            passed: !assertions.iter().any(|row| row.is_broken),
            facts: vec![Fact::new("runs", report.seeds), Fact::new("events", report.events)],
            faults: report.delivered.iter().map(|(kind, count)| Count::new(kind.name(), *count)).collect(),
            never_came: report.never_delivered.iter().map(|kind| kind.name().to_owned()).collect(),
            assertions,
            ..Self::default()
        }
    }

    /// What a sweep went through.
    pub fn of_sweep(name: impl Into<String>, report: &SweepReport) -> Self {
        let campaign = Self::of_campaign(name, &report.campaign);
        let coverage = report.coverage.iter().flat_map(|(kind, events)| {
            events.iter().map(|(event, cell)| CoverageCell {
                fault: kind.name().to_owned(),
                event: (*event).to_owned(),
                passed: cell.passed,
                failed: cell.failed,
                skipped: cell.skipped.values().sum(),
            })
        });
        let runs = report.campaign.seeds + report.failing as u64;
        let outcomes = [Count::new("passed", report.campaign.seeds), Count::new("failed", report.failing as u64)];
        let facts = vec![
            Fact::new("runs", runs),
            Fact::new("failed", report.failing),
            Fact::new("ways to fail", report.failures.len()),
            Fact::new("pairs of faults", report.pairs.tried()),
            Fact::new("events", report.campaign.events),
        ];
        Self {
            passed: campaign.passed && report.failing == 0,
            outcomes: outcomes.into_iter().filter(|outcome| outcome.count > 0).collect(),
            facts,
            coverage: coverage.collect(),
            nowhere_to_come: report.never_applicable.iter().map(|kind| kind.name().to_owned()).collect(),
            ..campaign
        }
    }
}
