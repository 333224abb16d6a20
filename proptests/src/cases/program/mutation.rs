//! Changes that may make a program invalid.

use serde_json::{Map, Value, json};

/// One change of a program's JSON, at a place that is counted through the whole of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mutation {
    /// What is changed.
    pub kind: MutationKind,
    /// Where: a number among all places where it can be done, in a circle.
    pub place: u16,
    /// How, where there is a choice.
    pub pick: u8,
}

/// What a mutation changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MutationKind {
    /// Takes a member away.
    DropMember,
    /// Gives a member another name.
    RenameMember,
    /// Puts something else in the place of a member.
    RetypeMember,
    /// Makes a node one of another type.
    ChangeType,
    /// Adds a member that nothing knows.
    AddMember,
    /// Takes an element of a list away: a parameter, an argument or an expression.
    DropElement,
    /// Repeats an element of a list.
    RepeatElement,
    /// Changes a string: a name, a mode, a version, a memo key or a text.
    ChangeText,
    /// Makes a value null.
    NullValue,
}

impl MutationKind {
    /// Every kind.
    pub const ALL: [Self; 9] = [
        Self::DropMember,
        Self::RenameMember,
        Self::RetypeMember,
        Self::ChangeType,
        Self::AddMember,
        Self::DropElement,
        Self::RepeatElement,
        Self::ChangeText,
        Self::NullValue,
    ];
}

const TYPES: [&str; 14] = [
    "program",
    "function",
    "value",
    "conditional",
    "lambda",
    "map",
    "filter",
    "reduce",
    "literal",
    "variable",
    "call",
    "tool_call",
    "memo",
    "function_definition",
];

const TEXTS: [&str; 12] = ["", "x", "a", "f0", "acc", "memo0", "single", "parallel", "1.0", "2.0", "functions.", "a b"];

impl Mutation {
    /// Changes the program, if there is a place for it.
    pub fn apply(self, program: &mut Value) {
        let fits: fn(&Value) -> bool = match self.kind {
            MutationKind::DropElement | MutationKind::RepeatElement => {
                |value| value.as_array().is_some_and(|elements| !elements.is_empty())
            }
            MutationKind::ChangeText => Value::is_string,
            MutationKind::ChangeType => |value| value.get("type").is_some(),
            MutationKind::NullValue => |value| value.get("value").is_some(),
            _ => |value| value.as_object().is_some_and(|members| !members.is_empty()),
        };
        let count = count(program, fits);
        let Some(place) = usize::from(self.place).checked_rem(count) else { return };
        let mut left = place;
        if let Some(value) = find(program, fits, &mut left) {
            self.change(value);
        }
    }

    fn change(self, value: &mut Value) {
        let pick = usize::from(self.pick);
        match (self.kind, value) {
            (MutationKind::ChangeText, text) => *text = TEXTS[pick % TEXTS.len()].into(),
            (MutationKind::ChangeType, node) => node["type"] = TYPES[pick % TYPES.len()].into(),
            (MutationKind::NullValue, node) => node["value"] = Value::Null,
            (MutationKind::DropElement, Value::Array(elements)) => {
                elements.remove(pick % elements.len());
            }
            (MutationKind::RepeatElement, Value::Array(elements)) => {
                elements.push(elements[pick % elements.len()].clone());
            }
            (MutationKind::AddMember, Value::Object(members)) => {
                members.insert("extra".to_owned(), other(pick));
            }
            (_, Value::Object(members)) => {
                let Some(name) = members.keys().nth(pick % members.len()).cloned() else { return };
                *members = self.rebuilt(members, &name);
            }
            _ => {}
        }
    }

    /// The members in their order, with the one of that name changed.
    fn rebuilt(self, members: &Map<String, Value>, name: &str) -> Map<String, Value> {
        let changed = |(known, value): (&String, &Value)| match self.kind {
            _ if known != name => Some((known.clone(), value.clone())),
            MutationKind::DropMember => None,
            MutationKind::RenameMember => Some((format!("{known}s"), value.clone())),
            _ => Some((known.clone(), other(usize::from(self.pick)))),
        };
        members.iter().filter_map(changed).collect()
    }
}

fn other(pick: usize) -> Value {
    let all = [Value::Null, json!(true), json!(-1.5), json!("x"), json!([]), json!([null, "x"]), json!({})];
    all[pick % all.len()].clone()
}

fn count(value: &Value, fits: fn(&Value) -> bool) -> usize {
    let inside = match value {
        Value::Array(elements) => elements.iter().map(|element| count(element, fits)).sum(),
        Value::Object(members) => members.values().map(|member| count(member, fits)).sum(),
        _ => 0,
    };
    inside + usize::from(fits(value))
}

/// The value at place `left` among those that fit.
fn find<'v>(value: &'v mut Value, fits: fn(&Value) -> bool, left: &mut usize) -> Option<&'v mut Value> {
    if fits(value) {
        if *left == 0 {
            return Some(value);
        }
        *left -= 1;
    }
    match value {
        Value::Array(elements) => elements.iter_mut().find_map(|element| find(element, fits, left)),
        Value::Object(members) => members.values_mut().find_map(|member| find(member, fits, left)),
        _ => None,
    }
}
