//! What follows the exploration itself: looking closer where cells could hide something, exploring until random runs stay inside,
//! and searching for what merging could have hidden.

use std::collections::BTreeSet;
use std::io;

use anabranch_kernel::{About, CellKey, Chance, Grid, Params, Seed, System};

use crate::cover::{Joined, Joiner};
use crate::coverage::{self, Coverage, Covered, CutOff, DOUBT, Explored, TARGET_SHARE, runs_needed, runs_needed_with};
use crate::edge::{Stage, Trail};
use crate::exhaust;
use crate::graph::Graph;
use crate::limits::{Limits, Stop};
use crate::modes::ModeReader;
use crate::pilot::Pilot;
use crate::refine::{Refinement, Refiner};
use crate::resolution::{Resolution, Shadow};
use crate::settings::{Cover, Resolve, Scope, Settings};

/// Random runs of a round whose only purpose is to find states that are not explored yet.
const ROUND_RUNS: u64 = 128;
/// Stages of a look: runs that may have been outside, and the part of the look's doubt. The later ones are for
/// explorations of which a little more than the target is covered: only many runs can show that.
const STAGES: [(u64, f64); 5] = [(0, 0.5), (1, 0.25), (4, 0.125), (12, 0.0625), (30, 0.0625)];
/// Random runs that may be drawn at least until hardly any of them is outside.
const COVER_RUNS: f64 = 3_000.0;
/// Least effort of searches in segments, so that tiny explorations are looked at as well.
const EFFORT_MIN: f64 = 10_000.0;
/// Every sequence is run where that takes at most this many times the segments that were run by then, or
/// [`EFFORT_MIN`].
const EXHAUST_EFFORT: f64 = 8.0;

/// Steps that searches may take together at least, and most segments that are set aside for that.
const SEARCH_STEPS: f64 = 40.0;
const SEARCH_EFFORT_MAX: f64 = 200_000.0;
/// Segments of a searched run at most: a system may never end by itself.
const SEARCH_LEVELS_MAX: u32 = 1_024;

/// A look's part of the doubt: half of what is left.
fn doubt(settings: &Settings, look: u32) -> f64 {
    match settings.cover {
        Some(_) => DOUBT * 0.5_f64.powi(look as i32 + 1),
        None => DOUBT,
    }
}

/// The smallest number of random runs to ask for from which on coverage can be shown: with these settings, and if none of the
/// runs leaves what was explored.
pub fn rollouts_needed(settings: &Settings) -> u64 {
    match settings.cover {
        Some(Cover { target, .. }) => runs_needed(target, doubt(settings, 0) * STAGES[0].1),
        None => runs_needed(TARGET_SHARE, DOUBT),
    }
}

/// What came of it.
pub(crate) struct Looked {
    pub(crate) refinement: Vec<Refinement>,
    pub(crate) coverage: Coverage,
    pub(crate) resolution: Option<Resolution>,
    /// Whether every sequence was run after all, and none violates anything.
    pub(crate) is_exhausted: bool,
    pub(crate) stop: Option<Stop>,
}

/// What looking works with.
pub(crate) struct Closer<'a, S: System> {
    pub(crate) seed: Seed,
    pub(crate) starts: &'a [Params],
    pub(crate) states: &'a [S::State],
    pub(crate) grid: Option<&'a Grid>,
    pub(crate) level_in_key: bool,
    pub(crate) limits: &'a Limits<'a>,
    pub(crate) pilot: Option<&'a Pilot>,
}

