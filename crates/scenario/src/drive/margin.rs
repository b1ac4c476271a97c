//! What the margin of a run measures: the clearance, and which requirements that is about.

use anabranch_kernel::{About, Margin};
use anabranch_monitors::{Level, Requirement, Rule, low_speed as signal};

use super::Drive;

/// Of the width of the car: 6 cm for most of them.
const NOTABLE_SHARE: f64 = 1.0 / 32.0;

impl Drive {
    /// The clearance that a *must* wants exceeded, and the *must* requirements that are not about clearance alone.
    pub(super) fn measured_margin(&self) -> Margin {
        let (mut limit, mut is_measured, mut left_out) = (0.0_f64, false, Vec::new());
        for must in self.requirements.list().iter().filter(|requirement| requirement.level == Level::Must) {
            match asks_m(must) {
                Some(least_m) => (limit, is_measured) = (limit.max(least_m), true),
                None => left_out.push(must.id.clone()),
            }
        }
        let about = match (left_out.is_empty(), is_measured) {
            (true, _) => About::All,
            (false, true) => About::AllBut(left_out),
            (false, false) => About::Nothing(left_out),
        };
        let notable = Some(NOTABLE_SHARE * 2.0 * self.model.spec.outline.half_width_m);
        Margin { unit: "m".to_owned(), limit, notable, about }
    }
}

/// The clearance that a requirement wants exceeded, if that is all it wants.
pub(super) fn asks_m(must: &Requirement) -> Option<f64> {
    let program = must.program()?;
    match must.rule {
        Rule::Never if program.is_truth(signal::CONTACT) => Some(0.0),
        Rule::Never => program.holds_up_to(signal::CLEARANCE),
        Rule::Always => program.holds_from(signal::CLEARANCE),
        Rule::Eventually { .. } | Rule::AtStart | Rule::AtFinish => None,
    }
}
