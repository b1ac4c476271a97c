//! Tables as Parquet. The bytes depend on the rows alone: no time, no machine, no thread.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Encoding, LogicalType, Repetition, Type as Physical};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, Type};
use tempfile::NamedTempFile;

use super::sheet::{Column, Kind, NO_WORD, Values};
use super::{GRAPH_SCHEMA, Legend, SegmentFate, Whole};
use crate::error::{RecordError, short};

/// Where the descriptions of all errors are, as a JSON list by choice.
pub(super) const ERRORS_KEY: &str = "errors";
/// Where name, unit and cell size of all variables are, as a JSON list by number.
pub(super) const VARIABLES_KEY: &str = "variables";

/// A Parquet file that grows by groups of rows.
pub(super) struct ParquetSheet {
    /// Gives the file its name at the end.
    file: NamedTempFile,
    /// The same open file; written without its name, so that what the system says is not wrapped.
    writer: SerializedFileWriter<File>,
    columns: &'static [Column],
    errors: Vec<ByteArray>,
    fates: Vec<ByteArray>,
    variables: Vec<ByteArray>,
}

impl fmt::Debug for ParquetSheet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParquetSheet").field("columns", &self.columns).finish_non_exhaustive()
    }
}

impl ParquetSheet {
    pub fn create(
        file: NamedTempFile,
        path: &Path,
        columns: &'static [Column],
        legend: &Legend,
    ) -> Result<Self, RecordError> {
        let schema = schema(columns).map_err(failed(path))?;
        let same = file.as_file().try_clone().map_err(RecordError::io("write", path))?;
        let writer = SerializedFileWriter::new(same, Arc::new(schema), Arc::new(properties(columns, &legend.errors)));
        let text = |text: &str| ByteArray::from(text.as_bytes().to_vec());
        let errors = legend.errors.iter().map(|error| text(error)).collect();
        let variables = legend.variables.iter().map(|variable| text(&variable.name)).collect();
        let fates = SegmentFate::ALL.iter().map(|fate| text(fate.word())).collect();
        Ok(Self { file, writer: writer.map_err(failed(path))?, columns, errors, fates, variables })
    }

    pub fn write(&mut self, path: &Path, values: &[Values]) -> Result<(), RecordError> {
        self.write_group(values).map_err(failed(path))
    }

    fn write_group(&mut self, values: &[Values]) -> Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        for (values, column) in values.iter().zip(self.columns) {
            let Some(mut writer) = group.next_column()? else {
                return Err(ParquetError::General(format!("there is no column `{}`", column.name)));
            };
            let optional = is_optional(column.kind);
            let levels = |there: &'_ [i16]| optional.then(|| there.to_vec());
            match (writer.untyped(), values) {
                (ColumnWriter::Int32ColumnWriter(out), Values::Narrow { there, values }) => {
                    out.write_batch(values, levels(there).as_deref(), None)?;
                }
                (ColumnWriter::Int64ColumnWriter(out), Values::Wide { there, values }) => {
                    out.write_batch(values, levels(there).as_deref(), None)?;
                }
                (ColumnWriter::DoubleColumnWriter(out), Values::Real(values)) => {
                    out.write_batch(values, None, None)?;
                }
                (ColumnWriter::DoubleColumnWriter(out), Values::Share { there, values }) => {
                    out.write_batch(values, levels(there).as_deref(), None)?;
                }
                (ColumnWriter::ByteArrayColumnWriter(out), Values::Word(words)) => {
                    let list = match column.kind {
                        Kind::Fate => &self.fates,
                        Kind::VariableOrNothing => &self.variables,
                        _ => &self.errors,
                    };
                    let there: Vec<i16> = words.iter().map(|word| i16::from(*word != NO_WORD)).collect();
                    let words = words.iter().filter(|word| **word != NO_WORD);
                    let texts: Vec<ByteArray> = words.map(|word| list[usize::from(*word)].clone()).collect();
                    out.write_batch(&texts, optional.then_some(&there), None)?;
                }
                _ => return Err(ParquetError::General(format!("`{}` has another type", column.name))),
            }
            writer.close()?;
        }
        group.close().map(|_| ())
    }

    /// A table as earlier versions wrote it, which said nothing about variables.
    #[cfg(test)]
    pub fn finish_as_before(mut self, path: &Path) -> Result<NamedTempFile, RecordError> {
        self.writer.finish().map_err(failed(path))?;
        Ok(self.file)
    }

    /// `variables` describes all variables in JSON: their cells are not known from the beginning.
    pub fn finish(mut self, path: &Path, whole: Whole, variables: String) -> Result<NamedTempFile, RecordError> {
        let complete = if whole == Whole::Yes { "true" } else { "false" };
        self.writer.append_key_value_metadata(KeyValue::new("complete".to_owned(), complete.to_owned()));
        self.writer.append_key_value_metadata(KeyValue::new(VARIABLES_KEY.to_owned(), variables));
        self.writer.finish().map_err(failed(path))?;
        Ok(self.file)
    }
}

