//! Other values for a leaf of a state.

use super::tree::Tree;

/// Changes of whole numbers.
const WHOLE_STEPS: [u128; 6] = [1, 2, 10, 1_000, 100_000, 1 << 33];
/// Variants that are tried instead of another one.
const VARIANTS: u32 = 12;

impl Tree {
    /// Other values for a leaf.
    pub(super) fn changes(&self, steps: &[f64]) -> Vec<Tree> {
        match self {
            Tree::Truth(value) => vec![Tree::Truth(!value)],
            Tree::Real(value) if !value.is_finite() => vec![Tree::Real(0.0), Tree::Real(1.0)],
            Tree::Real(value) => steps.iter().flat_map(|by| [value + by, value - by]).map(Tree::Real).collect(),
            Tree::Single(value) => {
                steps.iter().flat_map(|by| [value + *by as f32, value - *by as f32]).map(Tree::Single).collect()
            }
            Tree::Unsigned(value) => {
                let both = |by: u128| [value.checked_add(by), value.checked_sub(by)];
                WHOLE_STEPS.into_iter().flat_map(both).flatten().map(Tree::Unsigned).collect()
            }
            Tree::Signed(value) => {
                let both = |by: u128| [value.checked_add_unsigned(by), value.checked_sub_unsigned(by)];
                WHOLE_STEPS.into_iter().flat_map(both).flatten().map(Tree::Signed).collect()
            }
            Tree::Letter(value) => vec![Tree::Letter(if *value == 'a' { 'b' } else { 'a' })],
            Tree::Text(value) => vec![Tree::Text(format!("{value}x"))],
            Tree::Bytes(value) => vec![Tree::Bytes(value.iter().copied().chain([1]).collect())],
            Tree::Absent => vec![Tree::Present(Box::new(Tree::MadeUp))],
            Tree::Present(_) => vec![Tree::Absent],
            Tree::Variant { index, .. } => {
                let other = |index: u32| Tree::Variant { index, name: "", inner: Box::new(Tree::MadeUp) };
                (0..VARIANTS).filter(|other| other != index).map(other).collect()
            }
            Tree::List(items) => lengths(items).into_iter().map(Tree::List).collect(),
            Tree::Map(entries) => match entries.split_last() {
                Some((_, rest)) => vec![Tree::Map(rest.to_vec())],
                None => vec![Tree::Map(vec![(Tree::MadeUp, Tree::MadeUp)])],
            },
            _ => Vec::new(),
        }
    }

    /// In a few words.
    pub(super) fn short(&self) -> String {
        match self {
            Tree::Variant { index, .. } => format!("variant {index}"),
            Tree::List(items) => format!("{} items", items.len()),
            Tree::Map(entries) => format!("{} entries", entries.len()),
            Tree::Present(_) => "present".to_owned(),
            Tree::Absent => "absent".to_owned(),
            Tree::Truth(value) => value.to_string(),
            Tree::Real(value) => value.to_string(),
            Tree::Single(value) => value.to_string(),
            Tree::Unsigned(value) => value.to_string(),
            Tree::Signed(value) => value.to_string(),
            other => format!("{other:?}"),
        }
    }
}

/// One item less, and one more: again the last one, and one of zeros, which a sum over all items does not show.
fn lengths(items: &[Tree]) -> Vec<Vec<Tree>> {
    let longer = |by: &Tree| items.iter().cloned().chain([by.clone()]).collect();
    let shorter = items.split_last().map(|(_, rest)| rest.to_vec());
    items.last().map(longer).into_iter().chain([longer(&Tree::MadeUp)]).chain(shorter).collect()
}
