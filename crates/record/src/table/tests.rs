use super::*;

fn errors() -> Vec<String> {
    vec!["none".to_owned(), "jump: left, 0.1 m".to_owned(), "jump: \"right\"".to_owned()]
}

fn legend() -> Legend {
    let variable = |name: &str, unit: &str| GraphVariable { name: name.to_owned(), unit: unit.to_owned(), cell: None };
    Legend {
        errors: errors(),
        variables: vec![variable("x", "m"), variable("gear", ""), variable("speed, \"v\"", "m/s")],
    }
}

const CELLS: [Option<f64>; 3] = [Some(0.1), None, Some(0.05)];

/// Every fate, with and without cells, in more than one group of rows.
fn segments(count: u64) -> Vec<SegmentRow> {
    let row = |at: u64| SegmentRow {
        level: (at / 1_000) as u32,
        parent: at / 3,
        choice: (at % 3) as u16,
        fate: SegmentFate::ALL[(at % 6) as usize],
        cell: (!at.is_multiple_of(5)).then_some(at as u32 / 2),
        key: (!at.is_multiple_of(7)).then_some(u128::from(at) << 100 | u128::from(at)),
        margin: if at.is_multiple_of(11) { f64::INFINITY } else { at as f64 * -0.125 },
        apart: at.is_multiple_of(2).then_some(Difference { share: (at % 256) as f64 / 256.0, variable: at as u16 % 3 }),
    };
    (0..count).map(row).collect()
}

fn states() -> Vec<StateRow> {
    let row = |node: u64| StateRow {
        node,
        level: node as u32,
        parent: node.checked_sub(1),
        choice: (node % 3) as u16,
        cell: (node > 1).then_some(u32::MAX),
        pose: [node as f64, -0.5, 0.1],
    };
    (0..4).map(row).collect()
}

fn write(folder: &Path, format: TableFormat, segments: &[SegmentRow]) {
    let mut tables = GraphTables::create(folder, format, legend()).unwrap();
    segments.iter().for_each(|row| tables.segment(row));
    states().iter().for_each(|row| tables.state(row));
    tables.finish(Whole::No, &CELLS).unwrap();
}

#[test]
fn what_was_written_is_read_back_over_several_groups() {
    let folder = tempfile::tempdir().unwrap();
    let rows = segments(GROUP_ROWS as u64 + 5);
    write(folder.path(), TableFormat::Parquet, &rows);
    assert_eq!(read_segments(&folder.path().join("segments.parquet")).unwrap(), rows);
    assert_eq!(read_states(&folder.path().join("states.parquet")).unwrap(), states());
    assert_eq!(read_errors(&folder.path().join("segments.parquet")).unwrap(), errors());
    let variables = read_variables(&folder.path().join("states.parquet")).unwrap();
    assert_eq!(variables.iter().map(|variable| variable.cell).collect::<Vec<_>>(), CELLS);
    assert_eq!((&variables[2].name[..], &variables[2].unit[..]), ("speed, \"v\"", "m/s"));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "nothing unfinished is left");
}

#[test]
fn equal_rows_are_equal_bytes() {
    let bytes = || {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), TableFormat::Parquet, &segments(5_000));
        ["segments.parquet", "states.parquet"].map(|name| std::fs::read(folder.path().join(name)).unwrap())
    };
    assert_eq!(bytes(), bytes());
}

#[test]
fn csv_has_the_same_columns_and_quotes_what_needs_it() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), TableFormat::Csv, &segments(3));
    let text = std::fs::read_to_string(folder.path().join("segments.csv")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "level,parent,choice,error,fate,cell,key_high,key_low,margin_m,apart,apart_variable");
    assert_eq!(lines[1], "0,0,0,none,kept,,,,inf,0,x");
    assert_eq!(lines[2], "0,0,1,\"jump: left, 0.1 m\",merged,0,68719476736,1,-0.125,,");
    assert!(lines[3].ends_with("-0.25,0.0078125,\"speed, \"\"v\"\"\""), "{}", lines[3]);
    assert!(lines[3].contains("\"jump: \"\"right\"\"\""), "{}", lines[3]);
    let text = std::fs::read_to_string(folder.path().join("states.csv")).unwrap();
    assert_eq!(text.lines().nth(1).unwrap(), "0,0,,0,,,0,-0.5,0.1");
}

/// Tables of versions that did not store distances.
#[test]
fn a_table_without_distances_is_still_read() {
    let folder = tempfile::tempdir().unwrap();
    let columns: &'static [Column] = &SEGMENT_COLUMNS[..9];
    let mut table = Table::create(folder.path(), SEGMENTS, TableFormat::Parquet, columns, &legend()).unwrap();
    let rows = segments(100);
    for row in &rows {
        let mut all: Vec<Values> = SEGMENT_COLUMNS.iter().map(|column| Values::empty(column.kind)).collect();
        all[..9].swap_with_slice(&mut table.values);
        sheet::put_segment(&mut all, row);
        all[..9].swap_with_slice(&mut table.values);
        table.rows += 1;
    }
    table.write_group();
    let Sheet::Parquet(sheet) = table.sheet else { unreachable!("it was created so") };
    publish::finish(sheet.finish_as_before(&table.path).unwrap(), &table.path).unwrap();
    let before: Vec<SegmentRow> = rows.into_iter().map(|row| SegmentRow { apart: None, ..row }).collect();
    assert_eq!(read_segments(&table.path).unwrap(), before);
    assert_eq!(read_variables(&table.path).unwrap(), []);
    assert_eq!(read_errors(&table.path).unwrap(), errors());
}

#[test]
fn a_damaged_table_is_an_error_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), TableFormat::Parquet, &segments(100));
    let path = folder.path().join("segments.parquet");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.truncate(bytes.len() / 2);
    std::fs::write(&path, bytes).unwrap();
    assert!(read_segments(&path).is_err());
    assert!(read_segments(&folder.path().join("states.parquet")).is_err(), "another table");
}
