//! Case files.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use windtunnel_core::json::Bounds;

use super::build;
use super::cassettes::Library;
use super::definition::Case;
use super::error::{LoadError, Place};
use super::text::{Format, Pointing, documents};

/// The largest file that is read.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

impl Case {
    /// Reads the cases of a file; its name says its format.
    ///
    /// # Errors
    /// [`LoadError`] if it cannot be read, holds no case, or something in it is wrong: then the first such thing.
    pub fn load(file: &str) -> Result<Vec<Self>, LoadError> {
        let (format, opened) = open(file)?;
        Self::parse_with(file, format, &text(file, opened)?, Library::beside(file))
    }

    /// Reads cases from anywhere; `file` stands for it in messages. They can name no cassettes, since they are in no folder.
    ///
    /// # Errors
    /// As for [`Case::load`].
    pub fn read(file: &str, format: Format, from: impl Read) -> Result<Vec<Self>, LoadError> {
        Self::parse(file, format, &text(file, from)?)
    }

    /// Reads cases from anywhere, as if they stood in `folder`: it is the one that they name their cassettes from.
    ///
    /// # Errors
    /// As for [`Case::load`].
    pub fn read_in(
        folder: impl AsRef<Path>,
        file: &str,
        format: Format,
        from: impl Read,
    ) -> Result<Vec<Self>, LoadError> {
        Self::parse_with(file, format, &text(file, from)?, Library::in_folder(folder.as_ref()))
    }

    /// Reads cases from a text; `file` stands for it in messages. They can name no cassettes, since they are in no folder.
    ///
    /// # Errors
    /// As for [`Case::load`].
    pub fn parse(file: &str, format: Format, text: &str) -> Result<Vec<Self>, LoadError> {
        Self::parse_with(file, format, text, Library::nowhere())
    }

    pub(super) fn parse_with(
        file: &str,
        format: Format,
        text: &str,
        library: impl Into<Arc<Library>>,
    ) -> Result<Vec<Self>, LoadError> {
        let library = library.into();
        let documents = documents(file, format, text, Bounds::DEFAULT)?;
        if documents.is_empty() {
            return Err(LoadError::Empty { file: file.to_owned() });
        }
        let mut cases = Vec::<Self>::with_capacity(documents.len());
        let mut places = BTreeMap::<String, usize>::new();
        for (index, document) in documents.iter().enumerate() {
            let case = build::case(document, index + 1, &library)?;
            if let Some(line) = places.insert(case.id.clone(), case.place.line) {
                let problem = format!("the case on line {line} has the id {:?} too; give one another", case.id);
                return Err(document.error(document.root.clone().member("id"), Pointing::AtValue, problem));
            }
            cases.push(case);
        }
        Ok(cases)
    }
}

/// Opens a file whose name says its format.
pub(super) fn open(file: &str) -> Result<(Format, File), LoadError> {
    let format = Format::of_name(file).ok_or_else(|| LoadError::UnknownFormat { file: file.to_owned() })?;
    let opened = File::open(file).map_err(|source| LoadError::Unreadable { file: file.to_owned(), source })?;
    Ok((format, opened))
}

