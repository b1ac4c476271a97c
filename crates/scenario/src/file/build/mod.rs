//! Second pass: from a document of the right shape to the typed scenario, with the checks that need meaning.

mod driver;
mod ego;
mod error;
mod explore;
mod probability;
mod vehicle;
mod world;

use super::codes::Code;
use super::keys;
use super::problems::Problems;
use super::span::Located;
use super::spec::ScenarioSpec;
use super::view::View;
use super::words::Expect;

/// Everything the file says; `None` if a part could not be made sense of, with a problem that says why.
pub(super) fn build(problems: &mut Problems<'_>) -> Option<ScenarioSpec> {
    let root = View::new(&problems.document.root, &keys::ROOT);
    let world = root.table("world").and_then(|view| world::build(problems, view));
    let ego = root.table("ego").and_then(|view| ego::build(problems, view));
    let explore = root.table("explore").and_then(|view| explore::build(problems, view));
    let requirements = explore::requirements(problems, root);
    let world = world?;
    let errors = error::build_all(problems, root, &world.obstacles);
    Some(ScenarioSpec {
        name: root.text("name")?,
        about: root.text("about")?.value,
        ego: ego?,
        explore: explore?,
        requirements: requirements?,
        errors: errors?,
        limits: error::limits(root),
        expect: root
            .table("test")
            .map_or(Some(Expect::NotFound), |t| Some(t.word("expect", Expect::from_word)?.value))?,
        world,
    })
}

/// Complains about ids that occur before.
fn check_ids<'i>(problems: &mut Problems<'_>, what: &str, ids: impl IntoIterator<Item = &'i Located<String>>) {
    let mut seen = std::collections::BTreeSet::new();
    for id in ids {
        if !seen.insert(id.value.as_str()) {
            let message = format!("another {what} is called `{}` already", id.value);
            problems.add(Code::DuplicateId, id.span, message, "give each its own id");
        }
    }
}
