//! YAML as a value, as far as workflows have it.

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value};

/// Something that is not closed yet; of a map also the name whose value is next.
enum Open {
    List(Vec<Value>),
    Map(Map<String, Value>, Option<String>),
}

/// Reads a document without aliases.
pub(crate) fn read_yaml(text: &str) -> Result<Value, String> {
    let mut open: Vec<Open> = Vec::new();
    for event in Parser::new_from_str(text) {
        let (event, _) = event.map_err(|error| error.to_string())?;
        let value = match event {
            Event::SequenceStart(..) => {
                open.push(Open::List(Vec::new()));
                continue;
            }
            Event::MappingStart(..) => {
                open.push(Open::Map(Map::new(), None));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(Open::List(list)) => Value::Array(list),
                Some(Open::Map(map, _)) => Value::Object(map),
                None => return Err("something is closed that was not open".to_owned()),
            },
            Event::Scalar(text, style, ..) => scalar(&text, style),
            Event::Alias(_) => return Err("aliases are not read here".to_owned()),
            _ => continue,
        };
        match open.last_mut() {
            None => return Ok(value),
            Some(Open::List(list)) => list.push(value),
            Some(Open::Map(map, name)) => match name.take() {
                None => *name = Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned)),
                Some(name) if map.contains_key(&name) => return Err(format!("`{name}` is there twice")),
                Some(name) => drop(map.insert(name, value)),
            },
        }
    }
    Err("there is nothing in this file".to_owned())
}

fn scalar(text: &str, style: ScalarStyle) -> Value {
    match text.parse::<i64>() {
        Ok(number) if style == ScalarStyle::Plain => Value::from(number),
        _ => Value::from(text),
    }
}
