//! Inputs that stay constant for stretches of time.

use crate::error::ProblemError;

/// From a time on, these values.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// When the stretch begins.
    pub from_s: f64,
    /// The inputs during it.
    pub values: Vec<f64>,
}

/// Reads `"0 100 0; 15 50 0"`: rows of a time and one value for each range.
///
/// # Errors
/// With the first row that cannot be understood.
pub fn parse_rows(text: &str, ranges: &[(f64, f64)]) -> Result<Vec<Row>, ProblemError> {
    let inputs = ranges.len();
    let mut rows: Vec<Row> = Vec::new();
    let text = text.trim().trim_start_matches('[').trim_end_matches(']').trim().trim_end_matches(';');
    for (index, line) in text.split(';').enumerate() {
        let row = index + 1;
        let mut numbers = Vec::with_capacity(inputs + 1);
        for word in line.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty()) {
            match word.parse::<f64>() {
                Ok(value) if value.is_finite() => numbers.push(value),
                _ => return Err(ProblemError::Word { row, word: word.to_owned(), inputs }),
            }
        }
        if numbers.len() != inputs + 1 {
            return Err(ProblemError::Row { row, found: numbers.len(), inputs });
        }
        let from_s = numbers.remove(0);
        let is_next = rows.last().map_or(from_s == 0.0, |last| from_s > last.from_s);
        if !is_next {
            return Err(ProblemError::Time { row, time_s: from_s });
        }
        for (&value, &(lo, hi)) in numbers.iter().zip(ranges) {
            if !(lo..=hi).contains(&value) {
                return Err(ProblemError::Range { row, value, lo, hi });
            }
        }
        rows.push(Row { from_s, values: numbers });
    }
    Ok(rows)
}
