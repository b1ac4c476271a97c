//! A model run over a table: one row per tick, columns named after ports.

use anabranch_program as ir;

use crate::diagnostic::closest;
use crate::model::build::{Model, ModelPort};
use crate::model::range::shown;
use crate::model::ty::{Class, Kind, Number, Ty};
use crate::syntax::ast::Direction;
use crate::units::Dimension;

/// One number of a port, as a column.
#[derive(Clone, Debug)]
pub struct Column {
    /// `speed`, `path[3]`, `matrix[2,1]`, `car.speed`, `lane[2][1]`.
    pub name: String,
    /// In or out.
    pub direction: Direction,
    /// Which kind of number.
    pub class: Class,
    /// Where it lies.
    pub slot: ir::Slot,
    /// The range of its port, in SI.
    pub range: (f64, f64),
    /// What it measures; `None` where nobody says.
    pub dimension: Option<Dimension>,
    /// Which values it may have.
    number: Number,
    /// Of a matrix that is a vector: whether it is a row, and which element this is.
    vector: Option<(bool, u32)>,
}

impl Column {
    /// The number that a cell stands for, as the port holds it: a number in SI, a truth, or a name of the enum.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn read(&self, cell: &str) -> Result<f64, String> {
        if let Class::Choice(choices) = &self.class
            && let Some(at) = choices.values.iter().position(|value| value == cell)
        {
            return Ok(at as f64);
        }
        let value = match cell {
            "true" | "True" | "TRUE" => 1.0,
            "false" | "False" | "FALSE" => 0.0,
            _ => cell.parse::<f64>().map_err(|_| self.expected(cell))?,
        };
        match &self.class {
            _ if !value.is_finite() => Err(self.expected(cell)),
            Class::Real => Ok(value),
            Class::Whole if value.fract() == 0.0 => Ok(value),
            Class::Truth if value == 0.0 || value == 1.0 => Ok(value),
            Class::Choice(choices) if value >= 0.0 && value.fract() == 0.0 && value < choices.values.len() as f64 => {
                Ok(value)
            }
            _ => Err(self.expected(cell)),
        }
    }

    /// Whether a value is one of its port, up to rounding.
    pub fn holds(&self, value: f64) -> bool {
        self.number.holds(value, 1e-9 * value.abs().max(1.0))
    }

    /// The range of its port in words.
    pub fn range_text(&self) -> String {
        let (low, high) = self.range;
        if self.number.is_plain() { format!("{low} to {high}") } else { shown(&self.number) }
    }

    /// Other ways to write its name: `m[2][1]` and `m(2,1)` for `m[2,1]`, `v[2]` for `v[1,2]` of a row.
    fn is_also(&self, name: &str) -> bool {
        let square = name.replace('(', "[").replace(')', "]");
        let plain = |name: &str| name.replace("][", ",");
        if plain(&square) == plain(&self.name) {
            return true;
        }
        self.vector.is_some_and(|(row, at)| {
            let whole = if row { format!("[1,{at}]") } else { format!("[{at},1]") };
            self.name.strip_suffix(whole.as_str()).is_some_and(|port| square == format!("{port}[{at}]"))
        })
    }

    fn expected(&self, cell: &str) -> String {
        let kind = match &self.class {
            Class::Real => "a finite number, in SI".to_owned(),
            Class::Whole => "a whole number".to_owned(),
            Class::Truth => "true, false, 1 or 0".to_owned(),
            Class::Choice(choices) => format!("one of {}", choices.values.join(", ")),
        };
        format!("`{cell}` for `{}`: {kind} is expected", self.name)
    }
}

/// Every number of every port, in the order of ports; matrices row by row, cubes slice by slice.
pub fn columns(model: &Model) -> Vec<Column> {
    let mut all = Vec::new();
    for port in model.ports() {
        of_port(port, &mut all);
    }
    all
}

fn of_port(port: &ModelPort, all: &mut Vec<Column>) {
    let size = port.ty.size();
    for i in 0..port.count.unwrap_or(1) {
        let name = if port.count.is_some() { format!("{}[{}]", port.name, i + 1) } else { port.name.clone() };
        of_type(name, port.direction, &port.ty, port.slots.part(i * size, size), all);
    }
}

fn of_type(name: String, direction: Direction, ty: &Ty, slots: ir::Span, all: &mut Vec<Column>) {
    if !ty.shape.is_empty() {
        let one = Ty { kind: ty.kind.clone(), shape: vec![] };
        for i in 0..ty.elements() {
            let name = format!("{name}[{}]", indices(&ty.shape, i));
            let before = all.len();
            of_type(name, direction, &one, slots.part(i * one.size(), one.size()), all);
            if let ([rows, columns], [column]) = (ty.shape.as_slice(), &mut all[before..])
                && (*rows == 1 || *columns == 1)
            {
                column.vector = Some((*rows == 1, i + 1));
            }
        }
        return;
    }
    match &ty.kind {
        Kind::Number(number) => {
            let (class, range, dimension) = (number.class.clone(), (number.low, number.high), number.dimension);
            let (slot, number, vector) = (slots.start, number.clone(), None);
            all.push(Column { name, direction, class, slot, range, dimension, number, vector });
        }
        Kind::Struct(data) => {
            let mut offset = 0;
            for (field, ty) in &data.fields {
                of_type(format!("{name}.{field}"), direction, ty, slots.part(offset, ty.size()), all);
                offset += ty.size();
            }
        }
    }
}

