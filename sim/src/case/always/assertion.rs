//! Assertions and what they found.

use std::fmt;
use std::sync::Arc;

use cel::{Context, Env};
use serde_json::{Value, json};

use super::cost::Size;
use super::deep_stack::on_deep_stack;
use super::variables::{NAMES, bind};
use super::{Expression, Variables};
use crate::case::Case;
use crate::case::run::CaseRun;

/// Something that always holds.
#[derive(Debug)]
pub(in crate::case) struct Assertion {
    pub(in crate::case) name: Option<String>,
    pub(in crate::case) each: Option<Each>,
    pub(in crate::case) expression: Expression,
}

/// The list whose elements an assertion looks at one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::case) enum Each {
    Results,
    Events,
    Ledger,
    Invocations,
}

/// The variable that is the element.
const ELEMENT: &str = "it";
/// How many offending elements are kept.
const OFFENCES_MAX: usize = 3;

impl Each {
    pub(in crate::case) fn as_str(self) -> &'static str {
        match self {
            Self::Results => "results",
            Self::Events => "events",
            Self::Ledger => "ledger",
            Self::Invocations => "invocations",
        }
    }
}

impl Assertion {
    /// The variables that it may use.
    pub(in crate::case) fn variables(each: Option<Each>) -> Vec<&'static str> {
        each.map(|_| ELEMENT).into_iter().chain(NAMES).collect()
    }

    fn needs(&self, variable: &str) -> bool {
        self.expression.mentions(variable) || self.each.is_some_and(|each| each.as_str() == variable)
    }

    fn judge(&self, env: &Arc<Env>, variables: &Variables) -> AssertionOutcome {
        let mut outcome = AssertionOutcome {
            name: self.name.clone(),
            that: self.expression.text().to_owned(),
            each: self.each.map(Each::as_str),
            count: 0,
            offences: Vec::new(),
            offending: 0,
            problem: None,
        };
        let judged = match self.each {
            None => self.judge_whole(env, variables, &mut outcome),
            Some(each) => self.judge_each(env, variables, variables.list(each.as_str()), &mut outcome),
        };
        outcome.problem = judged.err();
        outcome
    }

    fn judge_whole(&self, env: &Arc<Env>, variables: &Variables, outcome: &mut AssertionOutcome) -> Result<(), String> {
        let is_needed = |name: &str| self.expression.mentions(name);
        self.expression.check_cost(&variables.sizes(is_needed), 1)?;
        outcome.count = 1;
        if !self.expression.holds(&variables.context(env, is_needed)?)? {
            outcome.offending = 1;
        }
        Ok(())
    }

    fn judge_each(
        &self,
        env: &Arc<Env>,
        variables: &Variables,
        elements: &[Value],
        outcome: &mut AssertionOutcome,
    ) -> Result<(), String> {
        let is_needed = |name: &str| self.expression.mentions(name);
        let mut sizes = variables.sizes(is_needed);
        sizes.insert(ELEMENT, elements.iter().map(Size::of).fold(Size::default(), Size::max));
        self.expression.check_cost(&sizes, elements.len())?;
        let context = variables.context(env, is_needed)?;
        outcome.count = elements.len();
        for (index, element) in elements.iter().enumerate() {
            let named = |problem| format!("{}[{index}]: {problem}", outcome.each.unwrap_or_default());
            if self.holds_for(&context, element).map_err(named)? {
                continue;
            }
            outcome.offending += 1;
            if outcome.offences.len() < OFFENCES_MAX {
                outcome.offences.push(Offence { index, element: element.clone() });
            }
        }
        Ok(())
    }

    fn holds_for(&self, context: &Context<'_, '_>, element: &Value) -> Result<bool, String> {
        let mut inner = context.new_inner_scope();
        bind(&mut inner, ELEMENT, element)?;
        self.expression.holds(&inner)
    }
}

/// What one assertion found in one run.
#[derive(Clone, Debug, PartialEq)]
pub struct AssertionOutcome {
    /// The name, if the file gives one.
    pub name: Option<String>,
    /// The expression.
    pub that: String,
    /// The list whose elements it looked at one by one.
    pub each: Option<&'static str>,
    /// How often it was evaluated. An assertion over the elements of an empty list holds, with a count of 0.
    pub count: usize,
    /// The first offending elements.
    pub offences: Vec<Offence>,
    /// How often it was false.
    pub offending: usize,
    /// Why it could not be evaluated.
    pub problem: Option<String>,
}

/// An element for which an assertion does not hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Offence {
    /// Its place in the list.
    pub index: usize,
    /// The element.
    pub element: Value,
}

impl AssertionOutcome {
    /// Whether it was evaluated and always true.
    pub fn holds(&self) -> bool {
        self.offending == 0 && self.problem.is_none()
    }

    /// The outcome as JSON.
    pub fn to_json(&self) -> Value {
        let offences = self.offences.iter().map(|offence| json!({"index": offence.index, "element": offence.element}));
        json!({
            "name": self.name,
            "each": self.each,
            "that": self.that,
            "holds": self.holds(),
            "count": self.count,
            "offending": self.offending,
            "offences": offences.collect::<Value>(),
            "problem": self.problem,
        })
    }
}

/// One line for what it asserts, and one for each offence.
impl fmt::Display for AssertionOutcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name.as_ref().unwrap_or(&self.that);
        write!(formatter, "always {name:?}: ")?;
        if let Some(problem) = &self.problem {
            return write!(formatter, "cannot be evaluated: {problem}");
        }
        match self.each {
            _ if self.holds() => formatter.write_str("holds")?,
            None => formatter.write_str("is false")?,
            Some(each) => write!(formatter, "is false for {} of {} {each}", self.offending, self.count)?,
        }
        if self.name.is_some() && !self.holds() {
            write!(formatter, "\n  that: {}", self.that)?;
        }
        self.offences.iter().try_for_each(|Offence { index, element }| {
            write!(formatter, "\n  {}[{index}]: {element}", self.each.unwrap_or_default())
        })
    }
}

/// Judges all assertions of a case over one run.
pub(in crate::case) fn judge(case: &Case, run: &CaseRun) -> Vec<AssertionOutcome> {
    let assertions = &case.assertions;
    if assertions.is_empty() {
        return Vec::new();
    }
    let variables = Variables::of(case, run, |name| assertions.iter().any(|assertion| assertion.needs(name)));
    let judged = on_deep_stack(|| {
        let env = Arc::new(Env::stdlib());
        assertions.iter().map(|assertion| assertion.judge(&env, &variables)).collect()
    });
    judged.unwrap_or_else(|error| {
        let unjudged = |assertion: &Assertion| AssertionOutcome {
            name: assertion.name.clone(),
            that: assertion.expression.text().to_owned(),
            each: assertion.each.map(Each::as_str),
            count: 0,
            offences: Vec::new(),
            offending: 0,
            problem: Some(format!("no thread to evaluate it on: {error}")),
        };
        assertions.iter().map(unjudged).collect()
    })
}
