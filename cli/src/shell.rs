//! Words of a command line that can be copied into a shell.

use windtunnel_sim::Recipe;

/// The command that replays one seed of a case.
pub(crate) fn replay(file: &str, case: Option<&str>, seed: u64) -> String {
    with_seed("replay", file, case, seed)
}

/// The command that replays what a sweep has found of a case.
pub(crate) fn replay_recipe(file: &str, case: Option<&str>, recipe: &Recipe) -> String {
    format!("{} --recipe {}", command("replay", file, case), word(&recipe.to_json()))
}

/// The command that makes a failing seed of a case small.
pub(crate) fn shrink(file: &str, case: Option<&str>, seed: u64) -> String {
    with_seed("shrink", file, case, seed)
}

fn with_seed(name: &str, file: &str, case: Option<&str>, seed: u64) -> String {
    format!("{} --seed {seed}", command(name, file, case))
}

fn command(name: &str, file: &str, case: Option<&str>) -> String {
    let case = case.map(option).unwrap_or_default();
    // A file name that begins with a hyphen would be read as an option.
    let file = if file.starts_with('-') { format!("./{file}") } else { file.to_owned() };
    format!("windtunnel {name} {}{case}", word(&file))
}

/// The id, in one word with its option if it would be read as one itself.
fn option(case: &str) -> String {
    let sign = if case.starts_with('-') { '=' } else { ' ' };
    format!(" --case{sign}{}", word(case))
}

fn word(text: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./:=+@%,".contains(letter);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_a_shell() {
        assert_eq!(replay("cases/a.jsonl", Some("x-1"), 7), "windtunnel replay cases/a.jsonl --case x-1 --seed 7");
        assert_eq!(replay("it's a.json", None, 0), r"windtunnel replay 'it'\''s a.json' --seed 0");
        assert_eq!(replay("-a.json", Some("-5"), 0), "windtunnel replay ./-a.json --case=-5 --seed 0");
        assert_eq!(replay("a.json", Some(""), 0), "windtunnel replay a.json --case '' --seed 0");
    }
}