fn is_optional(kind: Kind) -> bool {
    match kind {
        Kind::Small | Kind::Number | Kind::Real | Kind::Fate => false,
        Kind::NumberOrNothing | Kind::CellOrNothing | Kind::KeyOrNothing => true,
        Kind::Error | Kind::ShareOrNothing | Kind::VariableOrNothing => true,
    }
}

fn schema(columns: &[Column]) -> Result<Type, ParquetError> {
    let field = |column: &Column| {
        let (physical, logical) = match column.kind {
            Kind::Small | Kind::CellOrNothing => (Physical::INT32, Some(LogicalType::integer(32, false))),
            Kind::Number | Kind::NumberOrNothing | Kind::KeyOrNothing => {
                (Physical::INT64, Some(LogicalType::integer(64, false)))
            }
            Kind::Real | Kind::ShareOrNothing => (Physical::DOUBLE, None),
            Kind::Error | Kind::Fate | Kind::VariableOrNothing => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let repetition = if is_optional(column.kind) { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        let builder = Type::primitive_type_builder(column.name, physical);
        builder.with_repetition(repetition).with_logical_type(logical).build().map(Arc::new)
    };
    let fields = columns.iter().map(field).collect::<Result<_, _>>()?;
    Type::group_type_builder("graph").with_fields(fields).build()
}

/// Words, shares and small numbers go through a dictionary, numbers that grow are stored as differences, and what looks like
/// chance is stored as it is: nothing would make it smaller.
fn properties(columns: &[Column], errors: &[String]) -> WriterProperties {
    let about = |key: &str, value: String| KeyValue::new(key.to_owned(), value);
    let schema = about("schema", GRAPH_SCHEMA.to_owned());
    let errors = about(ERRORS_KEY, serde_json::json!(errors).to_string());
    let mut builder = WriterProperties::builder()
        .set_created_by(format!("anabranch {}", env!("CARGO_PKG_VERSION")))
        .set_key_value_metadata(Some(vec![schema, errors]))
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true);
    for column in columns {
        let path = ColumnPath::from(column.name);
        builder = match column.kind {
            Kind::Small => builder.set_column_statistics_enabled(path, EnabledStatistics::Chunk),
            Kind::Error | Kind::Fate | Kind::ShareOrNothing | Kind::VariableOrNothing => builder,
            Kind::Number | Kind::NumberOrNothing | Kind::CellOrNothing => builder
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED),
            Kind::Real | Kind::KeyOrNothing => builder.set_column_dictionary_enabled(path, false),
        };
    }
    builder.build()
}

/// For `map_err`: names the file, and what the system said if it was the system.
pub(super) fn failed(path: &Path) -> impl FnOnce(ParquetError) -> RecordError {
    move |error| match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(refused) => RecordError::io("write", path)(*refused),
            Err(other) => RecordError::Table { file: short(path), why: other.to_string() },
        },
        other => RecordError::Table { file: short(path), why: other.to_string() },
    }
}
