//! What a search asks about values it varies.

use super::build::search::kind_at;
use super::inline::text_of;
use super::keys::Kind;
use super::tree::{Document, Node};

impl Document {
    /// Whether the value of a path is a whole number that counts something.
    pub fn counts(&self, path: &str) -> bool {
        matches!(kind_at(path), Some(Kind::Count { .. }))
    }
    /// How many `[[object]]` there are.
    pub fn object_count(&self) -> usize {
        self.root.get("object").map_or(0, |node| node.items().len())
    }
    /// The first so many `[[object]]`, as the value of an override of `object`.
    pub fn first_objects(&self, count: usize) -> String {
        let items = self.root.get("object").map_or(&[][..], Node::items);
        let kept: Vec<String> = items.iter().take(count).map(text_of).collect();
        format!("[{}]", kept.join(", "))
    }
    /// The kind that the error of this id is of, as written: `offset`.
    pub fn error_kind(&self, id: &str) -> Option<&'static str> {
        let errors = self.root.get("error").map_or(&[][..], Node::items);
        let error = errors.iter().find(|error| error.get("id").and_then(Node::text) == Some(id))?;
        super::keys::ERROR_KINDS.iter().find(|kind| error.get(kind).is_some()).copied()
    }
}
