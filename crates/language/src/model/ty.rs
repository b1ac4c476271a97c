//! Types with everything known: ranges, units, shapes, fields.

use std::fmt;
use std::rc::Rc;

use super::range::Piece;
use crate::units::{Dimension, Unit};

/// What kind of number it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Class {
    /// Any real number.
    Real,
    /// A whole number; assigning cuts the rest off.
    Whole,
    /// True or false.
    Truth,
    /// One of the names of an enum.
    Choice(Rc<Choices>),
}

/// An enum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choices {
    /// Its name.
    pub name: String,
    /// Its values, numbered from 0.
    pub values: Vec<String>,
}

/// A type of numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    /// Which kind.
    pub class: Class,
    /// What it measures; `None` where nobody says, which goes with everything.
    pub dimension: Option<Dimension>,
    /// The unit that was written, for messages.
    pub unit: Option<Unit>,
    /// Smallest value, in SI.
    pub low: f64,
    /// Largest value, in SI.
    pub high: f64,
    /// Which values between the two, where a range is written.
    pub pieces: Vec<Piece>,
}

impl Number {
    /// Any number of a class.
    pub fn any(class: Class) -> Self {
        Self { class, dimension: None, unit: None, low: f64::NEG_INFINITY, high: f64::INFINITY, pieces: vec![] }
    }
}

/// A struct.
#[derive(Clone, Debug, PartialEq)]
pub struct Fields {
    /// Its name.
    pub name: String,
    /// Its fields, in order.
    pub fields: Vec<(String, Ty)>,
}

/// What a type is made of.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// Numbers.
    Number(Number),
    /// Fields.
    Struct(Rc<Fields>),
}

/// A type: what it is made of and in which shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Ty {
    /// Made of.
    pub kind: Kind,
    /// Sizes: none for one value, `[n]` for a row, `[rows, columns]`, `[rows, columns, slices]`.
    pub shape: Vec<u32>,
}

impl Ty {
    /// One number of a class.
    pub fn scalar(class: Class) -> Self {
        Self { kind: Kind::Number(Number::any(class)), shape: vec![] }
    }

    /// One real number.
    pub fn real() -> Self {
        Self::scalar(Class::Real)
    }

    /// How many slots it takes.
    pub fn size(&self) -> u32 {
        let each = match &self.kind {
            Kind::Number(_) => 1,
            Kind::Struct(fields) => fields.fields.iter().fold(0u32, |sum, (_, ty)| sum.saturating_add(ty.size())),
        };
        self.elements().saturating_mul(each)
    }

    /// How many elements its shape has.
    pub fn elements(&self) -> u32 {
        self.shape.iter().fold(1u32, |product, n| product.saturating_mul(*n))
    }

    /// Rows and columns; one row for a vector, slices count as more rows.
    pub fn rows_columns(&self) -> (u32, u32) {
        match *self.shape.as_slice() {
            [] => (1, 1),
            [n] => (1, n),
            [rows, columns] => (rows, columns),
            [rows, columns, ref more @ ..] => {
                (more.iter().fold(rows, |product, n| product.saturating_mul(*n)), columns)
            }
        }
    }

    /// The number type, if it is made of numbers.
    pub fn number(&self) -> Option<&Number> {
        match &self.kind {
            Kind::Number(number) => Some(number),
            Kind::Struct(_) => None,
        }
    }

    /// What it measures, if anybody says.
    pub fn dimension(&self) -> Option<Dimension> {
        self.number().and_then(|number| number.dimension)
    }

    /// The field with a name: where it begins, and its type.
    pub fn field(&self, name: &str) -> Option<(u32, &Self)> {
        let Kind::Struct(fields) = &self.kind else { return None };
        let mut offset = 0;
        for (field, ty) in &fields.fields {
            if field == name {
                return Some((offset, ty));
            }
            offset += ty.size();
        }
        None
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Struct(fields) => f.write_str(&fields.name)?,
            Kind::Number(number) => {
                f.write_str(match &number.class {
                    Class::Real => "Q",
                    Class::Whole => "Z",
                    Class::Truth => "B",
                    Class::Choice(choices) => &choices.name,
                })?;
                f.write_str(&super::range::shown(number))?;
                if let Some(dimension) = number.dimension.filter(|d| *d != Dimension::NUMBER) {
                    write!(f, " in {dimension}")?;
                }
            }
        }
        if !self.shape.is_empty() {
            let sizes: Vec<String> = self.shape.iter().map(u32::to_string).collect();
            write!(f, "^{{{}}}", sizes.join(","))?;
        }
        Ok(())
    }
}
