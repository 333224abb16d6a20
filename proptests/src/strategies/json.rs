//! JSON values.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

/// JSON of up to three levels, of what is often lost on the way: integers that no float holds, floats that are whole, a
/// minus zero, empty and odd names, null.
///
/// Of 100 values at least 40 are an array or an object, and 4 have a float that is whole.
pub fn edge_json_values() -> impl Strategy<Value = Value> {
    scalars().prop_recursive(3, 12, 4, |inner| {
        let names = select(vec!["a", "b", "", "\u{e9} \"\\", "$ref", "0"]);
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::Array),
            vec((names, inner), 0..4).prop_map(|members| {
                Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>())
            }),
        ]
    })
}

fn scalars() -> impl Strategy<Value = Value> {
    let edges = [
        json!(null),
        json!(true),
        json!(0),
        json!(1),
        json!(1.0),
        json!(-0.0),
        json!(0.1),
        json!(1e300),
        json!(i64::MIN),
        json!(u64::MAX),
        json!(9_007_199_254_740_993_i64),
        json!(""),
        json!("text"),
        json!("\u{e9}\u{2602}\u{1f600}\n\"\\\u{0}"),
    ];
    prop_oneof![3 => select(edges.to_vec()), 1 => any::<i64>().prop_map(Value::from)]
}
