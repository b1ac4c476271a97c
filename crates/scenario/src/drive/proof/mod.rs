//! The proof behind the word *safe*: how far a run can stray from the explored run beside it.
//!
//! `docs/soundness.md` has the inequality. Here: a run and the explored run beside it start a segment at most `strays`
//! apart; slopes over the box of all explored states, widened by that, bound how far apart they end ([`segment`]);
//! merging adds a cell; and so on, level by level. Signs are kept within a segment and dropped between segments, in
//! coordinates in which that costs little ([`matrix`]).

mod matrix;
mod scope;
mod segment;

use anabranch_driving::follow::{PathMemory, PathMode};
use anabranch_geometry::CONTACT_TOLERANCE_M;
use anabranch_kernel::maths::{self, Interval};
use anabranch_kernel::{Choice, Contraction, NoProof, System, Tube, TubeLevel};

use self::matrix::{Bounds, Coordinates, Matrix, contraction, factor, product, reach};
pub(crate) use self::segment::REALS;
use self::segment::{Bound, Bounded, Follows, Starts};
use super::Drive;
use super::state::DriverMemory;

/// Position of the heading among the continuous variables.
const HEADING: usize = 2;
/// Position of the driver's station among them: the last.
const STATION: usize = REALS - 1;
/// Half-width of the box in which the loop is linearised where the explored states leave none.
const LINEAR_HALF: f64 = 1e-4;
/// A direction that keeps at least this much of a difference per segment is neutral: only the way along the path is.
const NEUTRAL: f64 = 1.0 - 1e-3;
/// Widens boxes by more than rounding could narrow them.
const WIDEN: f64 = 1.0 + 1e-12;

/// Why a walk along the levels ended early.
enum Halt {
    /// There is no proof.
    No(NoProof),
    /// This variable differs between runs although all explored states agree in it.
    Wakes(usize),
}

impl From<NoProof> for Halt {
    fn from(reason: NoProof) -> Self {
        Self::No(reason)
    }
}

/// The bound of differences at the start of a level.
struct Stray {
    /// In the variables of the state.
    reals: [f64; REALS],
    /// In the new coordinates of the active variables.
    turned: Vec<f64>,
}

/// What one level does to differences.
struct Step {
    /// Differences at the end of its segments.
    stray: Stray,
    mode: PathMode,
    /// Farthest that any point of a car can be from the same point of the car beside it.
    apart_m: f64,
    /// Farthest that any point of a car moves in one tick.
    moved_m: f64,
    /// Largest magnitudes of the map of differences, in the new coordinates.
    map: Matrix,
}

struct Walk<'a> {
    drive: &'a Drive,
    follows: Follows<'a>,
    tube: &'a Tube,
    /// Variables in which states differ at all.
    active: Vec<usize>,
    coordinates: Coordinates,
    /// Directions that feed back; the others are neutral.
    feedback: Vec<usize>,
    clearance_above_m: f64,
}

impl Drive {
    /// Appends x, y, heading, speed, acceleration, steering and the driver's station.
    pub(super) fn push_reals(&self, state: &super::DriveState, out: &mut Vec<f64>) {
        let car = &state.car.car;
        if let DriverMemory::Path(PathMemory { station_m, .. }) = state.driver {
            out.extend([car.x, car.y, car.heading, car.speed, car.accel, car.steering, station_m]);
        }
    }

    /// Proves what can be proven about an exploration; see [`System::contraction`].
    pub(super) fn prove(&self, tube: &Tube) -> Result<Contraction, NoProof> {
        let (follows, clearance_above_m) = self.provable()?;
        check_tube(tube)?;
        let differs = |index: &usize| tube.levels.iter().any(|level| level.width(*index) > 0.0);
        let mut active: Vec<usize> = (0..REALS).filter(differs).collect();
        // Each round adds a variable, so there are few.
        loop {
            match Walk::new(self, follows, tube, &active, clearance_above_m)?.all_levels() {
                Ok(contraction) => return Ok(contraction),
                Err(Halt::No(reason)) => return Err(reason),
                Err(Halt::Wakes(index)) => {
                    active.push(index);
                    active.sort_unstable();
                }
            }
        }
    }
}

