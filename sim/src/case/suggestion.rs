//! What a misspelt name may have meant.

/// The nearest of the known names, if it is near, and all of them, for a message.
pub(super) fn known(name: &str, names: &[&str]) -> String {
    let all = names.join(", ");
    match nearest(name, names) {
        Some(nearest) => format!("did you mean {nearest:?}? known: {all}"),
        None => format!("known: {all}"),
    }
}

/// The nearest name, if no more than a third of it has to change.
fn nearest<'a>(name: &str, names: &[&'a str]) -> Option<&'a str> {
    // Names are short; a long one is no misspelling of any.
    let name: Vec<char> = name.chars().take(65).collect();
    if name.len() > 64 {
        return None;
    }
    let distances = names.iter().map(|known| (distance(&name, &known.chars().collect::<Vec<_>>()), *known));
    let (distance, nearest) = distances.min_by_key(|(distance, _)| *distance)?;
    (distance <= nearest.chars().count().div_ceil(3)).then_some(nearest)
}

/// How many letters have to be inserted, removed, replaced, or swapped with their neighbour.
fn distance(from: &[char], to: &[char]) -> usize {
    let mut before_last = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for (row, letter) in from.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, other) in to.iter().enumerate() {
            let replaced = last[column] + usize::from(letter != other);
            let mut least = replaced.min(last[column + 1] + 1).min(current[column] + 1);
            if row > 0 && column > 0 && from[row - 1] == *other && to[column - 1] == *letter {
                let swapped: usize = before_last[column - 1];
                least = least.min(swapped + 1);
            }
            current.push(least);
        }
        before_last = std::mem::replace(&mut last, current);
    }
    last.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_name_is_named() {
        let names = ["retries", "timeout_s", "kind"];
        for (name, expected) in [
            ("retrise", Some("retries")),
            ("retry", Some("retries")),
            ("timeout", Some("timeout_s")),
            ("Kind", Some("kind")),
            ("colour", None),
            ("", None),
            (&*"x".repeat(100_000), None),
        ] {
            assert_eq!(nearest(name, &names), expected, "for {name:.9}");
        }
    }

    #[test]
    fn all_names_are_listed() {
        assert_eq!(known("bse", &["base", "max"]), r#"did you mean "base"? known: base, max"#);
        assert_eq!(known("jitter", &["base", "max"]), "known: base, max");
    }
}
