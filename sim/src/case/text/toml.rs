//! TOML: reading it as JSON values, and finding a path's place in its text.

use serde_json::{Map, Number, Value};
use toml::Spanned;
use toml::de::{DeFloat, DeInteger, DeTable, DeValue};
use windtunnel_core::json::{Bounds, Path};

use super::Pointing;
use crate::case::error::{LoadError, Place};

/// The table that holds one case each when a file holds several.
const CASES: &str = "case";

/// A case: the byte that it begins at, its path, and its value.
type Found = (usize, Path, Value);

/// The cases of a file.
pub(super) fn parse(file: &str, text: &str, bounds: Bounds) -> Result<Vec<Found>, LoadError> {
    let (value, offsets) = read(file, text, bounds)?;
    split(value, offsets).map_err(|problem| {
        let path = Path::root().member(CASES);
        let offset = locate(text, &path, Pointing::AtName).unwrap_or(0);
        LoadError::invalid(Place::of_offset(file, text, offset), Some(path), problem)
    })
}

/// The whole file as one value.
pub(super) fn parse_whole(file: &str, text: &str, bounds: Bounds) -> Result<Value, LoadError> {
    read(file, text, bounds).map(|(value, _)| value)
}

/// The value of a file, and where its cases begin.
fn read(file: &str, text: &str, bounds: Bounds) -> Result<(Value, Vec<usize>), LoadError> {
    if text.len() > bounds.bytes_max {
        let problem = format!("{} bytes are more than the {} allowed", text.len(), bounds.bytes_max);
        return Err(LoadError::invalid(Place::of_offset(file, text, 0), None, problem));
    }
    // The parser itself bounds how deep tables, arrays and dotted keys may nest.
    let table = DeTable::parse(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        LoadError::invalid(Place::of_offset(file, text, offset), None, error.message())
    })?;
    let invalid = |Refusal { path, offset, problem }: Refusal| {
        LoadError::invalid(Place::of_offset(file, text, offset), Some(path), problem)
    };
    let value = table_to_json(table.get_ref(), &Path::root()).map_err(invalid)?;
    Ok((value, case_offsets(table.get_ref())))
}

fn case_offsets(table: &DeTable<'_>) -> Vec<usize> {
    let cases = table.get(CASES).and_then(|cases| cases.get_ref().as_array());
    cases.into_iter().flat_map(|cases| cases.iter()).map(|case| case.span().start).collect()
}

/// Takes a list of cases apart.
fn split(value: Value, offsets: Vec<usize>) -> Result<Vec<Found>, &'static str> {
    let Value::Object(mut members) = value else { return Ok(Vec::new()) };
    match members.swap_remove(CASES) {
        None => Ok(vec![(0, Path::root(), Value::Object(members))]),
        Some(_) if !members.is_empty() => {
            Err("beside [[case]] tables the file has fields of one case; move them into one of the tables")
        }
        Some(Value::Array(cases)) => {
            let roots = (0..).map(|index| Path::root().member(CASES).element(index));
            Ok(offsets.into_iter().zip(roots).zip(cases).map(|((begin, root), case)| (begin, root, case)).collect())
        }
        Some(_) => Err("several cases are written as [[case]] tables; a single case needs no table around it"),
    }
}

struct Refusal {
    path: Path,
    offset: usize,
    problem: String,
}

fn table_to_json(table: &DeTable<'_>, path: &Path) -> Result<Value, Refusal> {
    let member = |(name, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
        let name: &std::borrow::Cow<'_, str> = name.get_ref();
        Ok((name.to_string(), to_json(value, path.clone().member(&**name))?))
    };
    Ok(Value::Object(table.iter().map(member).collect::<Result<Map<_, _>, _>>()?))
}

fn to_json(value: &Spanned<DeValue<'_>>, path: Path) -> Result<Value, Refusal> {
    let converted = match value.get_ref() {
        DeValue::String(text) => Ok(Value::from(&**text)),
        DeValue::Boolean(truth) => Ok(Value::from(*truth)),
        DeValue::Integer(integer) => integer_to_json(integer),
        DeValue::Float(float) => float_to_json(float),
        DeValue::Datetime(_) => Err("JSON has no dates; write this one in quotation marks".to_owned()),
        DeValue::Array(elements) => {
            let elements = elements.iter().enumerate();
            return elements.map(|(index, element)| to_json(element, path.clone().element(index))).collect();
        }
        DeValue::Table(table) => return table_to_json(table, &path),
    };
    converted.map_err(|problem| Refusal { path, offset: value.span().start, problem })
}

