//! From what is known to what is concluded.

use crate::conclusion::{Conclusion, Findings, Ground, Stop, Unfinished, Unsteady, Why};
use crate::coverage::{Coverage, Resolution};

/// Everything that a verdict may rest on. What nobody filled in never makes a pass.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// Why there is no path to drive, where there is none.
    pub no_path: Option<String>,
    /// What violates a requirement and was run again from the start.
    pub findings: Findings,
    /// What did not come out the same way again, in words.
    pub unstable: Vec<String>,
    /// What was found and could not be run again.
    pub unconfirmed: u64,
    /// What ended it before its end.
    pub stop: Option<Stop>,
    /// What ended the work that followed: confirming, causes, pictures.
    pub cut_short: Option<Stop>,
    /// Segments that could not be computed.
    pub faults: u64,
    /// Why the code under test is gone for good, where it is.
    pub gone: Option<String>,
    /// A proof, or every sequence run.
    pub ground: Option<Ground>,
    /// States that count as alike went apart because of something that is not compared: the first such pair, in words.
    pub parted: Option<String>,
    /// How much of all runs was covered.
    pub coverage: Coverage,
    /// The bound on what was missed, where one was asked for.
    pub resolution: Option<Resolution>,
    /// Whether there is something to judge, and whether all of it was.
    pub musts: Musts,
    /// Limits of the error model, in words.
    pub limits: Vec<String>,
    /// The smallest margin that was seen, where margins are measured.
    pub margin: Option<f64>,
    /// Requirements of which nothing measures how narrowly they were met.
    pub unmeasured: Vec<String>,
}

/// What is required.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Musts {
    /// Every requirement was judged.
    Judged,
    /// A shortened run could not judge these.
    NotJudged(Vec<String>),
    /// There is no requirement.
    Missing(String),
}

/// Something beside the verdict that a person should know.
#[derive(Clone, Debug, PartialEq)]
pub enum Remark {
    /// The margin was negative and no requirement was violated.
    NegativeMargin(f64),
    /// There is a verdict although requirements were not judged.
    NotJudged(Vec<String>),
    /// Nothing was found, and nothing measures how narrowly these requirements were met.
    Unmeasured(Vec<String>),
}

impl Default for Evidence {
    fn default() -> Self {
        Self {
            no_path: None,
            findings: Findings::default(),
            unstable: Vec::new(),
            unconfirmed: 0,
            stop: None,
            cut_short: None,
            faults: 0,
            gone: None,
            ground: None,
            parted: None,
            coverage: Coverage::Unknown { why: "coverage was not measured".to_owned() },
            resolution: None,
            musts: Musts::Judged,
            limits: Vec::new(),
            margin: None,
            unmeasured: Vec::new(),
        }
    }
}

impl Evidence {
    /// Of a system for which there is no path to drive.
    pub fn without_path(why: impl Into<String>) -> Self {
        Self { no_path: Some(why.into()), ..Self::default() }
    }

    /// Why not every error sequence was followed to its end, or not everything found was run again.
    pub fn unfinished(&self) -> Option<Unfinished> {
        if let (Some(stop), true) = (&self.cut_short, self.unconfirmed > 0) {
            return Some(Unfinished::NotConfirmed { findings: self.unconfirmed, stop: stop.clone() });
        }
        if let Some(stop) = &self.stop {
            return Some(Unfinished::Stopped(stop.clone()));
        }
        if self.faults > 0 || self.unconfirmed > 0 || self.gone.is_some() {
            let (segments, unconfirmed, gone) = (self.faults, self.unconfirmed, self.gone.clone());
            return Some(Unfinished::NotComputed { segments, unconfirmed, gone });
        }
        None
    }

    /// Whether everything was explored, and everything found was run again.
    pub fn is_complete(&self) -> bool {
        self.unfinished().is_none()
    }

    /// Why it ended early, in words; empty if it did not.
    pub fn stop_words(&self) -> String {
        self.unfinished().map_or_else(String::new, |why| why.to_string())
    }

    /// What a person should know beside the verdict.
    pub fn remarks(&self) -> Vec<Remark> {
        let mut all = Vec::new();
        if let Some(margin) = self.margin.filter(|margin| *margin < 0.0 && self.findings.sequences == 0) {
            all.push(Remark::NegativeMargin(margin));
        }
        // Where that is the verdict, it says so itself.
        let is_verdict = matches!(conclude(self), Conclusion::Incomplete(Unfinished::NotJudged { .. }));
        if let (Musts::NotJudged(musts), false) = (&self.musts, is_verdict) {
            all.push(Remark::NotJudged(musts.clone()));
        }
        if matches!(conclude(self), Conclusion::NotFound { .. }) && !self.unmeasured.is_empty() {
            all.push(Remark::Unmeasured(self.unmeasured.clone()));
        }
        all
    }
}

/// The verdict. The first of these that applies wins; `docs/verdicts.md` has the same table for people.
pub fn conclude(evidence: &Evidence) -> Conclusion {
    if let Some(why) = &evidence.no_path {
        return Conclusion::NoPath(why.clone());
    }
    if let Some(first) = evidence.unstable.first() {
        return Conclusion::NotReproducible(Unsteady { cases: evidence.unstable.len() as u64, first: first.clone() });
    }
    if evidence.findings.sequences > 0 {
        return Conclusion::Violated(evidence.findings);
    }
    if let Musts::Missing(why) = &evidence.musts {
        return Conclusion::NothingToJudge(why.clone());
    }
    if let Some(unfinished) = evidence.unfinished() {
        return Conclusion::Incomplete(unfinished);
    }
    if let Musts::NotJudged(musts) = &evidence.musts {
        return Conclusion::Incomplete(Unfinished::NotJudged { musts: musts.clone() });
    }
    if let Some(ground) = evidence.ground {
        return Conclusion::Safe(Why { ground, limits: evidence.limits.clone() });
    }
    if let Some(pair) = evidence.parted.as_ref().filter(|_| evidence.coverage != Coverage::NotNeeded) {
        return Conclusion::Incomplete(Unfinished::Parted(pair.clone()));
    }
    if !evidence.coverage.is_enough() {
        return Conclusion::NotCovered(evidence.coverage.clone());
    }
    match &evidence.resolution {
        Some(resolution) if !resolution.is_reached() => {
            Conclusion::Incomplete(Unfinished::Resolution(resolution.clone()))
        }
        resolution => Conclusion::NotFound { resolution: resolution.clone(), coverage: evidence.coverage.clone() },
    }
}
