//! A campaign that is narrowed to one run, to repeat it.

use super::{ExploreError, Recipe};

/// The variable that narrows a campaign to one seed.
const SEED_VARIABLE: &str = "WINDTUNNEL_SEED";

/// The variable that narrows a campaign to one run.
const REPEAT_VARIABLE: &str = "WINDTUNNEL_REPEAT";

/// What an environment variable narrows a campaign to.
pub(super) enum Only {
    /// Nothing.
    All,
    Seed(u64),
    Recipe(Box<Recipe>),
}

impl Only {
    pub(super) fn from_environment() -> Result<Self, ExploreError> {
        if let Some(value) = std::env::var_os(REPEAT_VARIABLE) {
            let recipe = Recipe::from_json(&value.to_string_lossy()).map_err(ExploreError::InvalidRecipe)?;
            return Ok(Self::Recipe(Box::new(recipe)));
        }
        match std::env::var_os(SEED_VARIABLE) {
            None => Ok(Self::All),
            Some(value) => only_seed(&value.to_string_lossy()).map(Self::Seed),
        }
    }
}

/// The seed that a variable names.
fn only_seed(value: &str) -> Result<u64, ExploreError> {
    let seed = value.parse().ok().filter(|seed: &u64| *seed < u64::MAX);
    seed.ok_or_else(|| ExploreError::InvalidSeed { value: value.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_to_repeat_is_a_whole_number() {
        assert_eq!(only_seed("7").unwrap(), 7);
        for value in ["", "abc", "-1", "0x10", "3..4", "18446744073709551615"] {
            let message = format!("WINDTUNNEL_SEED is {value:?}; set it to a whole number, or not at all");
            assert_eq!(only_seed(value).unwrap_err().to_string(), message);
        }
    }
}
