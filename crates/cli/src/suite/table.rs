//! The table of a suite for people.

use super::row::Row;
use crate::escape::escape;
use crate::numbers::{duration, grouped, short};
use crate::screen::Paint;

/// Characters of a combination that a row shows; the machine output has all of it.
const COMBINATION_MAX: usize = 80;

const HEAD: [&str; 7] = ["scenario", "verdict", "findings", "clearance", "segments", "time", "first combination"];

/// The whole text.
pub fn text(rows: &[Row], selected: usize, seconds: f64, paint: &Paint) -> String {
    if selected == 0 {
        return "no scenarios there\n".to_owned();
    }
    let cells: Vec<[String; 7]> = rows.iter().map(cells).collect();
    let mut out = layout(&cells, rows, paint);
    out += "\n";
    out += &summary(rows, selected, seconds);
    out += &commands(rows, paint);
    out
}

fn cells(row: &Row) -> [String; 7] {
    let explored = row.failure().is_none();
    let number = |text: String| if explored { text } else { "–".to_owned() };
    let clearance = row.worst_clearance_m().map_or_else(|| "–".to_owned(), |m| format!("{} m", short(m, 3)));
    let last = match row.failure() {
        Some(failure) => first_line(&failure.to_string()),
        None if row.findings() == 0 => row.why_open(),
        None => row.worst_combination(),
    };
    [
        escape(&row.file),
        row.word().to_owned(),
        number(grouped(row.findings())),
        clearance,
        number(grouped(row.segments())),
        duration(row.seconds),
        escape(&shortened(&last)),
    ]
}

/// Enough of a message for a row; the whole of it was told before.
fn first_line(text: &str) -> String {
    text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim().to_owned()
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= COMBINATION_MAX {
        return text.to_owned();
    }
    text.chars().take(COMBINATION_MAX - 1).chain(['…']).collect()
}

/// Columns as wide as their widest cell; numbers to the right.
fn layout(cells: &[[String; 7]], rows: &[Row], paint: &Paint) -> String {
    let head = HEAD.map(str::to_owned);
    let width = |column: usize| {
        let all = cells.iter().chain([&head]).map(|row| row[column].chars().count());
        all.max().unwrap_or(0)
    };
    let widths: [usize; 7] = std::array::from_fn(width);
    let line = |row: &[String; 7], verdict: &dyn Fn(&str) -> String| {
        let mut parts: Vec<String> = Vec::new();
        for (column, text) in row.iter().enumerate() {
            let wide = widths[column];
            parts.push(match column {
                0 => format!("{text:<wide$}"),
                1 => verdict(&format!("{text:<wide$}")),
                6 => text.clone(),
                _ => format!("{text:>wide$}"),
            });
        }
        parts.join("  ").trim_end().to_owned() + "\n"
    };
    let mut out = paint.dim(line(&head, &str::to_owned).trim_end()) + "\n";
    for (row, cells) in rows.iter().zip(cells) {
        out += &line(cells, &|text| paint.toned(row.tone(), text));
    }
    out
}

fn summary(rows: &[Row], selected: usize, seconds: f64) -> String {
    let mut words: Vec<&str> = rows.iter().map(Row::word).collect();
    words.sort_unstable();
    let counted: Vec<String> =
        words.chunk_by(|a, b| a == b).map(|same| format!("{} {}", same.len(), same[0])).collect();
    let left = selected - rows.len();
    let left = if left > 0 { format!(", {left} not run") } else { String::new() };
    format!("{selected} scenarios: {}{left}; {}\n", counted.join(", "), duration(seconds))
}

fn commands(rows: &[Row], paint: &Paint) -> String {
    let first = |row: &Row| {
        let run = row.run().filter(|_| row.findings() > 0)?;
        Some(format!("  {}\n", paint.cyan(&escape(&format!("anabranch replay {run}#1")))))
    };
    let lines: String = rows.iter().filter_map(first).collect();
    if lines.is_empty() { String::new() } else { format!("\nSee them again\n{lines}") }
}
