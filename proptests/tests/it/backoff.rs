//! Delays, for every accepted setting (E4).

use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::Config;
use windtunnel_core::executor::{Backoff, BackoffSettings};
use windtunnel_proptests::models;
use windtunnel_proptests::strategies::{
    attempt_numbers, backoff_settings, exact_backoff_settings, extreme_backoff_settings, refused_backoff_settings,
    units,
};

use crate::settings::family;

fn any_settings() -> impl Strategy<Value = BackoffSettings> {
    prop_oneof![1 => backoff_settings(), 3 => extreme_backoff_settings()]
}

/// Pure and quick: many cases.
fn config() -> Config {
    let config = family!("backoff");
    Config { cases: config.cases.saturating_mul(16), ..config }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_delay_lies_between_nothing_and_the_maximum_with_its_jitter(
        settings in any_settings(), attempt in attempt_numbers(), unit in units(),
    ) {
        let backoff = Backoff::new(settings).unwrap();
        let delay_s = backoff.delay_s(attempt, unit);
        let most_s = settings.max_s * (1.0 + settings.jitter);
        prop_assert!((0.0..=most_s).contains(&delay_s), "{delay_s} s of at most {most_s} s");
        prop_assert!(delay_s >= backoff.delay_s(attempt, 0.0), "jitter only adds");
        let delay = backoff.delay(attempt, unit);
        prop_assert_eq!(delay, Duration::try_from_secs_f64(delay_s).unwrap());
    }

    #[test]
    fn the_first_delay_is_exactly_the_base(settings in any_settings()) {
        let backoff = Backoff::new(settings).unwrap();
        let first_s = settings.base_s.min(settings.max_s);
        prop_assert_eq!(backoff.delay_s(1, 0.0), first_s);
        prop_assert_eq!(backoff.delay(1, 0.0), Duration::from_secs_f64(first_s));
    }

    #[test]
    fn delays_never_shrink(
        settings in any_settings(), attempts in (attempt_numbers(), attempt_numbers()), unit in units(),
    ) {
        let backoff = Backoff::new(settings).unwrap();
        let (earlier, later) = (attempts.0.min(attempts.1), attempts.0.max(attempts.1));
        // Multiplying in another order may cost the last bits.
        let slack = 1.0 + f64::EPSILON * f64::from(later);
        let (earlier_s, later_s) = (backoff.delay_s(earlier, unit), backoff.delay_s(later, unit));
        prop_assert!(earlier_s <= later_s * slack, "{earlier_s} s at {earlier}, {later_s} s at {later}");
        prop_assert!(backoff.delay_s(earlier, 0.0) <= backoff.delay_s(earlier.saturating_add(1), 0.0));
    }

    #[test]
    fn delays_are_those_of_the_formula(settings in any_settings(), attempt in attempt_numbers(), unit in units()) {
        let delay_s = Backoff::new(settings).unwrap().delay_s(attempt, unit);
        let bounds_s = models::delay_bounds_s(&settings, attempt, unit);
        prop_assert!(bounds_s.contains(&delay_s), "{delay_s} s is not within {bounds_s:?}");
    }

    #[test]
    fn delays_that_are_exact_in_binary_are_exact(settings in exact_backoff_settings(), attempt in 1_u32..20) {
        let delay_s = Backoff::new(settings).unwrap().delay_s(attempt, 0.5);
        prop_assert_eq!(delay_s, models::delay_s(&settings, attempt, 0.5));
    }

    #[test]
    fn settings_that_could_break_a_delay_are_refused(settings in refused_backoff_settings()) {
        prop_assert!(Backoff::new(settings).is_err());
    }
}
