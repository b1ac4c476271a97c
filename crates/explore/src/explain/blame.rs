//! What each error of a counterexample contributed.

use anabranch_kernel::{Chance, Choice, Fault, System};

use super::shapley::{Coalition, Method, Share, shapley};
use super::single::drop_site;
use super::tries::{Tried, Tries};
use super::{Limits, Question, erroneous, without};

/// What blame is measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Lost margin: how much smaller the smallest margin of the run becomes.
    Margin,
    /// The accident itself: 1 if it happens. For requirements that have nothing to do with the margin.
    Verdict,
}

/// The error of one segment.
#[derive(Clone, Debug, PartialEq)]
pub struct SegmentBlame {
    /// Which segment.
    pub segment: usize,
    /// Its error.
    pub choice: Choice,
    /// Smallest margin if only this error is left out.
    pub margin_without: f64,
    /// Its share in the whole loss.
    pub share: Share,
}

/// All errors of one site.
#[derive(Clone, Debug, PartialEq)]
pub struct SiteBlame {
    /// Position in [`anabranch_kernel::ErrorSpace::sites`].
    pub site: usize,
    /// Smallest margin if all errors of this site are left out.
    pub margin_without: f64,
    /// Whether the accident happens without them.
    pub violates_without: bool,
    /// Its share in the whole loss.
    pub share: Share,
}

/// What each error contributed.
#[derive(Clone, Debug, PartialEq)]
pub struct Blame {
    /// In what shares are measured.
    pub measure: Measure,
    /// What all errors together cost: all shares of segments add up to it, and so do all shares of sites.
    pub whole: f64,
    /// Per erroneous segment.
    pub segments: Vec<SegmentBlame>,
    /// How the shares of segments were computed.
    pub segments_by: Method,
    /// Per site with an error.
    pub sites: Vec<SiteBlame>,
    /// How the shares of sites were computed.
    pub sites_by: Method,
}

/// What a run costs compared with the run without errors.
struct Scale<'a, S: System> {
    question: Question<'a, S>,
    measure: Measure,
    margin: f64,
    loss: f64,
}

impl<'a, S: System> Scale<'a, S> {
    fn new(wanted: Measure, question: Question<'a, S>, minimal: &Tried, without_errors: &Tried) -> Self {
        // Without a finite margin, or where the violation has nothing to do with it, there is nothing to share out.
        let finite = minimal.margin.is_finite() && without_errors.margin.is_finite();
        let measure = if finite { wanted } else { Measure::Verdict };
        let loss = happens(&question, without_errors);
        Self { question, measure, margin: without_errors.margin, loss }
    }

    fn cost(&self, tried: &Tried) -> f64 {
        match self.measure {
            // A run without any margin has lost none.
            Measure::Margin => self.margin - tried.margin.min(f64::MAX),
            Measure::Verdict => happens(&self.question, tried) - self.loss,
        }
    }
}

/// 1 if the run ended with the accident.
fn happens<S: System>(question: &Question<'_, S>, tried: &Tried) -> f64 {
    f64::from(u8::from(question.accident(&tried.end, &tried.choices).is_some()))
}

/// Shares the loss of the counterexample out among its errors.
pub(super) fn measure<S: System>(
    tries: &mut Tries<'_, S>,
    minimal: &Tried,
    without_errors: &Tried,
    limits: &Limits,
) -> Result<Blame, Fault> {
    let question = *tries.question();
    let scale = Scale::new(limits.measure, question, minimal, without_errors);
    let (segments, segments_by) = by_segment(tries, &minimal.choices, &scale, limits)?;
    let (sites, sites_by) = by_site(tries, &minimal.choices, &scale, limits)?;
    Ok(Blame { measure: scale.measure, whole: scale.cost(minimal), segments, segments_by, sites, sites_by })
}

fn by_segment<S: System>(
    tries: &mut Tries<'_, S>,
    choices: &[Choice],
    scale: &Scale<'_, S>,
    limits: &Limits,
) -> Result<(Vec<SegmentBlame>, Method), Fault> {
    let players = erroneous(choices);
    let left_out: Vec<Vec<Choice>> = players.iter().map(|&at| without(choices, &[at])).collect();
    let alone = tries.many(&left_out)?;
    let chance = Chance::new(tries.question().seed, "explain segments");
    let (shares, method) = shapley(players.len(), limits.samples, chance, |coalitions: &[Coalition]| {
        let sequences: Vec<Vec<Choice>> = coalitions.iter().map(|c| without(choices, &outside(&players, c))).collect();
        Ok::<_, Fault>(tries.many(&sequences)?.iter().map(|tried| scale.cost(tried)).collect())
    })?;
    let blame = |((&segment, tried), share): ((&usize, &Tried), Share)| SegmentBlame {
        segment,
        choice: choices[segment],
        margin_without: tried.margin,
        share,
    };
    Ok((players.iter().zip(&alone).zip(shares).map(blame).collect(), method))
}

fn by_site<S: System>(
    tries: &mut Tries<'_, S>,
    choices: &[Choice],
    scale: &Scale<'_, S>,
    limits: &Limits,
) -> Result<(Vec<SiteBlame>, Method), Fault> {
    let question = *tries.question();
    let space = question.system.errors();
    let is_active = |&site: &usize| choices.iter().any(|&choice| space.modes(choice)[site] != 0);
    let players: Vec<usize> = (0..space.sites().len()).filter(is_active).collect();
    let drop = |sites: &[usize]| -> Vec<Choice> {
        choices.iter().map(|&choice| sites.iter().fold(choice, |c, &site| drop_site(space, c, site))).collect()
    };
    let alone = tries.many(&players.iter().map(|&site| drop(&[site])).collect::<Vec<_>>())?;
    let chance = Chance::new(question.seed, "explain sites");
    let (shares, method) = shapley(players.len(), limits.samples, chance, |coalitions: &[Coalition]| {
        let sequences: Vec<Vec<Choice>> = coalitions.iter().map(|c| drop(&outside(&players, c))).collect();
        Ok::<_, Fault>(tries.many(&sequences)?.iter().map(|tried| scale.cost(tried)).collect())
    })?;
    let blame = |((&site, tried), share): ((&usize, &Tried), Share)| SiteBlame {
        site,
        margin_without: tried.margin,
        violates_without: question.accident(&tried.end, &tried.choices).is_some(),
        share,
    };
    Ok((players.iter().zip(&alone).zip(shares).map(blame).collect(), method))
}

/// The players that are not in a coalition.
fn outside(players: &[usize], coalition: &Coalition) -> Vec<usize> {
    players.iter().zip(coalition).filter(|(_, inside)| !**inside).map(|(&player, _)| player).collect()
}