fn integer_to_json(integer: &DeInteger<'_>) -> Result<Value, String> {
    let (text, radix) = (integer.as_str(), integer.radix());
    let signed = i64::from_str_radix(text, radix).ok().map(Value::from);
    let unsigned = || u64::from_str_radix(text, radix).ok().map(Value::from);
    signed.or_else(unsigned).ok_or_else(|| format!("the number {text} does not fit; write it as a string"))
}

fn float_to_json(float: &DeFloat<'_>) -> Result<Value, String> {
    let text = float.as_str();
    let number = text.parse().ok().and_then(Number::from_f64).map(Value::Number);
    number.ok_or_else(|| format!("the number {text} is not finite"))
}

/// The byte offset of what `path` names in a text that has been parsed before.
pub(super) fn locate(text: &str, path: &Path, pointing: Pointing) -> Option<usize> {
    let table = DeTable::parse(text).ok()?;
    if *path == Path::root() {
        return Some(0);
    }
    locate_in_table(table.get_ref(), &Path::root(), path, pointing)
}

fn locate_in_table(table: &DeTable<'_>, here: &Path, wanted: &Path, pointing: Pointing) -> Option<usize> {
    table.iter().find_map(|(name, value)| {
        let here = here.clone().member(&**name.get_ref());
        if here == *wanted {
            let span = if pointing == Pointing::AtName { name.span() } else { value.span() };
            return Some(span.start);
        }
        locate_in_value(value, &here, wanted, pointing)
    })
}

fn locate_in_value(value: &Spanned<DeValue<'_>>, here: &Path, wanted: &Path, pointing: Pointing) -> Option<usize> {
    match value.get_ref() {
        DeValue::Table(table) => locate_in_table(table, here, wanted, pointing),
        DeValue::Array(elements) => elements.iter().enumerate().find_map(|(index, element)| {
            let here = here.clone().element(index);
            if here == *wanted {
                return Some(element.span().start);
            }
            locate_in_value(element, &here, wanted, pointing)
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check_refused(text: &str, message: &str) {
        assert_eq!(parse("f.toml", text, Bounds::DEFAULT).unwrap_err().to_string(), message);
    }

    #[test]
    fn values_come_through_with_their_identity() {
        let text = "id = \"a\"\nhex = 0x1F\nsum = -1_000\nfloat = 1.0\nbig = 1e30\n[[tools]]\nok = [{ x = true }]";
        let expected = json!({
            "id": "a", "hex": 31, "sum": -1000, "float": 1.0, "big": 1e30, "tools": [{"ok": [{"x": true}]}],
        });
        assert_eq!(parse("f.toml", text, Bounds::DEFAULT).unwrap(), [(0, Path::root(), expected)]);
        let cases = parse("f.toml", "[[case]]\nid = \"a\"\n[[case]]\nid = \"b\"", Bounds::DEFAULT).unwrap();
        assert_eq!(cases[1], (18, Path::root().member("case").element(1), json!({"id": "b"})));
    }

    #[test]
    fn what_json_cannot_hold_is_refused_with_its_place() {
        check_refused("\nrng = nan", "f.toml:2:7: $.rng: the number nan is not finite");
        check_refused(
            "seed = 99999999999999999999",
            "f.toml:1:8: $.seed: the number 99999999999999999999 does not fit; write it as a string",
        );
        check_refused("a = [2020-01-01]", "f.toml:1:6: $.a[0]: JSON has no dates; write this one in quotation marks");
    }

    #[test]
    fn text_that_is_not_toml_is_refused_with_its_place() {
        check_refused("a = 1\na = 2", "f.toml:2:1: duplicate key");
        check_refused(
            "id = \"x\"\n[[case]]\nid = \"y\"",
            "f.toml:2:3: $.case: beside [[case]] tables the file has fields of one case; \
             move them into one of the tables",
        );
        for nested in ["a.".repeat(200_000) + "a = 1", "a = ".to_owned() + &"[".repeat(200_000)] {
            assert!(parse("f.toml", &nested, Bounds::DEFAULT).is_err());
        }
    }

    #[test]
    fn each_path_is_found() {
        let text = "id = \"a\"\n[[case]]\nx.y = [1, 22]\n";
        let path = Path::root().member("case").element(0).member("x").member("y");
        assert_eq!(locate(text, &path, Pointing::AtName).map(|offset| &text[offset..offset + 1]), Some("y"));
        assert_eq!(
            locate(text, &path.element(1), Pointing::AtValue).map(|offset| &text[offset..offset + 2]),
            Some("22")
        );
    }
}
