//! From a value to its tree.

use std::fmt;

use serde::ser::{self, Serialize};

use super::Tree;

/// A value that cannot be written or read.
#[derive(Debug)]
pub(in super::super) struct NoTree;

impl fmt::Display for NoTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the value does not fit its type")
    }
}
impl std::error::Error for NoTree {}
impl ser::Error for NoTree {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}
impl serde::de::Error for NoTree {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

pub(super) struct Writer;

/// Collects what is written one after another.
pub(super) struct Items {
    items: Vec<Tree>,
    finish: Finish,
}

enum Finish {
    List,
    Row,
    Variant(u32, &'static str),
}

impl Items {
    fn add<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NoTree> {
        self.items.push(value.serialize(Writer)?);
        Ok(())
    }
    fn end(self) -> Tree {
        match self.finish {
            Finish::List => Tree::List(self.items),
            Finish::Row => Tree::Row(self.items),
            Finish::Variant(index, name) => Tree::Variant { index, name, inner: Box::new(Tree::Row(self.items)) },
        }
    }
}

/// Collects the fields of a struct, or of a variant.
pub(super) struct Fields {
    fields: Vec<(&'static str, Tree)>,
    variant: Option<(u32, &'static str)>,
}

impl Fields {
    fn add<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), NoTree> {
        self.fields.push((name, value.serialize(Writer)?));
        Ok(())
    }
    fn end(self) -> Tree {
        let record = Tree::Record(self.fields);
        match self.variant {
            None => record,
            Some((index, name)) => Tree::Variant { index, name, inner: Box::new(record) },
        }
    }
}

#[derive(Default)]
pub(super) struct Entries {
    key: Option<Tree>,
    entries: Vec<(Tree, Tree)>,
}

macro_rules! scalars {
    ($($method:ident, $type:ty, $tree:expr;)*) => {
        $(fn $method(self, value: $type) -> Result<Tree, NoTree> {
            Ok($tree(value.into()))
        })*
    };
}

impl ser::Serializer for Writer {
    type Ok = Tree;
    type Error = NoTree;
    type SerializeSeq = Items;
    type SerializeTuple = Items;
    type SerializeTupleStruct = Items;
    type SerializeTupleVariant = Items;
    type SerializeMap = Entries;
    type SerializeStruct = Fields;
    type SerializeStructVariant = Fields;

    scalars! {
        serialize_bool, bool, Tree::Truth;
        serialize_u8, u8, Tree::Unsigned;
        serialize_u16, u16, Tree::Unsigned;
        serialize_u32, u32, Tree::Unsigned;
        serialize_u64, u64, Tree::Unsigned;
        serialize_u128, u128, Tree::Unsigned;
        serialize_i8, i8, Tree::Signed;
        serialize_i16, i16, Tree::Signed;
        serialize_i32, i32, Tree::Signed;
        serialize_i64, i64, Tree::Signed;
        serialize_i128, i128, Tree::Signed;
        serialize_f64, f64, Tree::Real;
        serialize_f32, f32, Tree::Single;
        serialize_char, char, Tree::Letter;
        serialize_str, &str, Tree::Text;
        serialize_bytes, &[u8], Tree::Bytes;
    }
    fn is_human_readable(&self) -> bool {
        false
    }
    fn serialize_none(self) -> Result<Tree, NoTree> {
        Ok(Tree::Absent)
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Tree, NoTree> {
        Ok(Tree::Present(Box::new(value.serialize(Self)?)))
    }
    fn serialize_unit(self) -> Result<Tree, NoTree> {
        Ok(Tree::Nothing)
    }
    fn serialize_unit_struct(self, _: &'static str) -> Result<Tree, NoTree> {
        Ok(Tree::Nothing)
    }
    fn serialize_unit_variant(self, _: &'static str, index: u32, name: &'static str) -> Result<Tree, NoTree> {
        Ok(Tree::Variant { index, name, inner: Box::new(Tree::Nothing) })
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<Tree, NoTree> {
        Ok(Tree::Wrapped(Box::new(value.serialize(Self)?)))
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        index: u32,
        name: &'static str,
        value: &T,
    ) -> Result<Tree, NoTree> {
        Ok(Tree::Variant { index, name, inner: Box::new(Tree::Wrapped(Box::new(value.serialize(Self)?))) })
    }
    fn serialize_seq(self, _: Option<usize>) -> Result<Items, NoTree> {
        Ok(Items { items: Vec::new(), finish: Finish::List })
    }
    fn serialize_tuple(self, _: usize) -> Result<Items, NoTree> {
        Ok(Items { items: Vec::new(), finish: Finish::Row })
    }
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Items, NoTree> {
        Ok(Items { items: Vec::new(), finish: Finish::Row })
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        index: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Items, NoTree> {
        Ok(Items { items: Vec::new(), finish: Finish::Variant(index, name) })
    }
    fn serialize_map(self, _: Option<usize>) -> Result<Entries, NoTree> {
        Ok(Entries::default())
    }
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Fields, NoTree> {
        Ok(Fields { fields: Vec::new(), variant: None })
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        index: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Fields, NoTree> {
        Ok(Fields { fields: Vec::new(), variant: Some((index, name)) })
    }
}

macro_rules! collects_items {
    ($($trait:ident, $method:ident;)*) => {
        $(impl ser::$trait for Items {
            type Ok = Tree;
            type Error = NoTree;
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NoTree> {
                self.add(value)
            }
            fn end(self) -> Result<Tree, NoTree> {
                Ok(Items::end(self))
            }
        })*
    };
}

collects_items! {
    SerializeSeq, serialize_element;
    SerializeTuple, serialize_element;
    SerializeTupleStruct, serialize_field;
    SerializeTupleVariant, serialize_field;
}

macro_rules! collects_fields {
    ($($trait:ident;)*) => {
        $(impl ser::$trait for Fields {
            type Ok = Tree;
            type Error = NoTree;
            fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), NoTree> {
                self.add(name, value)
            }
            fn end(self) -> Result<Tree, NoTree> {
                Ok(Fields::end(self))
            }
        })*
    };
}

collects_fields! {
    SerializeStruct;
    SerializeStructVariant;
}

impl ser::SerializeMap for Entries {
    type Ok = Tree;
    type Error = NoTree;
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), NoTree> {
        self.key = Some(key.serialize(Writer)?);
        Ok(())
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NoTree> {
        let key = self.key.take().ok_or(NoTree)?;
        self.entries.push((key, value.serialize(Writer)?));
        Ok(())
    }
    fn end(self) -> Result<Tree, NoTree> {
        Ok(Tree::Map(self.entries))
    }
}
