//! What may be no program.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use super::programs;
use crate::cases::{Mutation, MutationKind};

/// One change of a program's JSON.
pub fn mutations() -> impl Strategy<Value = Mutation> + Clone {
    (select(&MutationKind::ALL[..]), any::<(u16, u8)>()).prop_map(|(kind, (place, pick))| Mutation {
        kind,
        place,
        pick,
    })
}

/// Programs with one to three changes. Of 100 at least 60 are refused, and 10 accepted.
pub fn mutated_programs() -> impl Strategy<Value = Value> {
    (programs(), vec(mutations(), 1..=3)).prop_map(|(program, mutations)| {
        let mut program = program.to_json();
        mutations.into_iter().for_each(|mutation| mutation.apply(&mut program));
        program
    })
}

/// Any JSON, with the words of programs for its names and texts.
pub fn json_values() -> impl Strategy<Value = Value> {
    let words = select(
        &[
            "type",
            "body",
            "mode",
            "name",
            "params",
            "value",
            "function",
            "iterable",
            "condition",
            "true_branch",
            "definitions",
            "schema_version",
            "2.0",
            "1.0",
            "single",
            "program",
            "map",
            "reduce",
            "literal",
            "memo",
            "key",
            "expression",
            "arguments",
            "tool",
            "tool_call",
            "call",
            "lambda",
            "x",
            "",
        ][..],
    );
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        words.clone().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    scalar.prop_recursive(6, 48, 5, move |inner| {
        let members = vec((words.clone(), inner.clone()), 0..=5);
        let object = members.prop_map(|members| {
            Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>())
        });
        prop_oneof![2 => object, 1 => vec(inner, 0..=4).prop_map(Value::Array)]
    })
}
