//! Assertions and what they found.

use std::fmt;
use std::sync::{Arc, LazyLock};

use cel::{Context, Env};
use serde_json::{Value, json};

use super::Expression;
use super::cost::Size;
use super::deep_stack::on_deep_stack;
use super::variables::{Variables, bind};

/// Something that always holds.
#[derive(Debug)]
pub(in crate::case) struct Assertion {
    pub(in crate::case) name: Option<String>,
    /// The list whose elements it looks at one by one.
    pub(in crate::case) each: Option<&'static str>,
    pub(in crate::case) expression: Expression,
}

/// The standard functions, the same for every evaluation.
static STANDARD: LazyLock<Arc<Env>> = LazyLock::new(|| Arc::new(Env::stdlib()));

/// The variable that is the element.
const ELEMENT: &str = "it";
/// How many offending elements are kept.
const OFFENCES_MAX: usize = 3;

impl Assertion {
    /// What an assertion may use of `variables`.
    pub(in crate::case) fn variables(each: Option<&'static str>, variables: &[&'static str]) -> Vec<&'static str> {
        each.map(|_| ELEMENT).into_iter().chain(variables.iter().copied()).collect()
    }

    fn needs(&self, variable: &str) -> bool {
        self.expression.mentions(variable) || self.each == Some(variable)
    }

    fn judge(&self, variables: &Variables) -> AssertionOutcome {
        let mut outcome = AssertionOutcome {
            name: self.name.clone(),
            that: self.expression.text().to_owned(),
            each: self.each,
            count: 0,
            offences: Vec::new(),
            offending: 0,
            scalars: Vec::new(),
            problem: None,
        };
        let judged = match self.each {
            None => self.judge_whole(variables, &mut outcome),
            Some(each) => self.judge_each(variables, variables.list(each), &mut outcome),
        };
        outcome.problem = judged.err();
        outcome
    }

    fn judge_whole(&self, variables: &Variables, outcome: &mut AssertionOutcome) -> Result<(), String> {
        let is_needed = |name: &str| self.expression.mentions(name);
        self.expression.check_cost(&variables.sizes(is_needed), 1)?;
        outcome.count = 1;
        if !self.expression.holds(&variables.context(&STANDARD, is_needed)?)? {
            outcome.offending = 1;
            outcome.scalars = variables.scalars(is_needed);
        }
        Ok(())
    }

    fn judge_each(
        &self,
        variables: &Variables,
        elements: &[Value],
        outcome: &mut AssertionOutcome,
    ) -> Result<(), String> {
        let is_needed = |name: &str| self.expression.mentions(name);
        let mut sizes = variables.sizes(is_needed);
        sizes.insert(ELEMENT, elements.iter().map(Size::of).fold(Size::default(), Size::max));
        self.expression.check_cost(&sizes, elements.len())?;
        let context = variables.context(&STANDARD, is_needed)?;
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
    /// The numbers that an assertion over the whole run mentions, where it is false.
    pub scalars: Vec<(&'static str, Value)>,
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
            "scalars": self.scalars.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect::<Value>(),
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
        for (place, (name, value)) in self.scalars.iter().enumerate() {
            write!(formatter, "{} {name} is {value}", if place == 0 { ":" } else { "," })?;
        }
        if self.name.is_some() && !self.holds() {
            write!(formatter, "\n  that: {}", self.that)?;
        }
        self.offences.iter().try_for_each(|Offence { index, element }| {
            write!(formatter, "\n  {}[{index}]: {element}", self.each.unwrap_or_default())
        })
    }
}

