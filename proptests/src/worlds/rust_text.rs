//! Values as Rust text.

use std::any::type_name;
use std::fmt;
use std::time::Duration;

/// The derived `Debug` form of a value as an expression: that of an enum gets the name of the type before it.
pub(super) fn debug_as_rust<T: fmt::Debug + ?Sized>(value: &T) -> String {
    let path = type_name::<T>().split('<').next().unwrap_or_default();
    let name = path.rsplit("::").next().unwrap_or_default();
    let text = format!("{value:?}");
    let is_named = text.strip_prefix(name).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric));
    if is_named { text } else { format!("{name}::{text}") }
}

/// A duration as an expression.
pub(super) fn duration_as_rust(duration: Duration) -> String {
    if duration.subsec_nanos() == 0 {
        return format!("std::time::Duration::from_secs({})", duration.as_secs());
    }
    match u64::try_from(duration.as_nanos()) {
        Ok(nanos) if nanos % 1_000_000 == 0 => format!("std::time::Duration::from_millis({})", nanos / 1_000_000),
        Ok(nanos) => format!("std::time::Duration::from_nanos({nanos})"),
        Err(_) => format!("std::time::Duration::new({}, {})", duration.as_secs(), duration.subsec_nanos()),
    }
}

/// A name for a function that says this.
pub(super) fn function_name(text: &str) -> String {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let name = words.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("_");
    if name.starts_with(|letter: char| letter.is_ascii_alphabetic()) { name } else { format!("rule_{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    #[expect(dead_code, reason = "only what they look like matters")]
    enum Operation {
        Pay { amount: u32 },
        Look,
    }

    #[derive(Debug)]
    struct Shop;

    #[derive(Debug)]
    struct Of<T>(T);

    #[test]
    fn a_debug_form_becomes_an_expression() {
        assert_eq!(debug_as_rust(&Operation::Pay { amount: 3 }), "Operation::Pay { amount: 3 }");
        assert_eq!(debug_as_rust(&Operation::Look), "Operation::Look");
        assert_eq!(debug_as_rust(&Shop), "Shop");
        assert_eq!(debug_as_rust(&Of(3)), "Of(3)");
    }

    #[test]
    fn durations_and_names_are_rust() {
        assert_eq!(duration_as_rust(Duration::from_secs(3)), "std::time::Duration::from_secs(3)");
        assert_eq!(duration_as_rust(Duration::from_millis(1500)), "std::time::Duration::from_millis(1500)");
        assert_eq!(duration_as_rust(Duration::from_nanos(1)), "std::time::Duration::from_nanos(1)");
        assert_eq!(function_name("An order is paid once!"), "an_order_is_paid_once");
        assert_eq!(function_name("E3"), "e3");
        assert_eq!(function_name("1 or 2"), "rule_1_or_2");
    }
}
