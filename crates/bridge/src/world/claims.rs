//! What is tried before a world is explored: the claims of its card, and runs side by side against runs from the start.

use std::sync::PoisonError;
use std::time::Duration;

use anabranch_kernel::{Chance, Choice, Choices, Job, Params, Seed, SegmentEnd, System, Twice};

use super::WorldSystem;
use crate::claims::{Claim, Probe, check_claims_while};
use crate::clock::now;
use crate::misbehaviour::{Kind, Misbehaviour};

/// Without a run there is nothing to compare with.
const PLAIN_RUN: &str = "a plain run from the start goes well";
const SIDE_BY_SIDE: &str = "runs beside each other, saved and loaded, are those of a new instance from the start";
/// Random runs beside each other.
const RUNS: u64 = 24;
/// Time for these, and again for running them a second time.
const TIME: Duration = Duration::from_secs(2);

impl WorldSystem {
    /// Tries what the world claims, in a few seconds. What was found is known from then on; nothing else stays.
    pub fn check(&self, seed: Seed) -> Vec<Claim> {
        self.check_while(seed, &|| true)
    }
    /// The same, and less of it where there is no time.
    pub fn check_while(&self, seed: Seed, goes_on: &(dyn Fn() -> bool + Sync)) -> Vec<Claim> {
        let mut claims = match check_claims_while(&self.fleet, &Probe::of(self.fleet.card()), goes_on) {
            Ok(claims) => claims,
            Err(wrong) => vec![Claim { claim: PLAIN_RUN, broken: Some(wrong) }],
        };
        let began = now();
        self.run_side_by_side(seed, &|| began.elapsed() < TIME && goes_on());
        let began = now();
        self.double(Twice::Whole, &|| began.elapsed() < TIME && goes_on());
        let differs = self.differences().into_iter().next();
        let wrong = |text: String| Misbehaviour::new(Kind::Nondeterministic, text);
        claims.push(Claim { claim: SIDE_BY_SIDE, broken: differs.map(|differs| wrong(differs.text)) });
        self.forget();
        // What could not be tried is not broken, and what was not tried altogether is not checked.
        let tried = claims.len();
        claims.retain(|claim| !claim.broken.as_ref().is_some_and(Misbehaviour::is_cut_off));
        let is_whole = claims.len() == tried || claims.iter().any(|claim| claim.broken.is_some());
        *self.claims.lock().unwrap_or_else(PoisonError::into_inner) = is_whole.then(|| claims.clone());
        claims
    }
    /// Claims that were tried and are not kept. A run that fails, from the start and alone, breaks none of them.
    pub fn broken_claims(&self) -> Vec<Claim> {
        let claims = self.claims.lock().unwrap_or_else(PoisonError::into_inner);
        let broken = |claim: &&Claim| claim.broken.is_some() && claim.claim != PLAIN_RUN;
        claims.iter().flatten().filter(broken).cloned().collect()
    }
    /// Why *safe* must not be said as far as claims go.
    pub(super) fn doubts_about_claims(&self) -> Option<String> {
        if let Some(name) = self.hidden.changed_constants().first() {
            return Some(format!("the world changes {name}, which it declares constant"));
        }
        let claims = self.claims.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(claims) = &*claims else { return Some("what the world claims was not checked".to_owned()) };
        let (claim, wrong) = claims.iter().find_map(|claim| Some((claim.claim, claim.broken.as_ref()?)))?;
        Some(format!("the world does not keep what it claims: {claim} ({wrong})"))
    }

    /// Random runs, all of them a segment at a time, so that their states are saved and loaded in turns.
    fn run_side_by_side(&self, seed: Seed, goes_on: &dyn Fn() -> bool) {
        let Ok(start) = self.start(seed, &Params::default()) else { return };
        let mut runs: Vec<(u64, Job<_>)> = (0..RUNS).map(|n| (n, Job::new(start.clone(), Choice::NONE))).collect();
        let mut live = Choices::new();
        for segment in 0..u64::from(self.world.segments_max) {
            if runs.is_empty() || !goes_on() || self.gone().is_some() {
                return;
            }
            for (n, job) in &mut runs {
                self.live(&job.state, &mut live);
                let drawn = Chance::new(seed, "claims").at(*n).below(segment, live.len() as u64);
                job.choice = live[drawn as usize];
            }
            let (numbers, mut jobs): (Vec<u64>, Vec<Job<_>>) = runs.into_iter().unzip();
            self.run_many(&mut jobs);
            let open = |(_, job): &(u64, Job<_>)| job.end == Ok(SegmentEnd::Open);
            runs = numbers.into_iter().zip(jobs).filter(open).collect();
        }
    }

    /// Forgets what was run: an exploration begins with nothing behind it.
    fn forget(&self) {
        self.sample.clear();
        self.pairs.clear();
        self.hidden.clear();
        *self.twice.lock().unwrap_or_else(PoisonError::into_inner) = super::twice::Doubled::default();
        self.faults.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.incidents.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
