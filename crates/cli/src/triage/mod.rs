//! Why an accident on roads happened and whose fault it was (S3-19, S3-20): it is run again with one thing changed, and what
//! prevents it is its cause (S3-32). The words are those of the T-junction of `crates/problems`.

mod blind_corner;
mod change;
mod fault;
mod scene;
#[cfg(test)]
mod tests;
mod told;

use anabranch_kernel::{Seed, System};
use anabranch_problems::{BlindCornerNote, Cause};
use anabranch_scenario::Drive;

use crate::explore::candidates::Candidate;
use crate::failure::Failure;
use crate::load::Loaded;

use change::{Again, Change};
pub use fault::Fault;
use scene::Scene;

/// The other car came as fast as this one, give or take a half: faster it would have passed, slower been avoided (S3-17).
const SIMILAR: std::ops::RangeInclusive<f64> = (1.0 / 1.5)..=1.5;

/// What is known about an accident.
#[derive(Clone, Debug)]
pub struct Triage {
    /// Why.
    pub cause: Cause,
    /// Whose fault.
    pub fault: Fault,
    /// Each change alone, and whether nothing happens with it; changes that change nothing in this scenario are left out.
    pub asked: Vec<(Change, bool)>,
    /// Names of the errors without which it does not happen.
    pub errors: Vec<String>,
    /// With whom, in words.
    pub with: String,
    /// How long he was in line of sight before the contact; nothing for what is no road user.
    pub visible_s: Option<f64>,
    /// How long the car had believed in him, if it did.
    pub believed_s: Option<f64>,
    /// Whether he braked.
    pub has_other_braked: bool,
    /// Low sun.
    pub is_twilight: bool,
    /// He came about as fast as the car.
    pub is_similar_speed: bool,
    /// What a map should carry about the corner, if that was the cause.
    pub blind_corner: Option<BlindCornerNote>,
}

impl Triage {
    /// Whether a change alone prevents it.
    pub fn is_prevented_by(&self, change: Change) -> bool {
        self.asked.contains(&(change, true))
    }
    /// The mechanism of S3-17: twilight, a sign seen late or a car hidden at first, of similar speed.
    pub fn is_published_mechanism(&self) -> bool {
        let is_late = self.is_prevented_by(Change::SignsKnown) || self.is_prevented_by(Change::NothingHides);
        self.is_twilight && self.is_prevented_by(Change::Daylight) && is_late && self.is_similar_speed
    }
}

/// Asks why a finding happened; nothing if it is no contact, or not on roads.
///
/// # Errors
/// When one of the runs cannot be computed.
pub fn of(loaded: &Loaded, drive: &Drive, seed: Seed, candidate: &Candidate) -> Result<Option<Triage>, Failure> {
    let (Some(road), Some(place)) = (&loaded.spec.road, candidate.verdict.place.as_ref()) else { return Ok(None) };
    let scene = Scene::record(loaded, drive, seed, candidate)?;
    let again = Again { loaded, drive, seed, candidate };
    let mut asked = Vec::new();
    for change in Change::ALONE.into_iter().filter(|change| change.matters(&loaded.spec)) {
        asked.push((change, again.ends_well(&[change])?));
    }
    let mut errors = Vec::new();
    for site in again.sites_used() {
        if again.ends_well(&[Change::ErrorOff(site)])? {
            errors.push(drive.errors().sites()[site].id.clone());
        }
    }
    let cause = cause(&again, &asked, scene.believed_s.is_some())?;
    let blind_corner = match cause {
        Cause::BlindCorner => blind_corner::note(drive, &scene)?,
        _ => None,
    };
    Ok(Some(Triage {
        cause,
        fault: fault::of(&loaded.spec, drive, &scene, place),
        errors,
        with: loaded.other_name(place.other),
        visible_s: scene.visible_s,
        believed_s: scene.believed_s,
        has_other_braked: scene.has_other_braked(),
        is_twilight: road.is_twilight,
        is_similar_speed: scene.speeds().is_some_and(|speeds| SIMILAR.contains(&speeds)),
        blind_corner,
        asked,
    }))
}

/// The cause is what prevents the accident; sight comes before manners.
fn cause(again: &Again<'_>, asked: &[(Change, bool)], is_believed: bool) -> Result<Cause, Failure> {
    let prevents = |change: Change| asked.contains(&(change, true));
    let is_seen_late = [Change::Daylight, Change::SignsKnown, Change::PerfectSensor].into_iter().any(prevents);
    if prevents(Change::NothingHides) && !is_seen_late {
        return Ok(Cause::BlindCorner);
    }
    if is_seen_late || again.ends_well(&Change::SEES_ALL)? {
        return Ok(if is_believed { Cause::DetectedLate } else { Cause::Missed });
    }
    let careful = [&Change::SEES_ALL[..], &[Change::CarefulDriver]].concat();
    Ok(if again.ends_well(&careful)? { Cause::TooAggressive } else { Cause::Unavoidable })
}
