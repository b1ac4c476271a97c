//! Signals of a run as CSV, one row per base cycle.

use std::io::{self, Write};

use anabranch_kernel::{Recorder, Signal};

/// Writes every frame as a row; the header names each signal with its unit: `ego.clearance [m]`.
///
/// Numbers are the shortest text that reads back to the same bits. Recording never disturbs a run: what the writer
/// says is kept and reported by [`finish`](Self::finish).
#[derive(Debug)]
pub struct CsvTrace<W: Write> {
    out: W,
    cycle_s: f64,
    columns: usize,
    /// The signal that says again what the second column says, if there is one.
    time: Option<usize>,
    row: Vec<u8>,
    failed: Option<io::Error>,
}

impl<W: Write> CsvTrace<W> {
    /// Begins with the header; `cycle_s` is the length of a base cycle in seconds.
    pub fn new(out: W, signals: &[Signal], cycle_s: f64) -> Self {
        let time = signals.iter().position(|signal| signal.name == "time" && signal.unit == "s");
        let mut trace = Self { out, cycle_s, columns: signals.len(), time, row: Vec::new(), failed: None };
        let mut header = "tick,time [s]".to_owned();
        for (_, signal) in signals.iter().enumerate().filter(|(index, _)| Some(*index) != time) {
            header.push(',');
            header.push_str(&cell(&match signal.unit.as_str() {
                "" => signal.name.clone(),
                unit => format!("{} [{unit}]", signal.name),
            }));
        }
        header.push('\n');
        trace.failed = trace.out.write_all(header.as_bytes()).err();
        trace
    }

    /// Flushes and gives the writer back.
    ///
    /// # Errors
    /// With the first thing the writer refused.
    pub fn finish(mut self) -> io::Result<W> {
        match self.failed {
            Some(error) => Err(error),
            None => self.out.flush().map(|()| self.out),
        }
    }

    fn write_row(&mut self, tick: u64, values: &[f64]) -> io::Result<()> {
        self.row.clear();
        // A whole number of nanoseconds: 0.07, not 0.07000000000000001.
        let time_s = (tick as f64 * self.cycle_s * 1e9).round() / 1e9;
        write!(self.row, "{tick},{time_s}")?;
        for (_, value) in values.iter().enumerate().filter(|(index, _)| Some(*index) != self.time) {
            write!(self.row, ",{value}")?;
        }
        self.row.push(b'\n');
        self.out.write_all(&self.row)
    }
}

impl<W: Write> Recorder for CsvTrace<W> {
    fn frame(&mut self, tick: u64, values: &[f64]) {
        assert_eq!(values.len(), self.columns, "a frame has one value per signal");
        if self.failed.is_none() {
            self.failed = self.write_row(tick, values).err();
        }
    }
}

/// A name as a cell: on one line, quoted as RFC 4180 asks where needed, and never a formula of a spreadsheet.
pub fn cell(text: &str) -> String {
    let mut plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let is_number = text.parse::<f64>().is_ok();
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) && !is_number {
        plain.insert(0, '\'');
    }
    if plain.contains([',', '"']) { format!("\"{}\"", plain.replace('"', "\"\"")) } else { plain }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_kernel::Watch;

    #[test]
    fn frames_become_rows_with_units_in_the_header() {
        let signals = [Signal::new("ego.x", "m"), Signal::new("ego.at_goal", ""), Signal::new("a,b", "m/s")];
        let mut trace = CsvTrace::new(Vec::new(), &signals, 0.01);
        Watch::recording(&mut trace).frame(7, &[0.1, 1.0, f64::INFINITY]);
        let text = String::from_utf8(trace.finish().unwrap()).unwrap();
        assert_eq!(text, "tick,time [s],ego.x [m],ego.at_goal,\"a,b [m/s]\"\n7,0.07,0.1,1,inf\n");
    }

    #[test]
    fn time_has_one_column() {
        let signals = [Signal::new("x", "m"), Signal::new("time", "s"), Signal::new("y", "m")];
        let mut trace = CsvTrace::new(Vec::new(), &signals, 0.01);
        trace.frame(2, &[0.5, 0.02, 0.25]);
        let text = String::from_utf8(trace.finish().unwrap()).unwrap();
        assert_eq!(text, "tick,time [s],x [m],y [m]\n2,0.02,0.5,0.25\n");
    }

    #[test]
    fn names_forge_neither_lines_nor_formulas() {
        let check = |text: &str, expect: &str| assert_eq!(cell(text), expect, "{text:?}");
        check("=HYPERLINK(\"x\")", "\"'=HYPERLINK(\"\"x\"\")\"");
        check("+1 x", "'+1 x");
        check("-0.1", "-0.1");
        check("-x", "'-x");
        check("@sum", "'@sum");
        check("\t=1", "' =1");
        check("x\n1,2", "\"x 1,2\"");
        check("ego.x [m]", "ego.x [m]");
    }

    #[test]
    fn a_full_disk_is_reported_at_the_end() {
        let mut small = [0_u8; 40];
        let mut trace = CsvTrace::new(&mut small[..], &[Signal::new("x", "m")], 0.01);
        for tick in 0..10 {
            trace.frame(tick, &[1.0]);
        }
        assert!(trace.finish().is_err());
    }
}
