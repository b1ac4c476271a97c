//! From a tree back to a value.

use serde::de::value::U32Deserializer;
use serde::de::{self, DeserializeSeed, IntoDeserializer, Visitor};

use super::Tree;
use super::write::NoTree;

/// Reads a value off a tree.
#[derive(Clone, Copy)]
pub(super) struct Reader<'t>(pub(super) &'t Tree);

type Answer<T> = Result<T, NoTree>;

static MADE_UP: Tree = Tree::MadeUp;

impl<'t> Reader<'t> {
    /// The values of a row of this length; made up where the tree is.
    fn row(self, length: usize) -> Answer<Items<'t>> {
        match self.0 {
            Tree::Row(items) | Tree::List(items) => Ok(Items::of(items.iter().collect())),
            Tree::Record(fields) => Ok(Items::of(fields.iter().map(|(_, field)| field).collect())),
            Tree::MadeUp => Ok(Items::of(vec![&MADE_UP; length])),
            _ => Err(NoTree),
        }
    }
}

macro_rules! numbers {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Answer<V::Value> {
            match self.0 {
                Tree::MadeUp => visitor.visit_u64(0),
                _ => self.deserialize_any(visitor),
            }
        })*
    };
}

macro_rules! plain {
    ($($method:ident, $visit:ident, $made_up:expr;)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Answer<V::Value> {
            match self.0 {
                Tree::MadeUp => visitor.$visit($made_up),
                _ => self.deserialize_any(visitor),
            }
        })*
    };
}

impl<'de> de::Deserializer<'de> for Reader<'de> {
    type Error = NoTree;

    fn is_human_readable(&self) -> bool {
        false
    }
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Answer<V::Value> {
        match self.0 {
            Tree::Truth(value) => visitor.visit_bool(*value),
            Tree::Unsigned(value) => match u64::try_from(*value) {
                Ok(value) => visitor.visit_u64(value),
                Err(_) => visitor.visit_u128(*value),
            },
            Tree::Signed(value) => match i64::try_from(*value) {
                Ok(value) => visitor.visit_i64(value),
                Err(_) => visitor.visit_i128(*value),
            },
            Tree::Real(value) => visitor.visit_f64(*value),
            Tree::Single(value) => visitor.visit_f32(*value),
            Tree::Letter(value) => visitor.visit_char(*value),
            Tree::Text(value) => visitor.visit_str(value),
            Tree::Bytes(value) => visitor.visit_bytes(value),
            Tree::Nothing => visitor.visit_unit(),
            Tree::Absent => visitor.visit_none(),
            Tree::Present(inner) => visitor.visit_some(Reader(inner)),
            Tree::Wrapped(inner) => visitor.visit_newtype_struct(Reader(inner)),
            Tree::Row(items) | Tree::List(items) => visitor.visit_seq(Items::of(items.iter().collect())),
            Tree::Record(fields) => visitor.visit_seq(Items::of(fields.iter().map(|(_, field)| field).collect())),
            Tree::Map(entries) => visitor.visit_map(Entries { entries, value: None }),
            Tree::Variant { .. } => visitor.visit_enum(self),
            Tree::MadeUp => Err(NoTree),
        }
    }
    numbers! {
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
    }
    plain! {
        deserialize_bool, visit_bool, false;
        deserialize_f32, visit_f32, 0.0;
        deserialize_f64, visit_f64, 0.0;
        deserialize_char, visit_char, ' ';
        deserialize_str, visit_str, "";
        deserialize_string, visit_str, "";
        deserialize_bytes, visit_bytes, &[];
        deserialize_byte_buf, visit_bytes, &[];
    }
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Answer<V::Value> {
        if *self.0 == Tree::MadeUp { visitor.visit_none() } else { self.deserialize_any(visitor) }
    }
    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Answer<V::Value> {
        visitor.visit_unit()
    }
    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Answer<V::Value> {
        visitor.visit_unit()
    }
    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Answer<V::Value> {
        match self.0 {
            Tree::Wrapped(inner) => visitor.visit_newtype_struct(Reader(inner)),
            _ => visitor.visit_newtype_struct(self),
        }
    }
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Answer<V::Value> {
        match self.0 {
            Tree::MadeUp => visitor.visit_seq(Items::of(Vec::new())),
            _ => self.deserialize_any(visitor),
        }
    }
    fn deserialize_tuple<V: Visitor<'de>>(self, length: usize, visitor: V) -> Answer<V::Value> {
        visitor.visit_seq(self.row(length)?)
    }
    fn deserialize_tuple_struct<V: Visitor<'de>>(self, _: &'static str, length: usize, visitor: V) -> Answer<V::Value> {
        visitor.visit_seq(self.row(length)?)
    }
    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Answer<V::Value> {
        match self.0 {
            Tree::MadeUp => visitor.visit_map(Entries { entries: &[], value: None }),
            _ => self.deserialize_any(visitor),
        }
    }
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Answer<V::Value> {
        visitor.visit_seq(self.row(fields.len())?)
    }
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Answer<V::Value> {
        visitor.visit_enum(self)
    }
    fn deserialize_identifier<V: Visitor<'de>>(self, _: V) -> Answer<V::Value> {
        Err(NoTree)
    }
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Answer<V::Value> {
        visitor.visit_unit()
    }
}

