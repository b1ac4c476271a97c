//! Names and kinds of the columns, and how a row is taken apart into them.

use super::{SegmentRow, StateRow};

/// How a column is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Few different whole numbers.
    Small,
    /// A number of a state: grows with the rows.
    Number,
    /// As [`Number`](Self::Number), or nothing.
    NumberOrNothing,
    /// A number of a cell, or nothing.
    CellOrNothing,
    /// Half of a key, or nothing.
    KeyOrNothing,
    /// A measured value.
    Real,
    /// A share in steps of 1/256, or nothing.
    ShareOrNothing,
    /// The name of a variable by its number, or nothing.
    VariableOrNothing,
    /// The description of an error, by its choice.
    Error,
    /// A word for what became of a segment.
    Fate,
}

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Column {
    pub name: &'static str,
    pub kind: Kind,
}

const fn column(name: &'static str, kind: Kind) -> Column {
    Column { name, kind }
}

pub(super) const SEGMENT_COLUMNS: [Column; 11] = [
    column("level", Kind::Small),
    column("parent", Kind::Number),
    column("choice", Kind::Small),
    column("error", Kind::Error),
    column("fate", Kind::Fate),
    column("cell", Kind::CellOrNothing),
    column("key_high", Kind::KeyOrNothing),
    column("key_low", Kind::KeyOrNothing),
    column("margin_m", Kind::Real),
    column("apart", Kind::ShareOrNothing),
    column("apart_variable", Kind::VariableOrNothing),
];

pub(super) const STATE_COLUMNS: [Column; 9] = [
    column("node", Kind::Number),
    column("level", Kind::Small),
    column("parent", Kind::NumberOrNothing),
    column("choice", Kind::Small),
    column("error", Kind::Error),
    column("cell", Kind::CellOrNothing),
    column("x_m", Kind::Real),
    column("y_m", Kind::Real),
    column("heading_rad", Kind::Real),
];

/// Values of one column; columns that may hold nothing say for each row whether there is one.
#[derive(Clone, Debug)]
pub(super) enum Values {
    Narrow {
        there: Vec<i16>,
        values: Vec<i32>,
    },
    Wide {
        there: Vec<i16>,
        values: Vec<i64>,
    },
    Real(Vec<f64>),
    Share {
        there: Vec<i16>,
        values: Vec<f64>,
    },
    /// Of errors the choice, of fates and variables their number, or [`NO_WORD`].
    Word(Vec<u16>),
}

/// Where a row has no word, as a start has no error.
pub(super) const NO_WORD: u16 = u16::MAX;

impl Values {
    pub fn empty(kind: Kind) -> Self {
        match kind {
            Kind::Small | Kind::CellOrNothing => Self::Narrow { there: Vec::new(), values: Vec::new() },
            Kind::Number | Kind::NumberOrNothing | Kind::KeyOrNothing => {
                Self::Wide { there: Vec::new(), values: Vec::new() }
            }
            Kind::Real => Self::Real(Vec::new()),
            Kind::ShareOrNothing => Self::Share { there: Vec::new(), values: Vec::new() },
            Kind::Error | Kind::Fate | Kind::VariableOrNothing => Self::Word(Vec::new()),
        }
    }

    pub fn clear(&mut self) {
        match self {
            Self::Narrow { there, values } => {
                there.clear();
                values.clear();
            }
            Self::Wide { there, values } => {
                there.clear();
                values.clear();
            }
            Self::Share { there, values } => {
                there.clear();
                values.clear();
            }
            Self::Real(values) => values.clear(),
            Self::Word(values) => values.clear(),
        }
    }

    /// Bits of numbers without sign; the type of the column says how to read them.
    fn narrow(&mut self, value: Option<u32>) {
        let Self::Narrow { there, values } = self else {
            unreachable!("the columns and their values are listed together")
        };
        there.push(i16::from(value.is_some()));
        values.extend(value.map(u32::cast_signed));
    }
    fn wide(&mut self, value: Option<u64>) {
        let Self::Wide { there, values } = self else {
            unreachable!("the columns and their values are listed together")
        };
        there.push(i16::from(value.is_some()));
        values.extend(value.map(u64::cast_signed));
    }
    fn real(&mut self, value: f64) {
        let Self::Real(values) = self else { unreachable!("the columns and their values are listed together") };
        values.push(value);
    }
    fn share(&mut self, value: Option<f64>) {
        let Self::Share { there, values } = self else {
            unreachable!("the columns and their values are listed together")
        };
        there.push(i16::from(value.is_some()));
        values.extend(value);
    }
    fn word(&mut self, value: u16) {
        let Self::Word(values) = self else { unreachable!("the columns and their values are listed together") };
        values.push(value);
    }
}

pub(super) fn put_segment(values: &mut [Values], row: &SegmentRow) {
    let [level, parent, choice, error, fate, cell, high, low, margin, apart, variable] = values else {
        unreachable!("a table of segments has its columns")
    };
    level.narrow(Some(row.level));
    parent.wide(Some(row.parent));
    choice.narrow(Some(u32::from(row.choice)));
    error.word(row.choice);
    fate.word(row.fate as u16);
    cell.narrow(row.cell);
    high.wide(row.key.map(|key| (key >> 64) as u64));
    low.wide(row.key.map(|key| key as u64));
    margin.real(row.margin);
    apart.share(row.apart.map(|apart| apart.share));
    variable.word(row.apart.map_or(NO_WORD, |apart| apart.variable));
}

pub(super) fn put_state(values: &mut [Values], row: &StateRow) {
    let [node, level, parent, choice, error, cell, x, y, heading] = values else {
        unreachable!("a table of states has its columns")
    };
    node.wide(Some(row.node));
    level.narrow(Some(row.level));
    parent.wide(row.parent);
    choice.narrow(Some(u32::from(row.choice)));
    error.word(if row.parent.is_some() { row.choice } else { NO_WORD });
    cell.narrow(row.cell);
    for (values, value) in [x, y, heading].into_iter().zip(row.pose) {
        values.real(value);
    }
}
