//! Logs of truth and estimate as CSV or MCAP files.

use std::path::Path;

use super::csv::{Record, records};
use super::mcap_file;
use crate::failure::Failure;
use anabranch_errors::fit::{Log, LogChannel};
use anabranch_kernel::units::{Dimension, UNITS, Unit};

/// Beginnings of the names of columns.
pub(super) const TRUTH: &str = "truth.";
pub(super) const ESTIMATE: &str = "estimate.";

/// What a log looks like, for those whose log does not.
const HELP: &str = "a log has a column `time [s]` and pairs such as `truth.x [m]` and `estimate.x [m]`; other names: --time and --pair";

/// A column: where it is, its name without unit, and its unit.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Column {
    pub(super) index: usize,
    pub(super) name: String,
    pub(super) unit: Option<&'static Unit>,
}

/// The columns of one number.
pub(super) struct Pair {
    pub(super) name: String,
    pub(super) truth: Column,
    pub(super) estimate: Column,
}

/// Reads a log; `time` and `pairs` name columns that are not called as usual.
pub fn read(path: &Path, time: Option<&str>, pairs: &[String]) -> Result<Log, Failure> {
    let text = std::fs::read(path).map_err(|refused| Failure::file("read", path, &refused))?;
    let is_mcap = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("mcap"));
    let log = if is_mcap { mcap_file::parse(&text, time, pairs) } else { parse(&text, time, pairs) };
    log.map_err(|mistake| {
        let line = mistake.line.map_or_else(String::new, |line| format!(", line {line}"));
        Failure::input(format!("`{}`{line}: {}", path.display(), mistake.message), mistake.help)
    })
}

/// What is wrong with a log.
#[derive(Debug, PartialEq)]
pub(super) struct Mistake {
    pub(super) line: Option<u64>,
    pub(super) message: String,
    pub(super) help: &'static str,
}

impl Mistake {
    fn header(message: String) -> Self {
        Self { line: Some(1), message, help: HELP }
    }
}

fn parse(text: &[u8], time: Option<&str>, pairs: &[String]) -> Result<Log, Mistake> {
    let records = records(text).map_err(|e| Mistake { line: Some(e.line), message: e.message, help: HELP })?;
    let Some((header, records)) = records.split_first() else {
        return Err(Mistake::header("the file is empty".to_owned()));
    };
    let columns: Vec<Column> = header.cells.iter().enumerate().map(|(index, name)| column(index, name)).collect();
    let time = time_column(&columns, time)?;
    let pairs = if pairs.is_empty() { usual_pairs(&columns)? } else { named_pairs(&columns, pairs)? };
    let mut log = Log { time_s: Vec::new(), channels: pairs.iter().map(channel).collect::<Result<_, _>>()? };
    for record in records {
        if record.cells.len() != columns.len() {
            let message = format!("{} cells instead of {}", record.cells.len(), columns.len());
            return Err(Mistake {
                line: Some(record.line),
                message,
                help: "every row needs as many cells as the first",
            });
        }
        log.time_s.push(number(record, &time)?.ok_or_else(|| empty(record, &time))?);
        for (pair, channel) in pairs.iter().zip(&mut log.channels) {
            channel.truth.push(number(record, &pair.truth)?.ok_or_else(|| empty(record, &pair.truth))?);
            channel.estimate.push(number(record, &pair.estimate)?);
        }
    }
    Ok(log)
}

/// `truth.x [m]` is a column `truth.x` in metres.
pub(super) fn column(index: usize, header: &str) -> Column {
    let parts = header.strip_suffix(']').and_then(|rest| rest.rsplit_once('['));
    let (name, unit) = parts.map_or((header, ""), |(name, unit)| (name.trim(), unit.trim()));
    Column { index, name: name.to_owned(), unit: UNITS.iter().find(|known| !unit.is_empty() && known.name == unit) }
}

fn find(columns: &[Column], name: &str) -> Result<Column, Mistake> {
    let wanted = column(0, name).name;
    columns.iter().find(|column| column.name == wanted).cloned().ok_or_else(|| {
        let all: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        Mistake::header(format!("there is no column `{wanted}`; there are {}", all.join(", ")))
    })
}

fn time_column(columns: &[Column], name: Option<&str>) -> Result<Column, Mistake> {
    let found = match name {
        Some(name) => find(columns, name)?,
        None => {
            let usual = ["time", "t"].iter().find_map(|usual| columns.iter().find(|column| column.name == *usual));
            usual.cloned().ok_or_else(|| Mistake::header("there is no column `time [s]`".to_owned()))?
        }
    };
    match found.unit {
        Some(unit) if unit.dimension == Dimension::Time => Ok(found),
        _ => Err(Mistake::header(format!("column `{0}` needs a unit of time; call it `{0} [s]`", found.name))),
    }
}

fn usual_pairs(columns: &[Column]) -> Result<Vec<Pair>, Mistake> {
    let mut pairs = Vec::new();
    for truth in columns {
        let Some(name) = truth.name.strip_prefix(TRUTH) else { continue };
        let estimate = find(columns, &format!("{ESTIMATE}{name}"))?;
        pairs.push(Pair { name: name.to_owned(), truth: truth.clone(), estimate });
    }
    if pairs.is_empty() {
        return Err(Mistake::header("there is no column that begins with `truth.`".to_owned()));
    }
    Ok(pairs)
}

