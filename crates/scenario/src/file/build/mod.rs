//! Second pass: from a document of the right shape to the typed scenario, with the checks that need meaning.

mod driver;
mod ego;
mod error;
mod explore;
mod ground;
mod helper;
mod light;
mod localisation;
mod model;
mod object;
mod plain;
mod probability;
mod road;
pub(crate) mod script;
pub(super) mod search;
pub(crate) mod sensor;
mod vehicle;
pub(crate) mod way;
mod world;

use super::Hooks;
use super::codes::Code;
use super::error_spec::{ErrorKind, ErrorSpec};
use super::keys;
use super::problems::Problems;
use super::road_spec::RoadSpec;
use super::span::Located;
use super::spec::{ObstacleSpec, ScenarioSpec, WorldSpec};
use super::view::View;
use super::words::Expect;

/// Everything the file says; `None` if a part could not be made sense of, with a problem that says why.
pub(super) fn build(problems: &mut Problems<'_>, hooks: &Hooks<'_>) -> Option<ScenarioSpec> {
    let root = View::new(&problems.document.root, &keys::ROOT);
    let world = root.table("world").and_then(|view| world::build(problems, view, hooks));
    let laid = road::build(problems, root, hooks);
    if laid.is_none() && root.get("road").is_some() {
        return None;
    }
    if laid.is_none() {
        light::refuse(problems, root);
    }
    let road = laid.as_ref().map(|laid| object::build(problems, root, laid));
    let step_s = world.as_ref().map_or(Located::new(0.01, root.span()), |world| world.step_s);
    let ego = root.table("ego").and_then(|view| ego::build(problems, view, laid.as_ref(), (hooks, step_s)));
    let explore = root.table("explore").and_then(|view| explore::build(problems, view));
    let requirements = explore::requirements(problems, root);
    let zones = root.table("world").and_then(|view| ground::zones(problems, view, laid.as_ref()));
    let mut world = world?;
    if let Some(tiles) = world.tiles.as_ref().filter(|_| laid.is_none()) {
        let message = "`tiles` needs a road";
        problems.add(Code::MissingKey, tiles.name.span, message, "add [road], or use walls and obstacles");
    }
    world.zones = zones?;
    if let Some(ego) = &ego {
        way::check(problems, ego, &world.obstacles, laid.as_ref());
    }
    let road = match road {
        Some(road) => Some(road?),
        None => None,
    };
    let helpers = helper::build(problems, root, road.as_ref(), ego.as_ref())?;
    let errors =
        error::build_all(problems, root, &error_targets(&world.obstacles, road.as_ref()), road.as_ref(), &helpers);
    if let (Some(ego), Some(errors)) = (&ego, &errors) {
        ground::check(problems, ego, &world, errors);
    }
    check_fired(problems, errors.as_deref().unwrap_or_default(), &world, road.as_ref());
    Some(ScenarioSpec {
        name: root.text("name")?,
        about: root.text("about")?.value,
        ego: ego?,
        explore: explore?,
        requirements: requirements?,
        errors: errors?,
        helpers,
        search: search::build(root)?,
        limits: error::limits(root),
        road,
        expect: root
            .table("test")
            .map_or(Some(Expect::NotFound), |t| Some(t.word("expect", Expect::from_word)?.value))?,
        world,
    })
}

/// Everything that an error can be about: obstacles, then objects, then triggers, so that one list of numbers serves all.
fn error_targets(obstacles: &[ObstacleSpec], road: Option<&RoadSpec>) -> Vec<ObstacleSpec> {
    let target = |id: &Located<String>, present: bool, ghost: bool| ObstacleSpec {
        id: id.clone(),
        corners: Vec::new(),
        shape_span: id.span,
        known: false,
        present: present && !ghost,
        ghost,
    };
    let objects = road.map_or(&[][..], |road| &road.objects);
    let triggers = road.map_or(&[][..], |road| &road.triggers);
    let objects = objects.iter().map(|object| target(&object.id, !object.waits, object.ghost));
    let triggers = triggers.iter().map(|trigger| target(&trigger.id, false, false));
    obstacles.iter().cloned().chain(objects).chain(triggers).collect()
}

/// Complains about errors on triggers that do anything else than fire them.
fn check_fired(problems: &mut Problems<'_>, errors: &[ErrorSpec], world: &WorldSpec, road: Option<&RoadSpec>) {
    let first = world.obstacles.len() + road.map_or(0, |road| road.objects.len());
    for error in errors {
        if let ErrorKind::Late { obstacle, .. }
        | ErrorKind::Displaced { obstacle, .. }
        | ErrorKind::Flipped { obstacle }
        | ErrorKind::Missed { obstacle } = &error.kind.value
            && *obstacle >= first
        {
            let help = "write appears = {}, or name an object";
            problems.add(Code::WrongObstacle, error.kind.span, "an error can only fire a trigger", help);
        }
    }
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
