//! From segments to lanes: who runs where, who runs twice, and who is to blame.

use anabranch_bridge::{Kind, Misbehaviour, Seat, Support};
use anabranch_kernel::{Choice, Fault, Job, SegmentEnd, Verdict, Watch};

use super::super::Drive;
use super::super::state::DriveState;
use super::lockstep::{Broken, Lane, LaneEnd, Saving};
use super::memory::path_digest;
use super::twice::first_difference;
use super::{AvFault, ForeignDriver};

/// Most segments that run in lockstep.
const TOGETHER_MAX: usize = 256;
/// States that share so many first choices live in the same instance: enough homes to keep several instances busy, and
/// after the first segments a state and its children have the same one.
const HOME_CHOICES: usize = 2;

/// One segment to run.
struct Task<'t, 'r> {
    state: &'t mut DriveState,
    choice: Choice,
    watch: &'t mut Watch<'r>,
    end: &'t mut Result<SegmentEnd, Fault>,
}

impl Task<'_, '_> {
    /// Nobody records among many, so what was watched in vain can be forgotten.
    fn forget(&mut self) {
        self.watch.notes.clear();
        self.watch.margin = f64::INFINITY;
    }
}

impl Drive {
    /// Runs many segments, as many as possible in lockstep.
    pub(in super::super) fn run_together(&self, driver: &ForeignDriver, jobs: &mut [Job<DriveState>]) {
        let mut watches: Vec<Watch<'_>> = jobs.iter().map(|_| Watch::off()).collect();
        let mut tasks: Vec<(u64, Task<'_, '_>)> = jobs
            .iter_mut()
            .zip(&mut watches)
            .map(|(job, watch)| {
                let home = driver.home(&job.state);
                (home, Task { state: &mut job.state, choice: job.choice, watch, end: &mut job.end })
            })
            .collect();
        tasks.sort_by_key(|(home, _)| *home);
        let mut rest: Vec<(u64, Task<'_, '_>)> = tasks;
        while let Some(&(home, _)) = rest.first() {
            let others = rest.split_off(rest.partition_point(|(other, _)| *other == home));
            let mut seat = driver.fleet.seat(home);
            let mut group: Vec<Task<'_, '_>> = rest.into_iter().map(|(_, task)| task).collect();
            let together = if driver.card().support == Support::None { 1 } else { TOGETHER_MAX };
            group.chunks_mut(together).for_each(|tasks| self.attempt(driver, &mut seat, tasks));
            rest = others;
        }
        for (job, watch) in jobs.iter_mut().zip(watches) {
            (job.notes, job.margin) = (watch.notes, watch.margin);
        }
    }

    /// Runs one segment.
    pub(in super::super) fn run_alone(
        &self,
        driver: &ForeignDriver,
        state: &mut DriveState,
        choice: Choice,
        watch: &mut Watch<'_>,
    ) -> Result<SegmentEnd, Fault> {
        let mut end = Ok(SegmentEnd::Open);
        let mut seat = driver.fleet.seat(driver.home(state));
        self.attempt(driver, &mut seat, &mut [Task { state, choice, watch, end: &mut end }]);
        end
    }

    /// Runs segments together; if the instance as a whole breaks, in halves, until whoever does it is alone. A driver
    /// that does not start any more is nobody's fault, and is not started again for each of them.
    fn attempt(&self, driver: &ForeignDriver, seat: &mut Seat<'_>, tasks: &mut [Task<'_, '_>]) {
        if let Some(fault) = driver.gone() {
            tasks.iter_mut().for_each(|task| *task.end = Err(fault.clone()));
            return;
        }
        let Err(mut broken) = self.try_together(driver, seat, tasks) else { return };
        if broken.what.kind == Kind::NoStart {
            // Once may be an accident of this machine.
            tasks.iter_mut().for_each(Task::forget);
            match self.try_together(driver, seat, tasks) {
                Ok(()) => return,
                Err(again) => broken = again,
            }
        }
        if broken.what.kind == Kind::NoStart {
            let fault = driver.left(&broken.what);
            tasks.iter_mut().for_each(|task| *task.end = Err(fault.clone()));
            return;
        }
        tasks.iter_mut().for_each(Task::forget);
        let (left, right) = tasks.split_at_mut(tasks.len() / 2);
        self.attempt(driver, seat, left);
        self.attempt(driver, seat, right);
    }

    /// One attempt.
    ///
    /// # Errors
    /// When the instance broke and several tasks may be to blame. A single one is blamed at once.
    fn try_together(
        &self,
        driver: &ForeignDriver,
        seat: &mut Seat<'_>,
        tasks: &mut [Task<'_, '_>],
    ) -> Result<(), Broken> {
        let saving = if driver.card().support == Support::Save { Saving::Token } else { Saving::No };
        let doubled = driver.doubled_of(tasks.iter().map(|task| (&*task.state, task.choice)));
        let mut shadows: Vec<Watch<'_>> = doubled.iter().map(|_| Watch::off()).collect();
        let count = tasks.len();
        let mut lanes: Vec<Lane<'_, '_, '_>> = Vec::with_capacity(count + doubled.len());
        let mut copies: Vec<(usize, DriveState, Choice)> =
            doubled.iter().map(|&at| (at, tasks[at].state.clone(), tasks[at].choice)).collect();
        for (branch, task) in (0..).zip(tasks.iter_mut()) {
            let mut lane = Lane::new(task.state.clone(), task.choice, &mut *task.watch, branch);
            lane.saving = saving;
            lanes.push(lane);
        }
        for (branch, ((at, state, choice), watch)) in (count as u32..).zip(copies.drain(..).zip(&mut shadows)) {
            lanes[at].said = Some(Vec::new());
            let mut lane = Lane::new(state, choice, watch, branch);
            lane.said = Some(Vec::new());
            lanes.push(lane);
        }
        let ran = match driver.goes_on(seat, &lanes) {
            true => self.lockstep(driver, seat, &mut lanes),
            false => self.open_and_run(driver, seat, &mut lanes),
        };
        if ran.is_ok() {
            driver.stays(seat, &lanes);
        }
        let mut lanes = lanes.into_iter();
        let mut first: Vec<Lane<'_, '_, '_>> = lanes.by_ref().take(count).collect();
        match ran {
            Ok(()) => {
                for (at, shadow) in doubled.into_iter().zip(lanes) {
                    compare(driver, &mut first[at], &shadow);
                }
            }
            Err(broken) if count > 1 => return Err(broken),
            Err(broken) => first[0].end = Some(LaneEnd::Misbehaved(broken)),
        }
        let ended: Vec<(DriveState, Option<LaneEnd>)> = first.into_iter().map(|lane| (lane.state, lane.end)).collect();
        for (task, (state, end)) in tasks.iter_mut().zip(ended) {
            driver.settle(task, state, end);
        }
        Ok(())
    }

