//! Lists of which the order does not matter, compared.

use std::collections::BTreeMap;

use serde_json::Value;
use windtunnel_core::json::{Path, canonical};
use windtunnel_fixtures::difference::Difference;

/// Elements that one side has more often than the other.
pub(super) fn compare_unordered(path: &Path, expected: &[Value], found: &[Value]) -> Vec<Difference> {
    let mut counts = BTreeMap::<String, isize>::new();
    for value in found {
        *counts.entry(canonical(value)).or_default() += 1;
    }
    let mut differences = Vec::new();
    for (index, value) in expected.iter().enumerate() {
        let left = counts.entry(canonical(value)).or_default();
        *left -= 1;
        if *left < 0 {
            let path = path.clone().element(index);
            differences.push(Difference { path, expected: Some(value.clone()), found: None });
        }
    }
    for (index, value) in found.iter().enumerate() {
        let left = counts.entry(canonical(value)).or_default();
        if *left > 0 {
            *left -= 1;
            let path = path.clone().element(index);
            differences.push(Difference { path, expected: None, found: Some(value.clone()) });
        }
    }
    differences
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn order_is_no_difference_where_none_is_expected() {
        let lines = |expected: &[Value], found: &[Value]| -> Vec<String> {
            let differences = compare_unordered(&Path::root(), expected, found);
            differences.iter().map(ToString::to_string).collect()
        };
        assert!(lines(&[json!(1), json!(2), json!(1)], &[json!(2), json!(1), json!(1)]).is_empty());
        assert_eq!(
            lines(&[json!(1), json!(1), json!(3)], &[json!(1), json!(2), json!(2)]),
            [
                "$[1]: expected 1, found nothing",
                "$[2]: expected 3, found nothing",
                "$[1]: expected nothing, found 2",
                "$[2]: expected nothing, found 2",
            ]
        );
    }
}
