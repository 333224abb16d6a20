//! Which version a program is written in.

use super::document::{Content, Document, EntryId};
use super::reader::Reader;
use super::tree::Version;
use super::version1::TYPES_OF_VERSION_1;
use super::version2::TYPES_OF_VERSION_2;

/// The version that a program says, unless it looks like the other one: then nothing else can be judged.
pub(super) fn stated(reader: &mut Reader<'_>) -> Option<Version> {
    if !reader.is_object(Document::ROOT) {
        return None;
    }
    let member = reader.document.member(Document::ROOT, "schema_version");
    let stated = member.map_or(Some(Version::V1), |member| known(reader, member))?;
    let likely = likely(reader.document, stated);
    if likely == stated {
        return Some(stated);
    }
    match member {
        Some(member) => {
            reader.offend(member, || format!("the program looks like version {likely}: write \"{likely}\""));
        }
        None => reader.offend(Document::ROOT, || {
            format!(
                "there is no `schema_version`; this looks like version {likely}: add \"schema_version\": \"{likely}\""
            )
        }),
    }
    None
}

fn known(reader: &mut Reader<'_>, member: EntryId) -> Option<Version> {
    match reader.document.content(member) {
        Content::String("1.0") => return Some(Version::V1),
        Content::String("2.0") => return Some(Version::V2),
        Content::String(_) => reader.offend(member, || "unknown version; known: \"1.0\", \"2.0\"".to_owned()),
        _ => reader.mistyped(member, "a string, \"1.0\" or \"2.0\""),
    }
    None
}

/// The other version, if something at the root or in the body is of that one and nothing there of the stated one.
fn likely(document: &Document<'_>, stated: Version) -> Version {
    let defines = document.member(Document::ROOT, "definitions").is_some();
    let mut is_other = match stated {
        Version::V1 => defines,
        Version::V2 if defines => return stated,
        Version::V2 => false,
    };
    let body = document.member(Document::ROOT, "body");
    let body = body.filter(|body| matches!(document.content(*body), Content::Array));
    for node in body.into_iter().flat_map(|body| document.children(body)) {
        match version_of_node(document, node) {
            Some(version) if version == stated => return stated,
            Some(_) => is_other = true,
            None => {}
        }
    }
    match (stated, is_other) {
        (Version::V1, true) => Version::V2,
        (Version::V2, true) => Version::V1,
        (stated, false) => stated,
    }
}

/// The version that has nodes of this type; of a conditional, which both have, that of its condition.
fn version_of_node(document: &Document<'_>, mut node: EntryId) -> Option<Version> {
    loop {
        match document.kind(node)? {
            "conditional" => node = document.member(node, "condition")?,
            kind if TYPES_OF_VERSION_1.contains(&kind) => return Some(Version::V1),
            kind if TYPES_OF_VERSION_2.contains(&kind) => return Some(Version::V2),
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Program;

    #[track_caller]
    fn check(text: &str, message: &str) {
        let refusal = Program::parse(text, Program::BOUNDS).unwrap_err();
        let [offence] = refusal.offences() else { panic!("{refusal}") };
        assert_eq!(format!("{}: {}", offence.path, offence.problem), message);
    }

    const VERSION_1: &str = r#"{"type": "function", "name": "f", "params": [3, "x"]}"#;
    const VERSION_2: &str = r#"{"type": "tool_call", "tool": "f", "arguments": {"a": 3, "b": 4}}"#;

    #[test]
    fn a_version_is_one_of_the_known_texts() {
        for version in ["\"1\"", "\"2\"", "\"v2\"", "\"\""] {
            check(
                &format!(r#"{{"schema_version": {version}, "definitions": []}}"#),
                r#"$.schema_version: unknown version; known: "1.0", "2.0""#,
            );
        }
        for (version, found) in [("2.0", "a number"), ("1", "a number"), ("null", "null"), ("{}", "an object")] {
            check(
                &format!(r#"{{"schema_version": {version}, "body": [{VERSION_2}]}}"#),
                &format!(r#"$.schema_version: must be a string, "1.0" or "2.0", not {found}"#),
            );
        }
    }

    #[test]
    fn a_program_of_version_2_that_does_not_say_so_is_told_to() {
        let conditional = |condition: &str| format!(r#"{{"type": "conditional", "condition": {condition}}}"#);
        for members in [
            r#""definitions": [3], "body": [7]"#.to_owned(),
            format!(r#""definitions": [], "body": [{VERSION_2}], "mode": "many""#),
            format!(r#""body": [{VERSION_2}, {VERSION_2}]"#),
            format!(r#""body": [{}, 7]"#, conditional(&conditional(VERSION_2))),
        ] {
            check(
                &format!("{{{members}}}"),
                r#"$: there is no `schema_version`; this looks like version 2.0: add "schema_version": "2.0""#,
            );
            check(
                &format!(r#"{{"schema_version": "1.0", {members}}}"#),
                r#"$.schema_version: the program looks like version 2.0: write "2.0""#,
            );
        }
    }

    #[test]
    fn a_program_of_version_1_that_says_2_is_told_to_say_1() {
        check(
            &format!(r#"{{"schema_version": "2.0", "body": [{VERSION_1}, {VERSION_1}], "mode": "single"}}"#),
            r#"$.schema_version: the program looks like version 1.0: write "1.0""#,
        );
    }

    #[test]
    fn a_program_with_something_of_both_is_what_it_says() {
        for (members, places) in [
            (
                format!(r#""mode": "single", "definitions": [], "body": [{VERSION_1}]"#),
                ["$.definitions", "$.body[0].p"],
            ),
            (format!(r#""mode": "single", "body": [{VERSION_2}, {VERSION_1}]"#), ["$.body[0].type", "$.body[1].p"]),
            (
                format!(r#""schema_version": "2.0", "definitions": [3], "body": [{VERSION_1}]"#),
                ["$.def", "$.body[0].t"],
            ),
            (format!(r#""schema_version": "2.0", "body": [{VERSION_1}, {VERSION_2}]"#), ["$.body[0].t", "$.body[1].a"]),
        ] {
            let refusal = Program::parse(&format!("{{{members}}}"), Program::BOUNDS).unwrap_err();
            for (offence, place) in refusal.offences().iter().zip(places) {
                assert!(offence.path.to_string().starts_with(place), "{refusal}");
            }
        }
    }
}
