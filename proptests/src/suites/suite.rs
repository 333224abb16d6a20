//! A list of points.

use super::{Finding, Judged, Point, Report, Settings};

/// Points that subjects of type `S` are held to.
///
/// ```
/// # use windtunnel_core::env::Env;
/// # use windtunnel_proptests::suites::{LimitPolicy, LimitRefusal, LimitSubject, Limiter, Work};
/// use windtunnel_proptests::suites::{LimitFeature, Settings, limit_suite};
///
/// # struct Mine;
/// # struct MyLimiter(std::sync::Mutex<u64>);
/// # impl LimitSubject for Mine {
/// #     type Limiter = MyLimiter;
/// #     fn features(&self) -> Vec<LimitFeature> {
/// #         vec![LimitFeature::CallsMax]
/// #     }
/// #     fn limiter(&self, limits: &LimitPolicy, _env: Env) -> Result<MyLimiter, String> {
/// #         Ok(MyLimiter(std::sync::Mutex::new(limits.calls_max.unwrap_or(u64::MAX))))
/// #     }
/// # }
/// # impl Limiter for MyLimiter {
/// #     async fn call(&self, work: Work) -> Result<(), LimitRefusal> {
/// #         let left = self.0.lock().unwrap().checked_sub(1).ok_or(LimitRefusal("none left".to_owned()))?;
/// #         *self.0.lock().unwrap() = left;
/// #         let _ended = work.run().await;
/// #         Ok(())
/// #     }
/// # }
/// let suite = limit_suite();
/// suite.run("mine", &Mine, &Settings::default()).assert_kept();
/// let one = suite.only(&["calls_exact"]).run("mine", &Mine, &Settings { cases: 1000, ..Settings::default() });
/// assert_eq!(one.kept(), ["calls_exact"]);
/// ```
#[derive(Debug)]
pub struct Suite<S: ?Sized> {
    name: &'static str,
    points: Vec<Point<S>>,
}

impl<S: ?Sized> Suite<S> {
    /// A suite of these points, whose ids all differ. What makes the suite `model transport` is named
    /// `model_transport_suite`: so the lines say that try what is broken again.
    pub fn new(name: &'static str, points: Vec<Point<S>>) -> Self {
        Self { name, points }
    }

    /// Its points, in order.
    pub fn points(&self) -> &[Point<S>] {
        &self.points
    }

    /// Only the points of these ids; those that it does not have are left out.
    #[must_use]
    pub fn only(mut self, ids: &[&str]) -> Self {
        self.points.retain(|point| ids.contains(&point.id()));
        self
    }

    /// Holds a subject to each point. `name` is what the report calls it.
    pub fn run(&self, name: &str, subject: &S, settings: &Settings) -> Report {
        let judge = |point: &Point<S>| Judged {
            id: point.id(),
            demand: point.demand(),
            finding: self.judge(point, subject, settings),
        };
        Report { suite: self.name, subject: name.to_owned(), points: self.points.iter().map(judge).collect() }
    }

    /// Whatever is broken can be tried again: a case that does not say how is found again by its point.
    fn judge(&self, point: &Point<S>, subject: &S, settings: &Settings) -> Finding {
        let mut finding = point.judge(subject, settings);
        if let Finding::Broken(found) = &mut finding {
            let (suite, id) = (self.name.replace(' ', "_"), point.id());
            let Settings { cases, seed } = found.settings;
            found.reproduce.get_or_insert_with(|| {
                format!(
                    "let settings = Settings {{ cases: {cases}, seed: {seed} }};\n\
                     println!(\"{{}}\", {suite}_suite().only(&[{id:?}]).run(\"again\", &subject, &settings));"
                )
            });
        }
        finding
    }
}