/// What the boxes must be like to be used at all.
fn check_tube(tube: &Tube) -> Result<(), NoProof> {
    if tube.levels.is_empty() || tube.cells.len() != REALS || tube.levels.iter().any(|l| l.low.len() != REALS) {
        return Err(NoProof::because("nothing was explored"));
    }
    let finite =
        |index: usize| tube.levels.iter().all(|level| level.low[index].is_finite() && level.high[index].is_finite());
    if !(0..REALS).all(finite) {
        return Err(NoProof::because("a state variable is not finite"));
    }
    // Cells tell directions apart, not turns: within half a turn there is no difference.
    if tube.levels.iter().any(|level| level.width(HEADING) >= std::f64::consts::PI) || tube.cells[HEADING] >= 1.0 {
        return Err(NoProof::because("headings differ by half a turn or more"));
    }
    Ok(())
}

impl<'a> Walk<'a> {
    fn new(
        drive: &'a Drive,
        follows: Follows<'a>,
        tube: &'a Tube,
        active: &[usize],
        clearance_above_m: f64,
    ) -> Result<Self, NoProof> {
        let coordinates = Coordinates { to: Vec::new(), from: Vec::new() };
        let (active, feedback) = (active.to_vec(), Vec::new());
        let mut walk = Self { drive, follows, tube, active, coordinates, feedback, clearance_above_m };
        let map = walk.linearised()?;
        let no_basis = || NoProof::because("no coordinates were found in which differences could be bounded");
        // The driver's station is the last variable, if any; it follows the position and feeds nothing back.
        let turned = walk.active.iter().filter(|&&index| index != STATION).count();
        let block = map[..turned].iter().map(|row| row[..turned].to_vec()).collect();
        walk.coordinates = Coordinates::triangular(&block).ok_or_else(no_basis)?;
        if turned < map.len() {
            walk.coordinates = walk.coordinates.and_as_is();
        }
        walk.feedback = walk.find_feedback(&map)?;
        Ok(walk)
    }

    /// The map of differences near the middle of an early level, when the car has its speed, without errors: to choose
    /// coordinates, nothing else. Levels in which it is not bounded are passed over: the walk will name the obstacle.
    fn linearised(&self) -> Result<Matrix, NoProof> {
        let mut last = Err(NoProof::because("nothing was explored"));
        let levels = self.tube.levels.len();
        for level in (2..levels).chain(0..levels.min(2)) {
            last = self.linearised_at(level);
            if last.is_ok() {
                break;
            }
        }
        last
    }

    fn linearised_at(&self, level: usize) -> Result<Matrix, NoProof> {
        let mut starts = self.starts(level, &[0.0; REALS], PathMode::Driving { section: 0 });
        let narrow = |half: f64| half.clamp(1e-9, LINEAR_HALF);
        self.active.iter().for_each(|&index| starts.half[index] = narrow(starts.half[index]));
        let bounded = self.drive.bound(self.follows, &starts, Choice::NONE)?;
        let row = |i: usize| self.active.iter().map(|&j| bounded.end[i].slope[j].middle() / starts.half[j]).collect();
        Ok(self.active.iter().map(|&i| row(i)).collect())
    }

    /// All directions but the one along the path, which nothing holds back.
    fn find_feedback(&self, map: &Matrix) -> Result<Vec<usize>, NoProof> {
        let points: Bounds = map.iter().map(|row| row.iter().map(|&v| Interval::point(v)).collect()).collect();
        let turned = product(&product(&self.coordinates.to, &points), &self.coordinates.from);
        let neutral: Vec<usize> = (0..turned.len()).filter(|&i| turned[i][i].magnitude() >= NEUTRAL).collect();
        if neutral.len() > 1 || neutral.iter().any(|&direction| !self.is_along_the_path(direction)) {
            return Err(NoProof::because("differences across the path do not shrink"));
        }
        Ok((0..turned.len()).filter(|i| !neutral.contains(i)).collect())
    }

    fn is_along_the_path(&self, direction: usize) -> bool {
        let part = |variable: usize| {
            let row = self.active.iter().position(|&index| index == variable);
            row.map_or(0.0, |row| self.coordinates.from[row][direction].middle())
        };
        let (sin, cos) = maths::sin_cos(self.follows.path.start().heading);
        let (along, across) = (cos * part(0) + sin * part(1), cos * part(1) - sin * part(0));
        let others: f64 = (HEADING..REALS - 1).map(|variable| part(variable).abs()).sum();
        across.abs() + others < 1e-3 * along.abs()
    }

