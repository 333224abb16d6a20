//! What a suite found.

use std::fmt;

use super::Counterexample;

/// What a suite found of one subject.
///
/// ```
/// use windtunnel_proptests::suites::{Finding, Judged, Report};
///
/// let judged = |id, finding| Judged { id, demand: "…", finding };
/// let report = Report {
///     suite: "retry",
///     subject: "mine".to_owned(),
///     points: vec![
///         judged("attempts", Finding::Kept { cases: 64 }),
///         judged("budget_ratio", Finding::NotApplicable { lacking: "a budget".to_owned() }),
///     ],
/// };
/// report.assert_kept();
/// assert_eq!((report.kept(), report.broken()), (vec!["attempts"], vec![]));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The suite's name.
    pub suite: &'static str,
    /// The subject's.
    pub subject: String,
    /// The points, in order.
    pub points: Vec<Judged>,
}

/// What was found of one point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// The point.
    pub id: &'static str,
    /// What it demands.
    pub demand: &'static str,
    /// What was found.
    pub finding: Finding,
}

/// Whether a subject does what a point demands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// It does, in so many cases.
    Kept {
        /// How many were tried.
        cases: u32,
    },
    /// It does not.
    Broken(Counterexample),
    /// Its adapter says that it does not have what the point is about. Nothing was tried.
    NotApplicable {
        /// What it does not have.
        lacking: String,
    },
}

impl Report {
    /// What was found of the point of this id.
    pub fn finding(&self, id: &str) -> Option<&Finding> {
        self.points.iter().find(|point| point.id == id).map(|point| &point.finding)
    }

    /// The points that are kept.
    pub fn kept(&self) -> Vec<&'static str> {
        self.ids(|finding| matches!(finding, Finding::Kept { .. }))
    }

    /// The points that are broken.
    pub fn broken(&self) -> Vec<&'static str> {
        self.ids(|finding| matches!(finding, Finding::Broken(_)))
    }

    /// The points that do not apply.
    pub fn not_applicable(&self) -> Vec<&'static str> {
        self.ids(|finding| matches!(finding, Finding::NotApplicable { .. }))
    }

    fn ids(&self, holds: impl Fn(&Finding) -> bool) -> Vec<&'static str> {
        self.points.iter().filter(|point| holds(&point.finding)).map(|point| point.id).collect()
    }

    /// For tests: nothing, if no point is broken.
    ///
    /// # Panics
    /// With all counterexamples, if one is. If no point applies, nothing was tested, and it panics too.
    #[track_caller]
    pub fn assert_kept(&self) {
        assert!(self.broken().is_empty(), "{self}");
        assert!(!self.kept().is_empty(), "{self}: no point applies, so nothing was tested");
    }
}

/// One line for each point, and the counterexamples below theirs.
impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = [self.kept(), self.broken(), self.not_applicable()].map(|ids| ids.len());
        let [kept, broken, not_applicable] = counts;
        write!(
            formatter,
            "{} on the suite {:?}: {kept} points kept, {broken} broken, {not_applicable} not applicable",
            self.subject, self.suite
        )?;
        for Judged { id, demand, finding } in &self.points {
            match finding {
                Finding::Kept { cases } => write!(formatter, "\nkept: {id} ({cases} cases)")?,
                Finding::NotApplicable { lacking } => write!(formatter, "\nnot applicable: {id} (lacks {lacking})")?,
                Finding::Broken(found) => write!(formatter, "\nBROKEN: {id}: {demand}\n{found}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suites::Settings;

    fn report(findings: Vec<Finding>) -> Report {
        let judged = |finding| Judged { id: "point", demand: "it holds", finding };
        Report { suite: "suite", subject: "mine".to_owned(), points: findings.into_iter().map(judged).collect() }
    }

    #[track_caller]
    fn check(findings: Vec<Finding>, expected: Option<&str>) {
        let told = std::panic::catch_unwind(|| report(findings).assert_kept());
        let told = told.map_err(|payload| windtunnel_core::env::panic_message(&*payload).to_owned());
        assert_eq!(told.err().as_deref(), expected);
    }

    #[test]
    fn what_is_broken_or_was_not_tested_panics_in_a_test() {
        let lacking = || Finding::NotApplicable { lacking: "a seed".to_owned() };
        check(vec![Finding::Kept { cases: 3 }, lacking()], None);
        let found = Counterexample {
            case: "7".to_owned(),
            seen: "8".to_owned(),
            reproduce: Some("try(7)".to_owned()),
            settings: Settings::default(),
        };
        let told = "mine on the suite \"suite\": 1 points kept, 1 broken, 0 not applicable\nkept: point (3 cases)\n\
                    BROKEN: point: it holds\n8\n    7\nto try it again:\n    try(7)";
        check(vec![Finding::Kept { cases: 3 }, Finding::Broken(found)], Some(told));
        let told = "mine on the suite \"suite\": 0 points kept, 0 broken, 1 not applicable\n\
                    not applicable: point (lacks a seed): no point applies, so nothing was tested";
        check(vec![lacking()], Some(told));
    }
}