/// Judges all assertions of a case over one run, whose variables have the values that `value` gives.
pub(in crate::case) fn judge(
    assertions: &[Assertion],
    variables: &'static [&'static str],
    value: impl Fn(&str) -> Value,
) -> Vec<AssertionOutcome> {
    if assertions.is_empty() {
        return Vec::new();
    }
    let needed = variables.iter().filter(|name| assertions.iter().any(|assertion| assertion.needs(name)));
    let variables = Variables::new(needed.map(|name| (*name, value(name))));
    let judged = on_deep_stack(|| assertions.iter().map(|assertion| assertion.judge(&variables)).collect());
    judged.unwrap_or_else(|error| {
        let unjudged = |assertion: &Assertion| AssertionOutcome {
            name: assertion.name.clone(),
            that: assertion.expression.text().to_owned(),
            each: assertion.each,
            count: 0,
            offences: Vec::new(),
            offending: 0,
            scalars: Vec::new(),
            problem: Some(format!("no thread to evaluate it on: {error}")),
        };
        assertions.iter().map(unjudged).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Case, Format};

    /// What assertions say of a case whose first call takes two attempts and whose second finds no tool.
    fn judged(always: &Value) -> Vec<AssertionOutcome> {
        let case = json!({
            "tools": [{"name": "search", "retries": 1, "script": [{"fail": "busy"}]}],
            "rng": 0.0,
            "calls": [{"name": "search"}, {"name": "nobody"}],
            "always": always,
        });
        let cases = Case::parse("f", Format::Json, &case.to_string()).unwrap();
        let run = cases[0].run(0);
        cases[0].judge(&run).assertions
    }

    #[track_caller]
    fn check(always: Value, shown: &str) {
        assert_eq!(judged(&json!([always]))[0].to_string(), shown);
    }

    #[test]
    fn what_is_true_holds() {
        for that in [
            "results.all(r, r.attempts <= r.retries + 1)",
            "results[0].attempts == 2 && results[0].delays_s == [0.5] && results[0].value == {'echo': {}}",
            "results[1].error == 'tool-not-found' && results[1].value == null && !results[1].retryable",
            "events.filter(e, e.type == 'tool.attempt').size() == invocations.size()",
            "events[0].type == 'run.started' && !has(events[0].call_id) && events[1].call_id == 'call-1'",
            "ledger.map(l, l.entry_id) == ['call-1', 'call-2'] && ledger[0].cost_usd == 0.0",
            "tools.search.retries == 1 && tools['search'].timeout_s == null && !('nobody' in tools)",
            "elapsed_ms == 500.0 && approval_requests == 0",
            "type(results) == list && type(elapsed_ms) == double && string(1) + 'a' == '1a'",
        ] {
            let outcome = &judged(&json!([{"that": that}]))[0];
            assert!(outcome.holds(), "{outcome}");
        }
    }

    #[test]
    fn what_is_false_is_shown_with_what_it_is_about() {
        check(json!({"that": "elapsed_ms < 500"}), r#"always "elapsed_ms < 500": is false: elapsed_ms is 500.0"#);
        check(
            json!({"name": "few events", "that": "events.size() < 3"}),
            "always \"few events\": is false\n  that: events.size() < 3",
        );
        check(
            json!({"each": "invocations", "that": "it.tool == 'other'"}),
            "always \"it.tool == 'other'\": is false for 2 of 2 invocations\n  \
             invocations[0]: {\"tool\":\"search\",\"arguments\":{}}\n  \
             invocations[1]: {\"tool\":\"search\",\"arguments\":{}}",
        );
        let outcome = &judged(&json!([{"each": "results", "that": "it.status == 'ok'"}]))[0];
        assert_eq!((outcome.count, outcome.offending, outcome.offences[0].index), (2, 1, 1));
        assert_eq!(outcome.offences[0].element["error"], "tool-not-found");
    }

    #[test]
    fn only_the_first_offences_are_kept() {
        let outcome = &judged(&json!([{"each": "events", "that": "it.sequence < 0"}]))[0];
        assert_eq!((outcome.count, outcome.offending, outcome.offences.len()), (9, 9, OFFENCES_MAX));
    }

    #[test]
    fn what_cannot_be_evaluated_does_not_hold() {
        check(
            json!({"each": "results", "that": "it.atempts <= 2"}),
            r#"always "it.atempts <= 2": cannot be evaluated: results[0]: no such key: atempts"#,
        );
        check(
            json!({"that": "results[0].attempts"}),
            r#"always "results[0].attempts": cannot be evaluated: the expression must be true or false, and is of type int"#,
        );
        for (that, problem) in [
            ("results[0] > 1", "found no matching overload for '_>_' applied to '(map, int)'"),
            ("'a' - 1 == 0", "sub is not defined for the types string and int"),
            ("results[9].attempts == 1", "index out of bounds: Int(9)"),
            ("results['x'] == 1", "found no matching overload for '_[_]' applied to '(list, string)'"),
            ("1 / 0 == 1", "division by zero of Int(1)"),
            ("events.all(e, e.type)", "found no matching overload for '_&&_' applied to '(bool, string)'"),
            ("9223372036854775807 + 1 > 0", "overflow from binary operator 'add': Int(9223372036854775807), Int(1)"),
        ] {
            let outcome = &judged(&json!([{"that": that}]))[0];
            assert_eq!(outcome.problem.as_deref(), Some(problem), "for {that}");
        }
    }

    #[test]
    fn an_assertion_over_nothing_holds_and_says_so() {
        let case = r#"{"tools": [], "calls": [], "always": [{"each": "results", "that": "it.no_such_field"}]}"#;
        let cases = Case::parse("f", Format::Json, case).unwrap();
        let run = cases[0].run(0);
        let outcome = &cases[0].judge(&run).assertions[0];
        assert!(outcome.holds());
        assert_eq!(outcome.to_json()["count"], 0);
    }
}
