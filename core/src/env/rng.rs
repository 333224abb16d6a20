//! Chance, as independent named streams.

/// The largest `f64` below one.
const BELOW_ONE: f64 = 1.0 - f64::EPSILON / 2.0;

/// A source of random numbers in named streams. A closure `Fn() -> f64` is one, the same for every stream.
pub trait Rng: Send + Sync {
    /// The next 64 bits of `stream`. A draw from one stream never shifts another.
    fn next_u64(&self, stream: &str) -> u64;

    /// The next number of `stream`, in `[0, 1)`.
    fn unit(&self, stream: &str) -> f64 {
        unit_from_bits(self.next_u64(stream))
    }
}

impl<F: Fn() -> f64 + Send + Sync> Rng for F {
    fn next_u64(&self, stream: &str) -> u64 {
        // The top 53 bits are the number, so that `unit_from_bits` gives it back.
        ((self.unit(stream) * (1_u64 << 53) as f64) as u64) << 11
    }

    fn unit(&self, _stream: &str) -> f64 {
        let drawn = self();
        if drawn.is_nan() { 0.0 } else { drawn.clamp(0.0, BELOW_ONE) }
    }
}

/// The number in `[0, 1)` that the top 53 of 64 random bits stand for.
pub fn unit_from_bits(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closure_is_held_to_the_unit_interval() {
        for (drawn, given) in [(f64::NAN, 0.0), (-1.0, 0.0), (0.25, 0.25), (1.0, BELOW_ONE), (f64::INFINITY, BELOW_ONE)]
        {
            let rng = move || drawn;
            assert_eq!(Rng::unit(&rng, "any"), given, "for {drawn}");
            assert_eq!(unit_from_bits(rng.next_u64("any")), given, "for {drawn}");
        }
    }

    #[test]
    fn the_extreme_bits_stay_inside_the_unit_interval() {
        assert_eq!(unit_from_bits(0), 0.0);
        assert_eq!(unit_from_bits(u64::MAX), BELOW_ONE);
    }
}
