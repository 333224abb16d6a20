//! One demand, and how it is tried.

use std::cell::Cell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner};
use windtunnel_core::env::panic_message;

use super::{Case, Counterexample, Finding, Settings};
use crate::Violation;

/// How many smaller cases are tried once one has failed.
const SHRINKS_MAX: u32 = 1024;

type Lacks<S> = Box<dyn Fn(&S) -> Option<String> + Send + Sync>;
type Check<S> = Box<dyn Fn(&S, &Settings) -> Finding + Send + Sync>;

/// One demand on subjects of type `S`, and how a subject is held to it.
///
/// ```
/// use windtunnel_proptests::Violation;
/// use windtunnel_proptests::suites::{Case, Finding, Point, Settings};
///
/// #[derive(Clone, Debug)]
/// struct Numbers(i32, i32);
/// impl Case for Numbers {}
///
/// type Add = fn(i32, i32) -> i32;
/// let numbers = |_: &Add| proptest::strategy::Strategy::prop_map((0..100, 0..100), |(a, b)| Numbers(a, b));
/// let point = Point::property("zero", "adding 0 changes nothing", numbers, |add: &Add, case: &Numbers| {
///     if add(case.0, 0) == case.0 { Ok(()) } else { Err(Violation::new("zero", format!("{}", add(case.0, 0)))) }
/// });
///
/// assert_eq!(point.judge(&((|a, b| a + b) as Add), &Settings::default()), Finding::Kept { cases: 64 });
/// let Finding::Broken(found) = point.judge(&((|a, b| a.max(b).min(41)) as Add), &Settings::default()) else { panic!() };
/// assert_eq!(found.seen, "41");
/// assert!(found.case.contains("42"));
/// ```
pub struct Point<S: ?Sized> {
    id: &'static str,
    demand: &'static str,
    lacks: Lacks<S>,
    check: Check<S>,
}

impl<S: ?Sized> Point<S> {
    /// A point that is tried with cases drawn from a strategy; one that fails is made as small as can be.
    pub fn property<C, G>(
        id: &'static str,
        demand: &'static str,
        strategy: impl Fn(&S) -> G + Send + Sync + 'static,
        check: impl Fn(&S, &C) -> Result<(), Violation> + Send + Sync + 'static,
    ) -> Self
    where
        C: Case + Clone,
        G: Strategy<Value = C>,
    {
        let check = move |subject: &S, settings: &Settings| {
            let config = Config {
                cases: settings.cases,
                rng_seed: RngSeed::Fixed(settings.seed),
                failure_persistence: None,
                max_shrink_iters: SHRINKS_MAX,
                ..Config::default()
            };
            // What is tried once one has failed are smaller ones.
            let (cases, is_found) = (Cell::new(0), Cell::new(false));
            let tried = TestRunner::new(config).run(&strategy(subject), |case| {
                cases.set(cases.get() + u32::from(!is_found.get()));
                let attempted = attempt(id, subject, &case, &check);
                is_found.set(is_found.get() || attempted.is_err());
                attempted.map_err(TestCaseError::fail)
            });
            let found_with = Settings { cases: cases.get(), ..*settings };
            match tried {
                Ok(()) => Finding::Kept { cases: settings.cases },
                Err(TestError::Fail(reason, case)) => {
                    Finding::Broken(Counterexample::of(&case, reason.message(), found_with))
                }
                Err(TestError::Abort(reason)) => Finding::Broken(Counterexample {
                    case: "no case could be made".to_owned(),
                    seen: reason.message().to_owned(),
                    reproduce: None,
                    settings: *settings,
                }),
            }
        };
        Self { id, demand, lacks: Box::new(|_| None), check: Box::new(check) }
    }

    /// A point that is tried with these cases and no others, the simplest first.
    pub fn examples<C: Case>(
        id: &'static str,
        demand: &'static str,
        cases: impl Fn(&S) -> Vec<C> + Send + Sync + 'static,
        check: impl Fn(&S, &C) -> Result<(), Violation> + Send + Sync + 'static,
    ) -> Self {
        let check = move |subject: &S, settings: &Settings| {
            let cases = cases(subject);
            let failed =
                cases.iter().find_map(|case| attempt(id, subject, case, &check).err().map(|seen| (case, seen)));
            match failed {
                None => Finding::Kept { cases: u32::try_from(cases.len()).unwrap_or(u32::MAX) },
                Some((case, seen)) => Finding::Broken(Counterexample::of(case, seen, *settings)),
            }
        };
        Self { id, demand, lacks: Box::new(|_| None), check: Box::new(check) }
    }