    /// Opens all lanes and runs them; a driver that cannot even be reset has one instance for each.
    fn open_and_run<'d>(
        &'d self,
        driver: &ForeignDriver,
        seat: &mut Seat<'_>,
        lanes: &mut [Lane<'d, '_, '_>],
    ) -> Result<(), Broken> {
        let together = if driver.card().support == Support::None { 1 } else { lanes.len().max(1) };
        for lanes in lanes.chunks_mut(together) {
            if driver.card().support == Support::None {
                seat.end();
            }
            self.open_lanes(driver, seat, lanes).map_err(Broken::on_the_way)?;
            self.lockstep(driver, seat, lanes)?;
        }
        Ok(())
    }
}

impl Broken {
    /// What happens while a state is rebuilt did not happen when it was reached first.
    fn on_the_way(self) -> Self {
        if self.what.kind == Kind::NoStart {
            return self;
        }
        let text = format!("the same steps from the start ended otherwise: {}", self.what);
        let what = Misbehaviour { kind: Kind::Nondeterministic, text, output: self.what.output };
        Self { what, ..self }
    }
}

/// Compares a segment with its second run.
fn compare(driver: &ForeignDriver, lane: &mut Lane<'_, '_, '_>, shadow: &Lane<'_, '_, '_>) {
    driver.log().doubled += 1;
    let (Some(first), Some(second)) = (&lane.said, &shadow.said) else { return };
    let Some((tick, what)) = first_difference(driver.card(), first, second) else { return };
    lane.state.tick = tick;
    lane.misbehaved(what, &[]);
}

impl ForeignDriver {
    /// The instance in which a state lives.
    fn home(&self, state: &DriveState) -> u64 {
        let memory = state.foreign().expect("a driver from outside has a memory");
        let near = &memory.way()[..memory.way().len().min(HOME_CHOICES)];
        path_digest(state.start, memory.seed, near).0 as u64 % self.fleet.instances() as u64
    }

    /// Whether the only lane is the branch that was left open by the segment before it: who cannot be saved need not be
    /// run again from the start for every segment of one run.
    fn goes_on(&self, seat: &Seat<'_>, lanes: &[Lane<'_, '_, '_>]) -> bool {
        // Whatever is asked next, the branch has moved on.
        let Some(open) = self.log().open.take() else { return false };
        let [lane] = lanes else { return false };
        !seat.is_empty()
            && lane.state.foreign().is_some_and(|memory| open == (seat.index(), memory.address(&lane.state)))
    }

    /// Leaves a branch open that the next segment may go on with.
    fn stays(&self, seat: &Seat<'_>, lanes: &[Lane<'_, '_, '_>]) {
        let [lane] = lanes else { return };
        if self.card().support == Support::Save || !matches!(lane.end, Some(LaneEnd::Ran(Ok(SegmentEnd::Open)))) {
            return;
        }
        self.log().open = lane.state.foreign().map(|memory| (seat.index(), memory.address(&lane.state)));
    }

    /// Notes that no instance starts any more.
    fn left(&self, what: &Misbehaviour) -> Fault {
        let fault = Fault::External(format!("the {} cannot be started again: {}", self.word(), what.text));
        self.log().gone.get_or_insert(fault).clone()
    }

    /// Why no instance starts any more, if none does.
    pub fn gone(&self) -> Option<Fault> {
        self.log().gone.clone()
    }

    /// Writes the end of a lane into its task. What the driver did wrong becomes a verdict.
    fn settle(&self, task: &mut Task<'_, '_>, state: DriveState, end: Option<LaneEnd>) {
        let before = task.state.foreign().map_or(&[][..], |memory| memory.way());
        let choices: Vec<Choice> = before.iter().copied().chain([task.choice]).collect();
        *task.end = match end {
            Some(LaneEnd::Ran(end)) => end,
            None => Err(Fault::Contract("a lane did not end".to_owned())),
            Some(LaneEnd::Misbehaved(Broken { what, .. })) if what.kind == Kind::NoStart => Err(self.left(&what)),
            Some(LaneEnd::Misbehaved(Broken { what, asked })) => {
                let (tick, start) = (u64::from(state.tick), usize::from(state.start));
                let Misbehaviour { kind, text, output } = what;
                self.log().keep(AvFault { kind, start, choices, tick, text, output, asked });
                let verdict = Verdict { requirement: self.requirement_of(kind), tick, place: None };
                Ok(SegmentEnd::Violated(vec![verdict]))
            }
        };
        *task.state = state;
        if matches!(task.end, Ok(SegmentEnd::Open)) {
            self.reached(task.state);
        }
    }
}
