//! `check av.py`: what a program says of itself, and whether it keeps that.

use std::path::Path;

use anabranch_bridge::{Card, Claim, Probe, Role, WorldSystem, check_claims};
use anabranch_kernel::Seed;
use serde_json::{Value, json};

use super::{Patience, card_json, fleet_of};
use crate::escape::escape;
use crate::failure::Failure;
use crate::screen::Paint;

/// What must hold before anything can be compared.
const PLAIN_RUN: &str = "a plain run from the start goes well";

/// A program that was tried.
#[derive(Debug)]
pub struct Tried {
    card: Card,
    claims: Vec<Claim>,
}

impl Tried {
    /// Starts a program, reads its card and tries what it claims.
    pub fn of(path: &Path) -> Result<Self, Failure> {
        let fleet = fleet_of(path, 1, Patience::Usual)?;
        let card = fleet.card().clone();
        if card.role == Role::World {
            let world = WorldSystem::new(fleet)
                .map_err(|error| Failure::input(format!("`{}`: {error}", path.display()), ""))?;
            return Ok(Self { card, claims: world.check(Seed(0)) });
        }
        let claims = check_claims(&fleet, &Probe::of(&card))
            .unwrap_or_else(|wrong| vec![Claim { claim: PLAIN_RUN, broken: Some(wrong) }]);
        Ok(Self { card, claims })
    }

    /// Whether everything it claims was kept.
    pub fn is_kept(&self) -> bool {
        self.claims.iter().all(|claim| claim.broken.is_none())
    }

    /// What keeps a world from being explored to a verdict.
    fn warnings(&self) -> Vec<String> {
        let why = self.card.world.as_ref().and_then(|world| world.nothing_to_judge());
        let help = "`explore` has nothing to judge; name a `must`";
        why.into_iter().map(|why| format!("{why} and {help}")).collect()
    }

    fn role(&self) -> &'static str {
        self.card.role.word()
    }

    /// For people: one line, and one for each claim.
    pub fn human(&self, paint: &Paint, file: &str) -> String {
        let word = if self.is_kept() { paint.green("ok") } else { paint.red("broken") };
        let size = self.card.world.as_deref().map_or_else(String::new, |world| {
            let modes: Vec<String> = world.sites.iter().map(|site| site.modes.len().to_string()).collect();
            let sites = if modes.is_empty() { "no".to_owned() } else { modes.join(" × ") };
            format!(", {sites} choices in each of {} segments", world.segments_max)
        });
        let title = escape(&self.card.title());
        let mut out = format!("{word} {file}: {} {title}, {}{size}\n", self.role(), self.card.support_words());
        for claim in &self.claims {
            out += &format!("   {}\n", escape(&claim.to_string().replace('\n', " ")));
        }
        for warning in self.warnings() {
            out += &format!("   {}: {warning}\n", paint.yellow("warning"));
        }
        out
    }

    /// For machines.
    pub fn to_json(&self, file: &str) -> Value {
        let claim = |claim: &Claim| {
            json!({
                "claim": claim.claim,
                "kept": claim.broken.is_none(),
                "broken": claim.broken.as_ref().map(ToString::to_string),
            })
        };
        let mut card = card_json(&self.card);
        card["role"] = json!(self.role());
        let claims: Value = self.claims.iter().map(claim).collect();
        let warnings = self.warnings();
        json!({ "file": file, "ok": self.is_kept(), "card": card, "claims": claims, "diagnostics": [], "warnings": warnings })
    }
}