/// The indices of an element, counted from 1: `2,1`. Rows lie one after the other, and so do the slices of a cube, each
/// with all its rows: of three indices the last one runs slowest.
fn indices(shape: &[u32], element: u32) -> String {
    let (matrix, slices) = shape.split_at(shape.len().min(2));
    let mut rest = element;
    let mut next = |size: &u32| {
        let index = rest % (*size).max(1) + 1;
        rest /= (*size).max(1);
        index.to_string()
    };
    let mut found: Vec<String> = matrix.iter().rev().map(&mut next).collect();
    found.reverse();
    found.extend(slices.iter().map(&mut next));
    found.join(",")
}

/// What the columns of a file mean.
#[derive(Clone, Debug, Default)]
pub struct Bound {
    /// For each in-number that is given: place in the file and the column.
    pub inputs: Vec<(usize, Column)>,
    /// For each out-number that is given, to compare with.
    pub expected: Vec<(usize, Column)>,
}

/// Something wrong with the heading of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeadingError {
    /// The column of the file, from 0; none if one is missing.
    pub at: Option<usize>,
    /// What is wrong.
    pub message: String,
    /// How to go on.
    pub help: String,
}

/// Finds the port of every column of a file. `in:` and `out:` before a name are allowed and must be true.
///
/// # Errors
///
/// Every column that names no port or stands there twice, and every input that has none.
pub fn bind(model: &Model, heading: &[String]) -> Result<Bound, Vec<HeadingError>> {
    let columns = columns(model);
    let mut wrong = Vec::new();
    let mut bound = Bound::default();
    let mut seen = vec![false; columns.len()];
    for (at, cell) in heading.iter().enumerate() {
        let (role, name) = match cell.split_once(':') {
            Some(("in", name)) => (Some(Direction::In), name.trim()),
            Some(("out", name)) => (Some(Direction::Out), name.trim()),
            _ => (None, cell.as_str()),
        };
        let mut tell = |message: String, help: String| wrong.push(HeadingError { at: Some(at), message, help });
        let spaced: String = name.chars().filter(|c| !c.is_whitespace()).collect();
        let Some(found) = columns.iter().position(|column| column.name == spaced || column.is_also(&spaced)) else {
            tell(format!("`{}` has no port `{name}`", short(model)), unknown(&columns, &spaced));
            continue;
        };
        let column = &columns[found];
        if role.is_some_and(|role| role != column.direction) {
            let is = if column.direction == Direction::In { "an in-port" } else { "an out-port" };
            tell(format!("`{name}` is {is}"), "leave the prefix out, or mend it".to_owned());
        } else if std::mem::replace(&mut seen[found], true) {
            tell(format!("two columns are named `{name}`"), "keep one of them".to_owned());
        } else if column.direction == Direction::In {
            bound.inputs.push((at, column.clone()));
        } else {
            bound.expected.push((at, column.clone()));
        }
    }
    for (column, _) in columns.iter().zip(&seen).filter(|(c, seen)| c.direction == Direction::In && !**seen) {
        let message = format!("there is no column for the in-port `{}`", column.name);
        wrong.push(HeadingError { at: None, message, help: format!("add a column `{}`", column.name) });
    }
    if wrong.is_empty() { Ok(bound) } else { Err(wrong) }
}

fn short(model: &Model) -> &str {
    model.name().rsplit('.').next().unwrap_or("")
}

