//! How many cases, and which. All that reads the process's environment.

use std::str::FromStr;

const CASES: &str = "WINDTUNNEL_CASES";
const SEED: &str = "WINDTUNNEL_SEED";

/// How many cases are tried for each point or property, and which.
///
/// ```
/// use windtunnel_proptests::suites::Settings;
///
/// // As many as `WINDTUNNEL_CASES` says, else 64; which, `WINDTUNNEL_SEED` says. So a run repeats.
/// let settings = Settings::default().from_environment()?;
/// assert!(settings.cases > 0);
/// # Ok::<(), windtunnel_proptests::suites::SettingsError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How many cases. Default 64.
    pub cases: u32,
    /// What the cases are drawn from. Default 0.
    pub seed: u64,
}

/// A variable of the environment has a value that means nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{variable} is {value:?}; it must be {allowed}")]
pub struct SettingsError {
    variable: &'static str,
    value: String,
    allowed: &'static str,
}

impl Default for Settings {
    fn default() -> Self {
        Self { cases: 64, seed: 0 }
    }
}

impl Settings {
    /// What the process's environment says instead: `WINDTUNNEL_CASES` is a number of cases, such as `1000`, or how many times
    /// as many as there would be, such as `10x`; `WINDTUNNEL_SEED` is a number.
    ///
    /// # Errors
    /// [`SettingsError`] for a value that is neither.
    pub fn from_environment(self) -> Result<Self, SettingsError> {
        self.with(std::env::var(CASES).ok(), std::env::var(SEED).ok())
    }

    fn with(self, cases: Option<String>, seed: Option<String>) -> Result<Self, SettingsError> {
        let cases = match cases {
            None => self.cases,
            Some(value) => match value.strip_suffix('x') {
                None => number(CASES, &value)?,
                Some(times) => self.cases.saturating_mul(number(CASES, times)?),
            },
        };
        let seed = seed.map_or(Ok(self.seed), |value| number(SEED, &value))?;
        if cases == 0 {
            return Err(SettingsError { variable: CASES, value: "0".to_owned(), allowed: "at least 1" });
        }
        Ok(Self { cases, seed })
    }
}

fn number<T: FromStr>(variable: &'static str, value: &str) -> Result<T, SettingsError> {
    let allowed = if variable == CASES { "a number such as 1000, or 10x" } else { "a number" };
    value.parse().map_err(|_| SettingsError { variable, value: value.to_owned(), allowed })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(cases: Option<&str>, seed: Option<&str>, expected: Result<(u32, u64), &str>) {
        let settings = Settings::default().with(cases.map(str::to_owned), seed.map(str::to_owned));
        let settings = settings.map(|settings| (settings.cases, settings.seed)).map_err(|error| error.to_string());
        assert_eq!(settings, expected.map_err(str::to_owned));
    }

    #[test]
    fn the_environment_sets_or_multiplies() {
        check(None, None, Ok((64, 0)));
        check(Some("1000"), Some("7"), Ok((1000, 7)));
        check(Some("10x"), None, Ok((640, 0)));
        check(Some("4294967295x"), None, Ok((u32::MAX, 0)));
    }

    #[test]
    fn what_means_nothing_is_refused() {
        check(Some("many"), None, Err("WINDTUNNEL_CASES is \"many\"; it must be a number such as 1000, or 10x"));
        check(None, Some("-1"), Err("WINDTUNNEL_SEED is \"-1\"; it must be a number"));
        check(Some("0"), None, Err("WINDTUNNEL_CASES is \"0\"; it must be at least 1"));
    }
}
