//! Blocks of a page with commands and what they print.

/// A block ```` ```console ````: lines that begin with `$ ` are commands, what follows them is what they print on standard
/// output. ```` ```console,exit=1 ```` says how the last one ends.
pub(crate) struct Block {
    pub(crate) exit_code: i32,
    pub(crate) body: String,
    pub(crate) commands: Vec<Shown>,
}

/// A command as it is shown.
pub(crate) struct Shown {
    /// Its lines.
    pub(crate) text: String,
    /// What the shell is given.
    pub(crate) shell: String,
    pub(crate) output: String,
}

impl Block {
    /// Whether it runs this program, told with the space after it.
    pub(crate) fn asks(&self, program: &str) -> bool {
        self.commands.iter().any(|command| command.shell.contains(program))
    }
}

/// The blocks of a page, in their order.
pub(crate) fn blocks(page: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut lines = page.split_inclusive('\n');
    while let Some(line) = lines.next() {
        let Some(info) = line.trim_end().strip_prefix("```") else { continue };
        let body: String = lines.by_ref().take_while(|line| line.trim_end() != "```").collect();
        let mut words = info.split(',');
        if words.next() == Some("console") {
            let exit_code = words.find_map(|word| word.strip_prefix("exit=")).map_or(0, |code| code.parse().unwrap());
            found.push(Block { exit_code, commands: commands(&body), body });
        }
    }
    found
}

fn commands(body: &str) -> Vec<Shown> {
    let mut found: Vec<Shown> = Vec::new();
    let mut is_open = false;
    for line in body.split_inclusive('\n') {
        let begun = line.strip_prefix("$ ");
        if let Some(begun) = begun {
            found.push(Shown { text: line.to_owned(), shell: begun.to_owned(), output: String::new() });
        } else {
            let last = found.last_mut().unwrap();
            if is_open {
                last.text.push_str(line);
                last.shell.push_str(line);
            } else {
                last.output.push_str(line);
            }
        }
        is_open = (begun.is_some() || is_open) && line.trim_end().ends_with('\\');
    }
    found
}

/// Whether a page shows this output: `…` stands for any part of a line, and a line of nothing else for any lines.
pub(crate) fn is_shown(shown: &str, came: &str) -> bool {
    let (shown, came): (Vec<_>, Vec<_>) = (shown.lines().collect(), came.lines().collect());
    are_shown(&shown, &came)
}

fn are_shown(shown: &[&str], came: &[&str]) -> bool {
    match shown {
        [] => came.is_empty(),
        [first, rest @ ..] if first.trim() == "…" => {
            (0..=came.len()).any(|skipped| are_shown(rest, &came[skipped..]))
        }
        [first, rest @ ..] => {
            came.split_first().is_some_and(|(line, after)| fits(first, line) && are_shown(rest, after))
        }
    }
}

fn fits(shown: &str, line: &str) -> bool {
    let mut parts = shown.split('…');
    let Some(mut left) = parts.next().and_then(|first| line.strip_prefix(first)) else { return false };
    let mut parts = parts.peekable();
    while let Some(part) = parts.next() {
        let found = if parts.peek().is_none() { left.ends_with(part).then_some(left.len()) } else { after(left, part) };
        let Some(end) = found else { return false };
        left = &left[end..];
    }
    left.is_empty()
}

fn after(text: &str, part: &str) -> Option<usize> {
    text.find(part).map(|place| place + part.len())
}

#[test]
fn what_is_left_out_may_be_anything() {
    assert!(is_shown("a\n", "a\n"));
    assert!(is_shown("a … c\n…\nz\n", "a b c\nd\ne\nz\n"));
    assert!(is_shown("took …\n", "took 7 ms\n"));
    for (shown, came) in [("a\n", "a\nb\n"), ("a\nb\n", "a\n"), ("a … c\n", "a b\n"), ("a\n…\nz\n", "a\nb\n")] {
        assert!(!is_shown(shown, came), "{shown:?}");
    }
}

#[test]
fn commands_may_go_on_over_lines() {
    let page = "text\n```console,exit=1\n$ one \\\n  two\nout\n$ three\n```\n```sh\n$ four\n```\n";
    let blocks = blocks(page);
    let [block] = &blocks[..] else { panic!("one block") };
    assert_eq!((block.exit_code, block.commands.len()), (1, 2));
    assert_eq!((&*block.commands[0].shell, &*block.commands[0].output), ("one \\\n  two\n", "out\n"));
}