impl<'de> de::EnumAccess<'de> for Reader<'de> {
    type Error = NoTree;
    type Variant = Self;
    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Answer<(V::Value, Self)> {
        let (index, inner) = match self.0 {
            Tree::Variant { index, inner, .. } => (*index, &**inner),
            Tree::MadeUp => (0, self.0),
            _ => return Err(NoTree),
        };
        let tag: U32Deserializer<NoTree> = index.into_deserializer();
        Ok((seed.deserialize(tag)?, Reader(inner)))
    }
}

impl<'de> de::VariantAccess<'de> for Reader<'de> {
    type Error = NoTree;
    fn unit_variant(self) -> Answer<()> {
        matches!(self.0, Tree::Nothing | Tree::MadeUp).then_some(()).ok_or(NoTree)
    }
    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Answer<T::Value> {
        match self.0 {
            Tree::Wrapped(inner) => seed.deserialize(Reader(inner)),
            Tree::MadeUp => seed.deserialize(self),
            _ => Err(NoTree),
        }
    }
    fn tuple_variant<V: Visitor<'de>>(self, length: usize, visitor: V) -> Answer<V::Value> {
        visitor.visit_seq(self.row(length)?)
    }
    fn struct_variant<V: Visitor<'de>>(self, fields: &'static [&'static str], visitor: V) -> Answer<V::Value> {
        visitor.visit_seq(self.row(fields.len())?)
    }
}

/// Values one after another.
struct Items<'t>(std::vec::IntoIter<&'t Tree>);

impl<'t> Items<'t> {
    fn of(items: Vec<&'t Tree>) -> Self {
        Self(items.into_iter())
    }
}

impl<'de> de::SeqAccess<'de> for Items<'de> {
    type Error = NoTree;
    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Answer<Option<T::Value>> {
        self.0.next().map(|item| seed.deserialize(Reader(item))).transpose()
    }
    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

struct Entries<'t> {
    entries: &'t [(Tree, Tree)],
    value: Option<&'t Tree>,
}

impl<'de> de::MapAccess<'de> for Entries<'de> {
    type Error = NoTree;
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Answer<Option<K::Value>> {
        let Some(((key, value), rest)) = self.entries.split_first() else { return Ok(None) };
        (self.entries, self.value) = (rest, Some(value));
        seed.deserialize(Reader(key)).map(Some)
    }
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Answer<V::Value> {
        seed.deserialize(Reader(self.value.take().ok_or(NoTree)?))
    }
}