fn named_pairs(columns: &[Column], pairs: &[String]) -> Result<Vec<Pair>, Mistake> {
    let pair = |text: &String| {
        let parts = text.split_once('=');
        let (truth, estimate) = parts.ok_or_else(|| Mistake::header(format!("--pair {text}: write TRUTH=ESTIMATE")))?;
        let (truth, estimate) = (find(columns, truth)?, find(columns, estimate)?);
        let name = truth.name.strip_prefix(TRUTH).unwrap_or(&truth.name).to_owned();
        Ok(Pair { name, truth, estimate })
    };
    pairs.iter().map(pair).collect()
}

/// A channel without rows yet, in SI units.
pub(super) fn channel(pair: &Pair) -> Result<LogChannel, Mistake> {
    let unit = |column: &Column| {
        column.unit.ok_or_else(|| {
            Mistake::header(format!("column `{0}` has no unit we know; call it `{0} [m]` or `{0} [rad]`", column.name))
        })
    };
    let (truth, estimate) = (unit(&pair.truth)?, unit(&pair.estimate)?);
    if truth.dimension != estimate.dimension {
        let message =
            format!("`{}` is in {} and `{}` in {}", pair.truth.name, truth.name, pair.estimate.name, estimate.name);
        return Err(Mistake::header(message));
    }
    // The first unit of each dimension is the one of SI.
    let si = UNITS.iter().find(|unit| unit.dimension == truth.dimension).map_or("", |unit| unit.name);
    Ok(LogChannel { name: pair.name.clone(), unit: si.to_owned(), truth: Vec::new(), estimate: Vec::new() })
}

/// A cell in SI units; `None` if it is empty or says that it is no number.
fn number(record: &Record, column: &Column) -> Result<Option<f64>, Mistake> {
    let text = record.cells[column.index].as_str();
    if text.is_empty() || text.eq_ignore_ascii_case("nan") {
        return Ok(None);
    }
    let value: f64 = text.parse().map_err(|_| Mistake {
        line: Some(record.line),
        message: format!("`{text}` in column `{}` is no number", column.name),
        help: "an empty cell says that nothing was told",
    })?;
    Ok(Some(value * column.unit.map_or(1.0, |unit| unit.factor)))
}

fn empty(record: &Record, column: &Column) -> Mistake {
    let message = format!("column `{}` is empty; only estimates may be missing", column.name);
    Mistake { line: Some(record.line), message, help: "leave out rows without truth" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, pairs: &[&str]) -> Result<Log, Mistake> {
        let pairs: Vec<String> = pairs.iter().map(|&pair| pair.to_owned()).collect();
        parse(text.as_bytes(), None, &pairs)
    }

    #[test]
    fn columns_are_found_by_name_and_turned_into_si_units() {
        let text = "time [ms],estimate.x [cm],truth.x [m],note\n0,100,1.5,a\n10,,1.6,\"b, c\"\n20,nan,1.7,\n";
        let log = read(text, &[]).unwrap();
        assert_eq!(log.time_s, [0.0, 0.01, 0.02]);
        assert_eq!((log.channels[0].name.as_str(), log.channels[0].unit.as_str()), ("x", "m"));
        assert_eq!(log.channels[0].truth, [1.5, 1.6, 1.7]);
        assert_eq!(log.channels[0].estimate, [Some(1.0), None, None]);
        let named = read("t [s],gps [m],laser [m]\n0,1,2\n", &["laser=gps"]).unwrap();
        assert_eq!((named.channels[0].name.as_str(), named.channels[0].truth[0]), ("laser", 2.0));
    }

    #[test]
    fn mistakes_have_their_line_and_say_how_to_go_on() {
        for (text, line, hint) in [
            ("a,b\n1,2\n", 1, "no column `time [s]`"),
            ("time,truth.x [m],estimate.x [m]\n", 1, "call it `time [s]`"),
            ("time [s],truth.x [m]\n", 1, "no column `estimate.x`"),
            ("time [s],x [m]\n", 1, "begins with `truth.`"),
            ("time [s],truth.x,estimate.x\n", 1, "call it `truth.x [m]`"),
            ("time [s],truth.x [m],estimate.x [rad]\n", 1, "in m and `estimate.x` in rad"),
            ("time [s],truth.x [m],estimate.x [m]\n0,1,2\n1,many,2\n", 3, "`many` in column `truth.x`"),
            ("time [s],truth.x [m],estimate.x [m]\n0,,2\n", 2, "`truth.x` is empty"),
            ("time [s],truth.x [m],estimate.x [m]\n0,1\n", 2, "2 cells instead of 3"),
        ] {
            let mistake = read(text, &[]).unwrap_err();
            assert_eq!(mistake.line, Some(line), "{mistake:?}");
            assert!(mistake.message.contains(hint), "{hint} in {mistake:?}");
        }
    }
}