    /// The box of all states of a level and of everything that strays from them.
    fn starts(&self, level: usize, strays: &[f64; REALS], mode: PathMode) -> Starts {
        let TubeLevel { low, high, .. } = &self.tube.levels[level];
        let mid: [f64; REALS] =
            std::array::from_fn(|i| if low[i] == high[i] { low[i] } else { 0.5 * (low[i] + high[i]) });
        let half = std::array::from_fn(|i| ((high[i] - mid[i]).max(mid[i] - low[i]) + strays[i]) * WIDEN);
        Starts { mid, half, mode, tick: level as u32 * self.drive.segment_ticks }
    }

    fn all_levels(&self) -> Result<Contraction, Halt> {
        let start_mode = self.follows.follower.start(self.follows.path).mode;
        let (mut apart, mut moved_m, mut strays, mut mode) = (Vec::new(), 0.0, Vec::new(), start_mode);
        let mut stray = Stray { reals: [0.0; REALS], turned: vec![0.0; self.active.len()] };
        let mut most: Matrix = vec![vec![0.0; self.feedback.len()]; self.feedback.len()];
        for level in 0..self.tube.levels.len() {
            let step = self.level(level, &stray, mode)?;
            if stray.reals != [0.0; REALS] {
                self.check_shrinks(&step.map, &mut most)?;
            }
            let sizes = step.stray.reals.iter().chain(&step.stray.turned).chain([&step.apart_m, &step.moved_m]);
            if !sizes.into_iter().all(|size| size.is_finite()) {
                return Err(NoProof::because("differences grow beyond all bounds").into());
            }
            apart.push(step.apart_m);
            moved_m = larger(moved_m, step.moved_m);
            strays.push(stray.reals.to_vec());
            (stray, mode) = (step.stray, step.mode);
            if level + 1 < self.tube.levels.len() {
                self.merge(level + 1, &mut stray);
            }
        }
        let (lambda, weights) = contraction(&most);
        // Between two ticks, also of two segments, there is no contact if their clearances add up to more than the car moves.
        let at_ticks_m = (0.5 * moved_m + 2.0 * CONTACT_TOLERANCE_M).max(self.clearance_above_m);
        let needed = apart.iter().map(|apart_m| (apart_m + at_ticks_m) * WIDEN).collect();
        if lambda < 1.0 && factor(&most, &weights) <= lambda {
            Ok(Contraction { lambda, needed, strays })
        } else {
            Err(no_contraction(lambda).into())
        }
    }

    fn check_shrinks(&self, map: &Matrix, most: &mut Matrix) -> Result<(), NoProof> {
        let block: Matrix = self.feedback.iter().map(|&i| self.feedback.iter().map(|&j| map[i][j]).collect()).collect();
        for (row, new) in most.iter_mut().zip(&block) {
            row.iter_mut().zip(new).for_each(|(most, &new)| *most = larger(*most, new));
        }
        let (lambda, _) = contraction(&block);
        if lambda < 1.0 { Ok(()) } else { Err(no_contraction(lambda)) }
    }

    /// Merging replaces a state by another one of its cell.
    fn merge(&self, level: usize, stray: &mut Stray) {
        let step: [f64; REALS] = std::array::from_fn(|index| self.tube.step(level, index));
        let of_active: Vec<f64> = self.active.iter().map(|&index| step[index]).collect();
        let added = reach(&self.coordinates.to, &of_active);
        stray.turned.iter_mut().zip(added).for_each(|(d, added)| *d = (*d + added) * WIDEN);
        stray.reals.iter_mut().zip(step).for_each(|(d, added)| *d = (*d + added) * WIDEN);
        // Both are bounds, so the smaller one is too.
        for (row, &index) in reach(&self.coordinates.from, &stray.turned).into_iter().zip(&self.active) {
            stray.reals[index] = stray.reals[index].min(row);
        }
    }