impl<S: System> Closer<'_, S> {
    /// Looks closer where cells could hide a contact; measures coverage; looks closer where that disagrees, explores until
    /// it suffices, and searches for what merging hid. A violation ends all of it.
    pub(crate) fn look(
        &self,
        graph: &mut Graph<'_, S>,
        trail: &mut dyn Trail,
        stop: Option<Stop>,
    ) -> io::Result<Looked> {
        if stop.is_none() && graph.progress.findings == 0 && self.is_small(graph) {
            let looked = self.run_all(graph);
            // Where code from outside could not compute a segment, coverage is measured as usual.
            if looked.is_exhausted || looked.stop.is_some() || !looked.coverage.violations.is_empty() {
                return Ok(looked);
            }
        }
        graph.observer.stage(Stage::Covering);
        let mut refinement = Vec::new();
        let refines = stop.is_none() && graph.settings.refines();
        if refines && graph.progress.findings == 0 {
            refinement.extend(self.refine(graph, trail, &BTreeSet::new())?);
        }
        let stop = stop.or_else(|| refinement.iter().find_map(Refinement::stopped));
        let (coverage, resolution) = (Coverage::default(), None);
        let mut looked = Looked { refinement, coverage, resolution, is_exhausted: false, stop };
        let mut looks = 0;
        self.look_at(graph, &mut looked, (0, &mut looks));
        if refines && looked.coverage.disagreements > 0 {
            let again = self.refine(graph, trail, &looked.coverage.disagreed)?;
            looked.stop = looked.stop.or_else(|| again.as_ref().and_then(Refinement::stopped));
            looked.refinement.extend(again);
            self.look_at(graph, &mut looked, (1, &mut looks));
        }
        if self.goes_on(graph, &looked) {
            self.cover(graph, trail, &mut looked, looks)?;
        }
        if self.goes_on(graph, &looked) {
            graph.observer.stage(Stage::Searching);
            self.resolve(graph, trail, &mut looked)?;
        }
        if self.goes_on(graph, &looked) {
            graph.observer.stage(Stage::Exhausting);
            self.exhaust(graph, &mut looked);
        }
        Ok(looked)
    }

    /// Segments of all error sequences.
    fn segments_of_all(&self, graph: &Graph<'_, S>) -> f64 {
        exhaust::segments_of(graph.system.errors().len(), graph.levels.len() as u32, self.starts.len())
    }

    /// Whether running every sequence takes no more than the random runs that would be drawn instead.
    fn is_small(&self, graph: &Graph<'_, S>) -> bool {
        let random = f64::from(graph.settings.rollouts) * graph.levels.len() as f64;
        self.is_thorough(graph) && graph.fault_count == 0 && self.segments_of_all(graph) <= random
    }

    /// Whether coverage and a resolution are wanted.
    fn is_thorough(&self, graph: &Graph<'_, S>) -> bool {
        self.grid.is_some() && graph.settings.cover.is_some() && graph.settings.resolve.is_some()
    }

    /// Runs every sequence of a small exploration.
    fn run_all(&self, graph: &mut Graph<'_, S>) -> Looked {
        graph.observer.stage(Stage::Exhausting);
        let (refinement, coverage) = (Vec::new(), Coverage::default());
        let mut looked = Looked { refinement, coverage, resolution: None, is_exhausted: false, stop: None };
        let margin = self.exhaust_within(graph, &mut looked, self.segments_of_all(graph));
        graph.progress.margin = graph.progress.margin.min(margin);
        looked
    }

    /// Whether there is a reason to look on: nothing was found, and nobody stopped it.
    fn goes_on(&self, graph: &Graph<'_, S>, looked: &Looked) -> bool {
        let searched = looked.resolution.as_ref().is_some_and(|resolution| !resolution.violations.is_empty());
        let found = graph.progress.findings > 0 || !looked.coverage.violations.is_empty() || searched;
        !found && looked.stop.is_none() && graph.fault_count == 0 && self.grid.is_some()
    }

    fn refine(
        &self,
        graph: &mut Graph<'_, S>,
        trail: &mut dyn Trail,
        forced: &BTreeSet<CellKey>,
    ) -> io::Result<Option<Refinement>> {
        let Some(grid) = self.grid else { return Ok(None) };
        let Self { seed, starts, level_in_key, limits, .. } = *self;
        let refiner = Refiner { system: graph.system, seed, starts, grid, level_in_key, limits };
        refiner.refine(graph, trail, forced).map(Some)
    }

    /// Measures coverage anew. What random runs found before stays found.
    fn look_at(&self, graph: &Graph<'_, S>, looked: &mut Looked, (draw, looks): (u32, &mut u32)) {
        let before = std::mem::take(&mut looked.coverage);
        match self.measure(graph, draw, looks) {
            Ok(coverage) => looked.coverage = coverage,
            Err(cut_off) => self.take_over(looked, cut_off),
        }
        looked.coverage.violations.extend(before.violations);
        looked.coverage.segments += before.segments;
    }

    /// What random runs found before they were cut off stays found.
    fn take_over(&self, looked: &mut Looked, cut_off: CutOff) {
        looked.stop = looked.stop.or(Some(cut_off.stop));
        looked.coverage.violations.extend(cut_off.violations);
        looked.coverage.segments += cut_off.segments;
    }

    /// Fresh random runs that join nothing. A look has a few stages: if fewer runs were outside than may be, more are drawn.
    fn measure(&self, graph: &Graph<'_, S>, draw: u32, looks: &mut u32) -> Result<Coverage, CutOff> {
        let Some(grid) = self.grid else { return Ok(Coverage::exhaustive()) };
        let doubt = doubt(graph.settings, *looks);
        *looks += 1;
        let asked = u64::from(graph.settings.rollouts);
        let (cover, nothing) = (graph.settings.cover, Coverage::default());
        // Whoever asks for fewer runs than it takes gets them, and no pass.
        let is_enough = asked >= rollouts_needed(graph.settings);
        let Some(Cover { target, .. }) = cover.filter(|_| is_enough && graph.progress.findings == 0) else {
            let target = cover.map_or(TARGET_SHARE, |cover| cover.target);
            return self.draw(graph, grid, (draw, target, doubt), asked, nothing);
        };
        let mut coverage = nothing;
        for (outside, share) in STAGES {
            let doubt = doubt * share;
            let runs = runs_needed_with(outside, target, doubt).max(asked);
            let more = runs.saturating_sub(coverage.rollouts);
            coverage = self.draw(graph, grid, (draw, target, doubt), more, coverage)?;
            if coverage.covered() == Covered::Yes || coverage.share < target {
                break;
            }
        }
        Ok(coverage)
    }

    fn draw(
        &self,
        graph: &Graph<'_, S>,
        grid: &Grid,
        (draw, target, doubt): (u32, f64, f64),
        runs: u64,
        before: Coverage,
    ) -> Result<Coverage, CutOff> {
        let mut found: Vec<u16> = graph.hits.iter().map(|hit| hit.verdict.requirement).collect();
        found.sort_unstable();
        found.dedup();
        let explored = Explored {
            table: &graph.table,
            grid,
            level_in_key: self.level_in_key,
            merge_every: graph.settings.merge_every,
            levels_max: graph.settings.levels_max,
            margin: graph.progress.margin,
            found: &found,
            draw,
            target,
            doubt,
            modes: graph.modes.is_some().then(|| ModeReader::new(graph.system)),
            limits: self.limits,
        };
        coverage::measure((graph.system, self.seed, self.starts), runs, &explored, before)
    }

    /// Rounds of random runs whose states join what was explored, until fresh ones stay inside.
    fn cover(
        &self,
        graph: &mut Graph<'_, S>,
        trail: &mut dyn Trail,
        looked: &mut Looked,
        mut looks: u32,
    ) -> io::Result<()> {
        let (Some(grid), Some(Cover { target, effort })) = (self.grid, graph.settings.cover) else { return Ok(()) };
        if graph.settings.scope == Scope::Frontier {
            return Ok(());
        }
        let runs = COVER_RUNS * graph.levels.len() as f64;
        let segments_max = (effort * graph.progress.segments as f64).max(runs) as u64;
        let of = (graph.system, self.seed, self.starts);
        let mut joiner = Joiner::new(of, (grid, self.level_in_key), self.limits, segments_max);
        let mut draw = looked.coverage.draws;
        while looked.coverage.covered() == Covered::No && self.goes_on(graph, looked) {
            let mut runs = std::mem::take(&mut looked.coverage.outside);
            while !runs.is_empty() {
                let joined = joiner.join(graph, trail, &runs)?;
                if let Joined::Stopped(stop) = joined {
                    looked.stop = Some(stop);
                }
                // What was not expanded to its end is not explored, whatever random runs would say.
                if joined != Joined::Whole || graph.progress.findings > 0 {
                    looked.coverage.segments += joiner.segments;
                    looked.coverage.joined = joiner.joined;
                    return Ok(());
                }
                if joiner.is_spent() {
                    break;
                }
                let round = match self.draw(graph, grid, (draw, target, DOUBT), ROUND_RUNS, Coverage::default()) {
                    Ok(round) => round,
                    Err(cut_off) => {
                        self.take_over(looked, cut_off);
                        looked.coverage.segments += joiner.segments;
                        looked.coverage.joined = joiner.joined;
                        return Ok(());
                    }
                };
                draw += 1;
                joiner.effort += round.segments;
                looked.coverage.segments += round.segments;
                looked.coverage.violations.extend(round.violations);
                runs = round.outside;
            }
            let before = looked.coverage.segments;
            self.look_at(graph, looked, (draw, &mut looks));
            draw += 1;
            joiner.effort += looked.coverage.segments - before;
            if joiner.is_spent() {
                break;
            }
        }
        looked.coverage.segments += joiner.segments;
        looked.coverage.joined = joiner.joined;
        Ok(())
    }

    /// Segments that a few searches take: each of their steps tries every other error at every level.
    fn search_effort(&self, graph: &Graph<'_, S>) -> f64 {
        let (levels, others) = (graph.levels.len() as f64, graph.system.errors().len() as f64 - 1.0);
        (SEARCH_STEPS * others * levels * levels).clamp(EFFORT_MIN, SEARCH_EFFORT_MAX)
    }

    /// Searches for what merging could have hidden.
    fn resolve(&self, graph: &Graph<'_, S>, trail: &dyn Trail, looked: &mut Looked) -> io::Result<()> {
        let (Some(Resolve { asked, effort }), Some(pilot)) = (graph.settings.resolve, self.pilot) else {
            return Ok(());
        };
        let margin = graph.system.margin();
        let Some(resolution) = pilot.resolution(asked, &margin) else { return Ok(()) };
        let is_about_nothing = matches!(margin.about, About::Nothing(_));
        if is_about_nothing && asked.is_none() {
            return Ok(());
        }
        let shadow = Shadow {
            system: graph.system,
            starts: self.states,
            chance: Chance::new(self.seed, "shadow"),
            level_in_key: self.level_in_key,
            levels_max: graph.settings.levels_max.min(SEARCH_LEVELS_MAX),
            limits: self.limits,
            segments_max: (effort * graph.progress.segments as f64).max(self.search_effort(graph)) as u64,
            growth: pilot.growth,
            run_levels: graph.levels.len(),
        };
        let begun = Resolution {
            asked: resolution,
            unit: margin.unit,
            is_default: asked.is_none(),
            reached: None,
            closest: graph.progress.margin,
            limit: margin.limit,
            runs: 0,
            segments: pilot.segments,
            why: String::new(),
            growth: None,
            violations: Vec::new(),
        };
        if is_about_nothing {
            let why = "nothing measures how narrowly the requirements were met".to_owned();
            looked.resolution = Some(Resolution { why, ..begun });
            return Ok(());
        }
        let hardly_met = graph.modes.as_ref().map(|modes| modes.hardly_met(&looked.coverage.met)).unwrap_or_default();
        let (resolution, stop) = shadow.resolve(graph, (trail, &hardly_met), begun)?;
        (looked.resolution, looked.stop) = (Some(resolution), stop);
        Ok(())
    }

    /// Runs every sequence where what was wanted was not reached otherwise and that is affordable.
    fn exhaust(&self, graph: &Graph<'_, S>, looked: &mut Looked) {
        let resolved = looked.resolution.as_ref().is_some_and(Resolution::is_reached);
        if !self.is_thorough(graph) || resolved && looked.coverage.covered() == Covered::Yes {
            return;
        }
        let spent = graph.progress.segments + looked.coverage.segments;
        let segments_max = (EXHAUST_EFFORT * spent as f64).max(EFFORT_MIN);
        if self.segments_of_all(graph) <= segments_max {
            self.exhaust_within(graph, looked, segments_max);
        }
    }

    /// Runs every sequence, unless that takes more segments; returns the smallest margin.
    fn exhaust_within(&self, graph: &Graph<'_, S>, looked: &mut Looked, segments_max: f64) -> f64 {
        let levels_max = graph.settings.levels_max;
        let all = exhaust::run(graph.system, self.states, levels_max, segments_max as u64, self.limits);
        looked.stop = all.stop;
        if all.is_whole {
            looked.is_exhausted = true;
            let segments = looked.coverage.segments;
            looked.coverage = Coverage { segments, ..Coverage::exhaustive() };
        }
        // Without a margin there is no resolution, and what is found is found all the same.
        let Some(resolution) = &mut looked.resolution else {
            looked.coverage.segments += all.segments;
            looked.coverage.violations.extend(all.violation);
            return all.margin;
        };
        resolution.segments += all.segments;
        resolution.closest = resolution.closest.min(all.margin);
        resolution.violations.extend(all.violation);
        if all.is_whole {
            (resolution.reached, resolution.why, resolution.growth) = (Some(0.0), String::new(), None);
        }
        all.margin
    }
}