    /// Does not apply to a subject that lacks something: `lacks` says what, such as "jitter".
    #[must_use]
    pub fn unless(self, lacks: impl Fn(&S) -> Option<String> + Send + Sync + 'static) -> Self {
        Self { lacks: Box::new(lacks), ..self }
    }

    /// Its name, unique in its suite.
    pub fn id(&self) -> &'static str {
        self.id
    }

    /// What it demands, in one line.
    pub fn demand(&self) -> &'static str {
        self.demand
    }

    /// Holds a subject to it.
    pub fn judge(&self, subject: &S, settings: &Settings) -> Finding {
        match (self.lacks)(subject) {
            Some(lacking) => Finding::NotApplicable { lacking },
            None => (self.check)(subject, settings),
        }
    }
}

impl<S: ?Sized> fmt::Debug for Point<S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Point").field("id", &self.id).field("demand", &self.demand).finish_non_exhaustive()
    }
}

/// Tries one case. A subject that panics breaks the point.
fn attempt<S: ?Sized, C>(
    id: &str,
    subject: &S,
    case: &C,
    check: &impl Fn(&S, &C) -> Result<(), Violation>,
) -> Result<(), String> {
    match catch_unwind(AssertUnwindSafe(|| check(subject, case))) {
        Ok(Ok(())) => Ok(()),
        // Which point it is about is said beside.
        Ok(Err(violation)) if violation.rule == id => Err(violation.message),
        Ok(Err(violation)) => Err(violation.to_string()),
        Err(payload) => Err(format!("it panicked: {}", panic_message(&*payload))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug)]
    struct Number(u32);
    impl Case for Number {
        fn reproduce(&self) -> Option<String> {
            Some(format!("check({})", self.0))
        }
    }

    fn below(limit: &u32, number: &Number) -> Result<(), Violation> {
        match number.0 {
            777 => panic!("no sevens"),
            number if number < *limit => Ok(()),
            number => Err(Violation::new("below", number.to_string())),
        }
    }

    fn found(case: u32, seen: &str, settings: Settings) -> Finding {
        Finding::Broken(Counterexample {
            case: format!("{:#?}", Number(case)),
            seen: seen.to_owned(),
            reproduce: Some(format!("check({case})")),
            settings,
        })
    }

    #[test]
    fn a_failing_case_is_made_small() {
        let numbers = |_: &u32| (0..1_000_000_u32).prop_map(Number);
        let point = Point::property("below", "a number is below its limit", numbers, below);
        let Finding::Broken(first) = point.judge(&700, &Settings::default()) else { panic!("it is broken") };
        assert_eq!(Finding::Broken(first.clone()), found(700, "700", Settings { cases: 1, seed: 0 }));
        let rare = point.judge(&950_000, &Settings::default());
        let Finding::Broken(later) = &rare else { panic!("it is broken") };
        assert!(later.settings.cases > 1);
        assert_eq!(point.judge(&950_000, &later.settings), rare, "the same case is found again");
        let before = Settings { cases: later.settings.cases - 1, ..later.settings };
        assert_eq!(point.judge(&950_000, &before), Finding::Kept { cases: before.cases }, "and not before");
        let few = Settings { cases: 3, seed: 9 };
        assert_eq!(point.judge(&u32::MAX, &few), Finding::Kept { cases: 3 });
    }

    #[test]
    fn examples_are_tried_in_their_order_and_a_panic_breaks_the_point() {
        let numbers = |_: &u32| vec![Number(1), Number(777), Number(2)];
        let point = Point::examples("below", "a number is below its limit", numbers, below);
        assert_eq!(
            point.judge(&u32::MAX, &Settings::default()),
            found(777, "it panicked: no sevens", Settings::default())
        );
        assert_eq!(point.judge(&1, &Settings::default()), found(1, "1", Settings::default()));
    }

    #[test]
    fn what_a_subject_lacks_is_not_tried() {
        let point = Point::examples("below", "a number is below its limit", |_: &u32| vec![Number(777)], below)
            .unless(|limit| (*limit == 0).then(|| "a limit".to_owned()));
        assert_eq!(point.judge(&0, &Settings::default()), Finding::NotApplicable { lacking: "a limit".to_owned() });
        assert!(matches!(point.judge(&1, &Settings::default()), Finding::Broken(_)));
    }
}