    /// All segments of a level.
    fn level(&self, level: usize, stray: &Stray, mode: PathMode) -> Result<Step, Halt> {
        let starts = self.starts(level, &stray.reals, mode);
        let n = self.active.len();
        let mut all: Option<Step> = None;
        for choice in self.drive.errors().choices() {
            let bounded = self.drive.bound(self.follows, &starts, choice)?;
            let step = self.segment(&bounded, &starts, stray)?;
            let Some(so_far) = &mut all else {
                all = Some(step);
                continue;
            };
            if so_far.mode != step.mode {
                return Err(NoProof::because("the driver does different things under different errors").into());
            }
            so_far.apart_m = larger(so_far.apart_m, step.apart_m);
            so_far.moved_m = larger(so_far.moved_m, step.moved_m);
            so_far.stray.join(&step.stray);
            (0..n * n)
                .for_each(|k| so_far.map[k / n][k % n] = larger(so_far.map[k / n][k % n], step.map[k / n][k % n]));
        }
        all.ok_or_else(|| NoProof::because("there is nothing to choose from").into())
    }

    /// What one bounded segment says about differences.
    fn segment(&self, bounded: &Bounded, starts: &Starts, stray: &Stray) -> Result<Step, Halt> {
        let idle = |index: &usize| !self.active.contains(index);
        if let Some(index) = (0..REALS).filter(idle).find(|&index| !bounded.end[index].is_fixed()) {
            return Err(Halt::Wakes(index));
        }
        let turned_rows = |rows: &[Bound]| product(&self.slopes(rows, starts), &self.coordinates.from);
        let from_turned = turned_rows(&bounded.end);
        let of_active: Vec<f64> = self.active.iter().map(|&index| stray.reals[index]).collect();
        let direct = reach(&self.slopes(&bounded.end, starts), &of_active);
        let mut reals = [0.0; REALS];
        for (index, reached) in reach(&from_turned, &stray.turned).into_iter().enumerate() {
            // Both are bounds, so the smaller one is too.
            reals[index] = (reached.min(direct[index]) + bounded.end[index].rest) * WIDEN;
        }
        let ends: Bounds = self.active.iter().map(|&index| from_turned[index].clone()).collect();
        let map = product(&self.coordinates.to, &ends);
        let rests: Vec<f64> = self.active.iter().map(|&index| bounded.end[index].rest).collect();
        let turned = reach(&map, &stray.turned).into_iter().zip(reach(&self.coordinates.to, &rests));
        let turned = turned.map(|(d, rest)| (d + rest) * WIDEN).collect();
        let apart = |pose: &[Bound; 3]| {
            let d = reach(&turned_rows(pose), &stray.turned);
            let [x, y, heading] = std::array::from_fn(|i| d[i] + pose[i].rest);
            // No point of the car is farther apart than the axle's way and the turn about it.
            (maths::hypot(x, y) + heading * self.drive.body.core_radius_m) * WIDEN
        };
        let apart_m = bounded.poses.iter().map(apart).fold(0.0, larger);
        let map = map.iter().map(|row| row.iter().map(|entry| entry.magnitude()).collect()).collect();
        Ok(Step { stray: Stray { reals, turned }, mode: bounded.mode, apart_m, moved_m: bounded.moved_m, map })
    }

    /// Slopes per unit of the active variables.
    fn slopes(&self, rows: &[Bound], starts: &Starts) -> Bounds {
        let entry = |row: &Bound, j: usize| {
            if starts.half[j] == 0.0 { Interval::ZERO } else { row.slope[j] / Interval::point(starts.half[j]) }
        };
        rows.iter().map(|row| self.active.iter().map(|&j| entry(row, j)).collect()).collect()
    }
}

impl Stray {
    fn join(&mut self, other: &Self) {
        let largest = |(mine, theirs): (&mut f64, &f64)| *mine = larger(*mine, *theirs);
        self.reals.iter_mut().zip(&other.reals).for_each(largest);
        self.turned.iter_mut().zip(&other.turned).for_each(largest);
    }
}

/// The larger one; infinite if one of them is no number, so that nothing gets lost.
fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::INFINITY } else { a.max(b) }
}

fn no_contraction(lambda: f64) -> NoProof {
    let shown =
        if lambda < 100.0 { format!("a factor of {lambda:.2} per segment is the least") } else { "none".into() };
    NoProof::because(format!("differences are not shown to shrink: {shown} that can be proven"))
}
