//! Waits between attempts.

use proptest::prelude::*;
use proptest::sample::select;
use windtunnel_core::executor::BackoffSettings;

/// Settings that people use: milliseconds to seconds, that double or so. One in nine is the default. Of 100 at least 70 grow
/// by half at least, and 60 keep their first delay below their maximum.
pub fn backoff_settings() -> impl Strategy<Value = BackoffSettings> + Clone {
    let any = (0.001..2.0, 0.0..60.0, 1.0..4.0, 0.0..=1.0).prop_map(settings);
    prop_oneof![1 => Just(BackoffSettings::default()), 8 => any]
}

/// Settings whose delays are exact in binary: a model that multiplies differently still gets the same bits, as long as
/// the random numbers are [`units`] of few bits or 0. Of 100 at least 20 do not grow, and 20 have no jitter.
pub fn exact_backoff_settings() -> impl Strategy<Value = BackoffSettings> + Clone {
    let parts = 0_u32..=4096;
    let seconds = move |most: u32| parts.clone().prop_map(move |part| f64::from(part) / 4096.0 * f64::from(most));
    let multipliers = select(&[1.0, 1.5, 2.0, 4.0][..]);
    let jitters = select(&[0.0, 0.25, 0.5, 1.0][..]);
    (seconds(2), seconds(64), multipliers, jitters).prop_map(settings)
}

/// Every accepted setting, the edges of what is accepted among them. With [`attempt_numbers`], of 100 delays at least 50
/// are the maximum, and 5 have grown and stay below it.
pub fn extreme_backoff_settings() -> impl Strategy<Value = BackoffSettings> + Clone {
    let multipliers = prop_oneof![
        2 => select(&[1.0, 1.0 + f64::EPSILON, 1.000_000_1, 2.0, 1e155, f64::MAX][..]),
        1 => 1.0..10.0,
        1 => (0.0..308.0).prop_map(|digits: f64| 10_f64.powf(digits)),
    ];
    let jitters = prop_oneof![1 => select(&[0.0, -0.0, f64::MIN_POSITIVE, 0.25, 1.0, 1e6][..]), 1 => 0.0..1e6];
    let bases = prop_oneof![
        2 => select(&[0.0, -0.0, 1e-9, 0.5, 1e9, 1e12][..]),
        1 => 1e-9..100.0,
        2 => (-9.0..12.0).prop_map(|digits: f64| 10_f64.powf(digits).clamp(1e-9, 1e12)),
    ];
    let maxima = prop_oneof![
        2 => select(vec![0.0, -0.0, f64::from_bits(1), f64::MIN_POSITIVE, 1e-200, 1e-9, 0.5, 1e9, 1e12]),
        1 => 0.0..100.0,
        2 => (-12.0..12.0).prop_map(|digits: f64| 10_f64.powf(digits)),
    ];
    (bases, maxima, multipliers, jitters).prop_map(settings)
}

/// Settings that could make a delay which is negative, not a number or endless, or whose base is less than a nanosecond,
/// so that they must be refused: usual ones with one setting broken.
pub fn refused_backoff_settings() -> impl Strategy<Value = BackoffSettings> + Clone {
    let never = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, -f64::MIN_POSITIVE];
    let bases = select([&never[..], &[f64::MIN_POSITIVE, 1e-310, 9.9e-10, 1.1e12, f64::MAX]].concat());
    let maxima = select([&never[..], &[1.1e12, f64::MAX]].concat());
    let multipliers = select([&never[..], &[0.0, 0.5, 1.0 - f64::EPSILON]].concat());
    let jitters = select([&never[..], &[1.1e6, f64::MAX]].concat());
    let with = backoff_settings;
    prop_oneof![
        (with(), bases).prop_map(|(usual, base_s)| BackoffSettings { base_s, ..usual }),
        (with(), maxima).prop_map(|(usual, max_s)| BackoffSettings { max_s, ..usual }),
        (with(), multipliers).prop_map(|(usual, multiplier)| BackoffSettings { multiplier, ..usual }),
        (with(), jitters).prop_map(|(usual, jitter)| BackoffSettings { jitter, ..usual }),
    ]
}

fn settings((base_s, max_s, multiplier, jitter): (f64, f64, f64, f64)) -> BackoffSettings {
    BackoffSettings { base_s, max_s, multiplier, jitter }
}

/// Numbers in `[0, 1)` as a source of chance draws them, with the edges.
pub fn units() -> impl Strategy<Value = f64> + Clone {
    let below_one = 1.0 - f64::EPSILON / 2.0;
    prop_oneof![2 => select(vec![0.0, 0.25, 0.5, 0.75, below_one]), 2 => 0.0..1.0]
}

/// Numbers of attempts from 1 to the largest there is: small ones, powers of two and their neighbours, and any.
pub fn attempt_numbers() -> impl Strategy<Value = u32> + Clone {
    let near_powers =
        (0_u32..32, 0_u32..3).prop_map(|(power, offset)| (1_u32 << power).saturating_add(offset).max(2) - 1);
    prop_oneof![3 => 1_u32..70, 3 => near_powers, 2 => select(&[1 << 31, u32::MAX][..]), 2 => 1..=u32::MAX]
}