fn unknown(columns: &[Column], name: &str) -> String {
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    if name.contains(';') {
        return "columns are separated by commas".to_owned();
    }
    if let Some((port, _)) = name.split_once(['[', '(']).filter(|(port, _)| names.contains(port)) {
        return format!("write `{port}`; values are in SI");
    }
    if let Some(first) = names.iter().find(|known| known.strip_prefix(name).is_some_and(|rest| rest.starts_with('['))) {
        return format!("it has several numbers: `{first}` and so on");
    }
    match closest(name, names.iter().copied()) {
        Some(close) => format!("did you mean `{close}`?"),
        None => {
            const SHOWN: usize = 12;
            let more = if names.len() > SHOWN { ", …" } else { "" };
            format!("its ports are {}{more}", names[..names.len().min(SHOWN)].join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Library, Options};

    fn model() -> Model {
        let text = "component Table {
            ports in Q x, in Z n, in B on, in Q^{2} v, in Q p[2], out Q^{2,2} m, out Q y;
            implementation Math { y = x + n + v(2) + p(1); m = [v(1) v(2); p(1) p(2)]; if on y = 0; end }
        }";
        let library = Library::of([("Table.emam".into(), text.to_owned())]);
        Model::build(&library, "Table", &Options::default()).unwrap()
    }

    fn heading(text: &str) -> Vec<String> {
        text.split(',').map(|cell| cell.replace('/', ",")).collect()
    }

    #[test]
    fn every_number_of_a_port_has_a_column() {
        let names: Vec<String> = columns(&model()).into_iter().map(|column| column.name).collect();
        assert_eq!(names.join(" "), "x n on v[1] v[2] p[1] p[2] m[1,1] m[1,2] m[2,1] m[2,2] y");
    }

    #[test]
    fn columns_are_bound_in_any_order_with_or_without_prefix() {
        let bound = bind(&model(), &heading("out:y,p[2],in:x,n,on,v[1],v[2],p[1],m[2/1]")).unwrap();
        assert_eq!(bound.inputs[0].0, 1);
        assert_eq!(bound.expected.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [0, 8]);
    }

    #[track_caller]
    fn check(text: &str, message: &str, help: &str) {
        let wrong = bind(&model(), &heading(text)).unwrap_err();
        assert!(wrong.iter().any(|w| w.message == message && w.help == help), "{wrong:#?}");
    }

    #[test]
    fn columns_that_do_not_fit_are_told_with_a_way_out() {
        check("onn", "`Table` has no port `onn`", "did you mean `on`?");
        check("v", "`Table` has no port `v`", "it has several numbers: `v[1]` and so on");
        check("out:x", "`x` is an in-port", "leave the prefix out, or mend it");
        check("x,x", "two columns are named `x`", "keep one of them");
        check("x", "there is no column for the in-port `p[2]`", "add a column `p[2]`");
    }

    /// The column of a cube is that of the element which the text of the model means by the same indices.
    #[test]
    fn a_cube_is_labelled_as_its_elements_are_addressed() {
        let text = "component Cube { ports in Q^{2,2,2} c, out Q y, out Q^{2,3,4} d; \
                    implementation Math { y = c(1,2,2); d(1,2,3) = 5; } }";
        let library = Library::of([("Cube.emam".into(), text.to_owned())]);
        let model = Model::build(&library, "Cube", &Options::default()).unwrap();
        let columns = columns(&model);
        let slot = |name: &str| columns.iter().find(|column| column.name == name).unwrap().slot;
        let mut memory = model.program().memory();
        memory.set(slot("c[1,2,2]"), 7.0);
        model.program().tick(&mut memory, ir::Now::default()).unwrap();
        assert_eq!((memory.get(slot("y")), memory.get(slot("d[1,2,3]"))), (7.0, 5.0));
        assert_eq!(columns.iter().filter(|column| memory.get(column.slot) == 5.0).count(), 1);
    }

    /// People write matrices and rows in several ways.
    #[test]
    fn a_matrix_or_a_row_may_be_written_in_other_ways() {
        let text =
            "component Wide { ports in Q^{1,2} r, in Q^{2,2} m, out Q y; implementation Math { y = r(2)*m(2,1); } }";
        let library = Library::of([("Wide.emam".into(), text.to_owned())]);
        let model = Model::build(&library, "Wide", &Options::default()).unwrap();
        for cells in ["r[1]|r[2]|m[1,1]|m[1][2]|m(2,1)|m[2,2]", "r[1,1]|r(1,2)|m[1][1]|m[1,2]|m[2,1]|m[2,2]"] {
            let cells: Vec<String> = cells.split('|').map(str::to_owned).collect();
            let bound = bind(&model, &cells).unwrap();
            let names: Vec<&str> = bound.inputs.iter().map(|(_, column)| column.name.as_str()).collect();
            assert_eq!(names, ["r[1,1]", "r[1,2]", "m[1,1]", "m[1,2]", "m[2,1]", "m[2,2]"]);
        }
    }

    #[test]
    fn headings_with_units_or_semicolons_are_told_with_the_fix() {
        check("x [m]", "`Table` has no port `x [m]`", "write `x`; values are in SI");
        check("x;n", "`Table` has no port `x;n`", "columns are separated by commas");
    }

    #[test]
    fn cells_are_read_as_the_port_holds_them() {
        let columns = columns(&model());
        assert_eq!(columns[0].read("-1.5e3"), Ok(-1500.0));
        assert_eq!(columns[2].read("true"), Ok(1.0));
        assert_eq!(columns[0].read("nan").unwrap_err(), "`nan` for `x`: a finite number, in SI is expected");
        assert_eq!(columns[1].read("1.5").unwrap_err(), "`1.5` for `n`: a whole number is expected");
        assert_eq!(columns[2].read("2").unwrap_err(), "`2` for `on`: true, false, 1 or 0 is expected");
        assert_eq!(columns[0].read("3 m").unwrap_err(), "`3 m` for `x`: a finite number, in SI is expected");
    }
}
