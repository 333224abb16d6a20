//! What is taken for a secret.

use clap::Args;
use windtunnel_fixtures::redaction::{RuleError, Rules};

use crate::failure::Failure;

/// What is redacted besides what is by default: keys, tokens, cookies, account ids, home paths, and the values of
/// environment variables whose names say that they are secret.
#[derive(Debug, Args)]
#[command(next_help_heading = "Redaction")]
pub(crate) struct SecretsOptions {
    /// Take strings for secrets that are members of this name in JSON; may be given several times
    #[arg(long, value_name = "NAME")]
    redact_member: Vec<String>,
    /// Take strings for secrets that stand at this place, as JSONPath, in each JSON text; may be given several times
    #[arg(long, value_name = "PATH")]
    redact_path: Vec<String>,
    /// Take what this regular expression finds for a secret; may be given several times
    #[arg(long, value_name = "REGEX")]
    redact_pattern: Vec<String>,
    /// Keep this header, which is dropped else; may be given several times
    #[arg(long, value_name = "NAME")]
    keep_header: Vec<String>,
    /// Leave what this rule finds as it is, such as home-path; may be given several times
    #[arg(long, value_name = "RULE")]
    without_rule: Vec<String>,
}

impl SecretsOptions {
    /// The rules, with the secrets of these environment variables.
    pub(crate) fn rules(&self, variables: impl IntoIterator<Item = (String, String)>) -> Result<Rules, Failure> {
        self.parse(variables).map_err(|error| Failure::Selection(error.to_string()))
    }

    fn parse(&self, variables: impl IntoIterator<Item = (String, String)>) -> Result<Rules, RuleError> {
        let mut rules = Rules::default();
        for (_, value) in variables.into_iter().filter(|(name, value)| is_secret(name, value)) {
            rules = rules.secret(value);
        }
        for name in &self.redact_member {
            rules = rules.member(name);
        }
        for name in &self.keep_header {
            rules = rules.keep_header(name);
        }
        for path in &self.redact_path {
            rules = rules.path(path)?;
        }
        for (number, pattern) in (1..).zip(&self.redact_pattern) {
            rules = rules.pattern(&format!("pattern-{number}"), "secret", pattern)?;
        }
        for rule in &self.without_rule {
            rules = rules.without(rule)?;
        }
        Ok(rules)
    }
}

/// The environment, as far as it is text.
pub(crate) fn environment() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

/// What the words of a variable's name are that holds a secret.
const SECRET_WORDS: [&str; 6] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL", "CREDENTIALS"];

/// How long a secret is at least: what is shorter stands elsewhere by chance.
const SECRET_BYTES_MIN: usize = 8;

fn is_secret(name: &str, value: &str) -> bool {
    value.len() >= SECRET_BYTES_MIN && name.to_uppercase().split('_').any(|word| SECRET_WORDS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_says_by_its_name_that_it_is_secret() {
        assert!(is_secret("OPENAI_API_KEY", "a-long-value") && is_secret("db_password", "12345678"));
        assert!(
            !is_secret("KEYBOARD", "a-long-value")
                && !is_secret("API_KEY", "short")
                && !is_secret("PATH", "/usr/bin/x")
        );
    }
}