/// The text of a file that is not too large.
pub(super) fn text(file: &str, from: impl Read) -> Result<String, LoadError> {
    let mut bytes = Vec::new();
    let read = from.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|source| LoadError::Unreadable { file: file.to_owned(), source })?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(LoadError::TooLarge { file: file.to_owned(), bytes_max: FILE_BYTES_MAX });
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = String::from_utf8_lossy(&error.as_bytes()[..error.utf8_error().valid_up_to()]);
        LoadError::invalid(Place::of_offset(file, &valid, valid.len()), None, "the text is not UTF-8")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A case with one tool and one call, and `more` fields.
    fn with(more: &str) -> String {
        format!(r#"{{"tools": [{{"name": "a"}}], "calls": [{{"name": "a"}}]{more}}}"#)
    }

    #[track_caller]
    fn check_refused(text: &str, message: &str) {
        assert_eq!(Case::parse("f", Format::Json, text).unwrap_err().to_string(), message);
    }

    #[track_caller]
    fn check_refused_tool(fields: &str, message: &str) {
        check_refused(&format!("{{\"calls\": [],\n \"tools\": [{{\"name\": \"a\", {fields}}}]}}"), message);
    }

    #[test]
    fn unknown_fields_are_refused_with_their_place() {
        check_refused_tool(
            r#""retrise": 1"#,
            "f:2:26: $.tools[0].retrise: unknown field \"retrise\"; did you mean \"retries\"? known: name, description, \
             kind, parameters, schema, retries, timeout_s, parallel_safe, once_per_run, confirm, cache_ttl_s, \
             cache_scope, script, random, cassette",
        );
        check_refused_tool(
            r#""script": [{}, {"delay": 1}]"#,
            "f:2:42: $.tools[0].script[1].delay: unknown field \"delay\"; did you mean \"delay_ms\"? known: \
             delay_ms, fail, ok",
        );
        check_refused_tool(
            r#""random": {"delay_ms": {"min": 1, "mx": 2}}"#,
            "f:2:60: $.tools[0].random.delay_ms.mx: unknown field \"mx\"; did you mean \"max\"? known: min, max",
        );
        check_refused(
            &with(r#", "expect": {"results": [{"atempts": 1}]}"#),
            "f:1:78: $.expect.results[0].atempts: unknown field \"atempts\"; did you mean \"attempts\"? known: \
             status, attempts, error, retryable, delays_s, value, cached, finished_us",
        );
    }

    #[test]
    fn values_that_do_not_fit_are_refused_with_their_place() {
        check_refused("{\"calls\": []}", "f:1:1: $: missing field tools");
        check_refused(
            "[{\"tools\": [], \"calls\": 3}]",
            "f:1:25: $[0].calls: invalid type: integer 3, expected a list",
        );
        check_refused_tool(
            r#""parameters": {"id": "strng"}"#,
            "f:2:47: $.tools[0].parameters.id: unknown value \"strng\"; did you mean \"string\"? known: string, integer, \
             number, boolean, array, object, any",
        );
        check_refused(r#"{"tools": [1]}"#, "f:1:12: $.tools[0]: invalid type: integer 1, expected a tool (an object)");
        check_refused("7", "f:1:1: $: invalid type: integer 7, expected a case (an object)");
        check_refused(
            &with(r#", "seed": -1"#),
            "f:1:62: $.seed: invalid value: integer -1, expected a whole number, not negative",
        );
        check_refused_tool(
            r#""timeout_s": "2""#,
            "f:2:39: $.tools[0].timeout_s: invalid type: string \"2\", expected a number of seconds from 0 to 31536000 \
             (a year)",
        );
        check_refused_tool(
            r#""random": {"fail": {"busy": 1.5}}"#,
            "f:2:54: $.tools[0].random.fail.busy: invalid value: floating point 1.5, expected a rate from 0 to 1",
        );
        check_refused(
            &with(r#", "run_limits": {"per_kind": {"io": 0}}"#),
            "f:1:88: $.run_limits.per_kind.io: invalid value: integer 0, expected a whole number of at least 1: a cap of \
             0 would let no call run",
        );
        check_refused(
            &with(r#", "kind": "model""#),
            "f:1:62: $.kind: cases of kind \"model\" cannot be run by this version; it knows: calls, program, operations, \
             agent",
        );
        check_refused(&with(r#", "kind": 7"#), "f:1:62: $.kind: invalid type: integer 7, expected a string");
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_its_place() {
        check_refused(
            r#"{"tools": [{"name": "a"}, {"name": "a"}], "calls": []}"#,
            "f:1:36: $.tools[1].name: a tool named \"a\" is registered already; give one of the two another name",
        );
        check_refused_tool(
            r#""parameters": {}, "schema": {}"#,
            "f:2:54: $.tools[0].schema: a tool has either parameters or a schema; remove one of them",
        );
        check_refused_tool(
            r#""script": [{"fail": "busy", "ok": null}]"#,
            "f:2:60: $.tools[0].script[0].ok: an attempt either fails or answers; remove fail or ok",
        );
        check_refused_tool(
            r#""random": {"fail": {"busy": 0.6, "hang": 0.6}}"#,
            "f:2:45: $.tools[0].random.fail: the rates add up to 1.2, which is more than 1",
        );
        check_refused(
            &with(r#", "backoff": {"multiplier": 0.5}"#),
            "f:1:65: $.backoff: backoff: multiplier is 0.5; it must be finite and at least 1",
        );
        check_refused(
            &with(r#", "approvals": [{"decision": "pending", "reason": "later"}]"#),
            "f:1:102: $.approvals[0].reason: only a denial has a reason",
        );
        check_refused(
            &with(r#", "expect": {"results": []}"#),
            "f:1:76: $.expect.results: 0 results for 1 calls; give one for each call, {} for one of no interest",
        );
        check_refused(
            r#"{"tools": [], "batch": true, "calls": [{"name": "a", "wait_ms": 1}]}"#,
            "f:1:65: $.calls[0].wait_ms: a batch makes all calls at once; remove wait_ms, or batch",
        );
        check_refused(
            &format!(
                r#"{{"tools": [{{"name": "a", "retries": 9999}}], "calls": [{}]}}"#,
                [r#"{"name": "a"}"#; 51].join(",")
            ),
            "f:1:54: $.calls: with their retries the calls could make 510000 attempts; at most 500000 are allowed",
        );
        check_refused(
            &with(r#", "always": [{"that": "result.size() > 0"}]"#),
            "f:1:74: $.always[0].that: there is no variable \"result\" here; did you mean \"results\"? known: results, \
             events, ledger, invocations, tools, elapsed_ms, approval_requests, faults",
        );
        check_refused(
            &with(r#", "always": [{"that": "it.attempts > 0"}]"#),
            "f:1:74: $.always[0].that: there is no variable \"it\" here; known: results, events, ledger, invocations, \
             tools, elapsed_ms, approval_requests, faults",
        );
        check_refused(
            &format!("[{},\n{}]", with(r#", "id": "x""#), with(r#", "id": "x""#)),
            "f:2:60: $[1].id: the case on line 1 has the id \"x\" too; give one another",
        );
    }

    #[test]
    fn text_that_cannot_be_read_is_refused_with_its_place() {
        check_refused("{\"tools\": [}", "f:1:12: $.tools[0]: Unexpected closing curly bracket, no array to close");
        check_refused("[]", "f: there is no case in it");
        check_refused("{\"seed\": 1, \"seed\": 2}", "f:1:13: $.seed: this member is given twice");
        let lines = format!("{}\n\n{}\n{{\"calls\": 1}}", with(""), with(""));
        let error = Case::parse("f", Format::JsonLines, &lines).unwrap_err();
        assert_eq!(error.to_string(), "f:4:11: $.calls: invalid type: integer 1, expected a list");
        let error = Case::read("f", Format::Json, &b"{\n\"\xff\""[..]).unwrap_err();
        assert_eq!(error.to_string(), "f:2:2: the text is not UTF-8");
        let toml = "[[case]]\ncalls = []\n[[case.tools]]\nname = \"a\"\nretrys = 1";
        let error = Case::parse("f", Format::Toml, toml).unwrap_err().to_string();
        assert!(error.starts_with("f:5:1: $.case[0].tools[0].retrys: unknown field \"retrys\"; did you"), "{error}");
        assert!(matches!(Case::load("a.txt"), Err(LoadError::UnknownFormat { .. })));
        assert!(matches!(Case::load("no-such-file.json"), Err(LoadError::Unreadable { .. })));
    }

    #[test]
    fn hostile_texts_are_refused_without_harm() {
        let long_name = format!("{{\"{}\": 1}}", "x".repeat(1_000_000));
        for text in [
            "[".repeat(1_000_000),
            "{\"a\":".repeat(1_000_000),
            long_name,
            with(&format!(", \"id\": {}", "9".repeat(1_000_000))),
        ] {
            for format in [Format::Json, Format::JsonLines, Format::Toml] {
                let error = Case::parse("f", format, &text).unwrap_err();
                assert!(error.to_string().len() < 1000);
            }
        }
    }

    #[test]
    fn one_text_reads_the_same_in_each_format() {
        let json = with(r#", "id": "x", "seed": 7"#);
        let toml = "id = \"x\"\nseed = 7\ntools = [{ name = \"a\" }]\ncalls = [{ name = \"a\" }]";
        let texts = [(Format::Json, json.clone()), (Format::JsonLines, json), (Format::Toml, toml.to_owned())];
        for (format, text) in texts {
            let cases = Case::parse("f", format, &text).unwrap();
            assert_eq!((cases[0].id(), cases[0].seed(), cases[0].place().line), ("x", 7, 1));
        }
        let unnamed = Case::parse("f", Format::Json, &format!("[{},{}]", with(""), with(""))).unwrap();
        assert_eq!(unnamed.iter().map(Case::id).collect::<Vec<_>>(), ["case-1", "case-2"]);
    }
}
