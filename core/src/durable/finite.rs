//! Floats that JSON has no text for, found before serde_json makes them `null` in silence (D4).

use std::fmt;

use serde::ser::{self, Serialize, Serializer};

/// Whether every float in a value is finite. An error of the value's own is not told here: serialising tells it.
pub(super) fn is_finite<T: Serialize + ?Sized>(value: &T) -> bool {
    !matches!(value.serialize(Look), Err(Stop::NotFinite))
}

/// Looks at everything and writes nothing.
#[derive(Clone, Copy)]
struct Look;

#[derive(Debug)]
enum Stop {
    NotFinite,
    Other,
}

impl fmt::Display for Stop {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::NotFinite => "a float is not finite",
            Self::Other => "the value does not serialise",
        })
    }
}

impl std::error::Error for Stop {}

impl ser::Error for Stop {
    fn custom<T: fmt::Display>(_message: T) -> Self {
        Self::Other
    }
}

/// What can hold no float.
macro_rules! nothing_to_see {
    ($($method:ident($($name:ident: $type:ty),*);)*) => {
        $(fn $method(self, $($name: $type),*) -> Result<(), Stop> {
            $(let _: $type = $name;)*
            Ok(())
        })*
    };
}

/// What holds other values.
macro_rules! look_inside {
    ($($method:ident($($name:ident: $type:ty),*) -> $compound:ident;)*) => {
        $(type $compound = Self;)*
        $(fn $method(self, $($name: $type),*) -> Result<Self, Stop> {
            $(let _: $type = $name;)*
            Ok(self)
        })*
    };
}

impl Serializer for Look {
    type Ok = ();
    type Error = Stop;

    nothing_to_see! {
        serialize_bool(value: bool);
        serialize_i8(value: i8);
        serialize_i16(value: i16);
        serialize_i32(value: i32);
        serialize_i64(value: i64);
        serialize_i128(value: i128);
        serialize_u8(value: u8);
        serialize_u16(value: u16);
        serialize_u32(value: u32);
        serialize_u64(value: u64);
        serialize_u128(value: u128);
        serialize_char(value: char);
        serialize_str(value: &str);
        serialize_bytes(value: &[u8]);
        serialize_none();
        serialize_unit();
        serialize_unit_struct(name: &'static str);
        serialize_unit_variant(name: &'static str, index: u32, variant: &'static str);
    }

    look_inside! {
        serialize_seq(length: Option<usize>) -> SerializeSeq;
        serialize_tuple(length: usize) -> SerializeTuple;
        serialize_tuple_struct(name: &'static str, length: usize) -> SerializeTupleStruct;
        serialize_tuple_variant(name: &'static str, index: u32, variant: &'static str, length: usize)
            -> SerializeTupleVariant;
        serialize_map(length: Option<usize>) -> SerializeMap;
        serialize_struct(name: &'static str, length: usize) -> SerializeStruct;
        serialize_struct_variant(name: &'static str, index: u32, variant: &'static str, length: usize)
            -> SerializeStructVariant;
    }

    fn serialize_f32(self, value: f32) -> Result<(), Stop> {
        if value.is_finite() { Ok(()) } else { Err(Stop::NotFinite) }
    }

    fn serialize_f64(self, value: f64) -> Result<(), Stop> {
        if value.is_finite() { Ok(()) } else { Err(Stop::NotFinite) }
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Stop> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _name: &'static str, value: &T) -> Result<(), Stop> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        value: &T,
    ) -> Result<(), Stop> {
        value.serialize(self)
    }
}

/// The parts of a value, one after another.
macro_rules! look_at_parts {
    ($($compound:ident { $($method:ident($($name:ident: $type:ty),*);)* })*) => {
        $(impl ser::$compound for Look {
            type Ok = ();
            type Error = Stop;

            $(fn $method<T: Serialize + ?Sized>(&mut self, $($name: $type,)* value: &T) -> Result<(), Stop> {
                $(let _: $type = $name;)*
                value.serialize(*self)
            })*

            fn end(self) -> Result<(), Stop> {
                Ok(())
            }
        })*
    };
}

look_at_parts! {
    SerializeSeq { serialize_element(); }
    SerializeTuple { serialize_element(); }
    SerializeTupleStruct { serialize_field(); }
    SerializeTupleVariant { serialize_field(); }
    SerializeMap { serialize_key(); serialize_value(); }
    SerializeStruct { serialize_field(name: &'static str); }
    SerializeStructVariant { serialize_field(name: &'static str); }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[derive(serde::Serialize)]
    enum Shape {
        Unit,
        Newtype(f64),
        Tuple(u8, f64),
        Struct { a: Option<f32> },
    }

    type Look = Box<dyn Fn() -> bool>;

    #[track_caller]
    fn check(make: impl Fn(f64) -> Vec<Look>) {
        for (number, expected) in [(1.5, true), (f64::NAN, false), (f64::INFINITY, false), (f64::NEG_INFINITY, false)] {
            for (index, is_finite) in make(number).iter().enumerate() {
                assert_eq!(is_finite(), expected, "value {index} with {number}");
            }
        }
    }

    #[test]
    fn a_float_is_found_wherever_it_stands() {
        check(|number| {
            vec![
                Box::new(move || is_finite(&number)),
                Box::new(move || is_finite(&(1, "a", number as f32))),
                Box::new(move || is_finite(&vec![Some(number)])),
                Box::new(move || is_finite(&BTreeMap::from([("a", number)]))),
                Box::new(move || is_finite(&Shape::Newtype(number))),
                Box::new(move || is_finite(&Shape::Tuple(1, number))),
                Box::new(move || is_finite(&Shape::Struct { a: Some(number as f32) })),
            ]
        });
        assert!(is_finite(&Shape::Unit) && is_finite(&Shape::Struct { a: None }) && is_finite("text"));
    }
}
