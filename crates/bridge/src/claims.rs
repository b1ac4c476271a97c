//! The contract test for code from outside: does it keep what its card claims?
//!
//! Each claim is tried on a short run and told to the user in a sentence. What is claimed and not kept makes verdicts
//! worthless, so this is asked before an exploration, not after.

use anabranch_kernel::{Chance, Seed};

use crate::fleet::{Fleet, Seat};
use crate::misbehaviour::{Kind, Misbehaviour};
use crate::protocol::{Answer, Begin, Branch, CarNow, Card, Op, Push, Role, Seen, Support, TokenId, WorldSegment};

/// One claim, and whether it is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// What was claimed, in a sentence.
    pub claim: &'static str,
    /// What was found when it is not kept.
    pub broken: Option<Misbehaviour>,
}

impl std::fmt::Display for Claim {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.broken {
            None => write!(f, "kept    {}", self.claim),
            Some(wrong) => write!(f, "BROKEN  {} ({wrong})", self.claim),
        }
    }
}

/// What an instance is asked while it is tried: a beginning and some inputs.
#[derive(Clone, Debug)]
pub struct Probe {
    /// What a run begins with.
    pub begin: Begin,
    /// Role driver: what it sees, step by step.
    pub seen: Vec<Seen>,
    /// Role world: modes of its sites, segment by segment.
    pub modes: Vec<Vec<u16>>,
}

/// Steps of a probe.
const STEPS: u64 = 12;

impl Probe {
    /// A wavering drive for a driver, some errors for a world.
    pub fn of(card: &Card) -> Self {
        let chance = Chance::new(Seed(1), "probe");
        let seen = (0..STEPS).map(|n| {
            let mut seen = Seen { time: n as f64 * 0.1, tick: n * 10, speed: 1.0, gear: 1, ..Seen::default() };
            seen.pose.x = n as f64 * 0.1;
            seen.path.station = seen.pose.x;
            seen.path.lateral = chance.at(n).below(0, 1000) as f64 / 5000.0 - 0.1;
            seen.path.heading = chance.at(n).below(1, 1000) as f64 / 5000.0 - 0.1;
            (seen.path.remaining, seen.path.speed_max, seen.path.direction) = (20.0 - seen.pose.x, 2.0, 1);
            seen.path.to_end = seen.path.remaining;
            seen
        });
        let sites = card.world.as_deref().map_or(&[][..], |world| &world.sites);
        let at_once = card.world.as_deref().and_then(|world| world.at_once).map_or(sites.len(), usize::from);
        let segments = card.world.as_deref().map_or(STEPS, |world| STEPS.min(u64::from(world.segments_max)));
        let modes = (0..segments).map(|n| {
            let mode = |(site, card): (usize, &crate::protocol::SiteCard)| {
                let modes = card.modes.len().max(1) as u64;
                if (site + n as usize) % sites.len() < at_once {
                    chance.at(n).below(2 + site as u64, modes) as u16
                } else {
                    0
                }
            };
            sites.iter().enumerate().map(mode).collect()
        });
        let begin = Begin { seed: 1, scenario: "probe".to_owned(), cycle_s: 0.1, until_s: 10.0, ..Begin::default() };
        Self { begin, seen: seen.collect(), modes: modes.collect() }
    }
    fn len(&self, role: Role) -> usize {
        if role == Role::World { self.modes.len() } else { self.seen.len() }
    }
    fn op(&self, role: Role, branch: Branch, n: usize) -> Op {
        match role {
            Role::Driver => Op::Step { branch, seen: Box::new(self.seen[n].clone()) },
            Role::World => Op::Run { branch, modes: self.modes[n].clone(), record: false },
            Role::Optimiser => Op::Ask(Box::default()),
            Role::Actuator | Role::Plant => Op::Move { branch, push: Box::new(push(&self.seen[n])) },
        }
    }
}

/// A command for a part of the car, as varied as what a driver sees.
fn push(seen: &Seen) -> Push {
    let Seen { time, tick, steer, speed, path, gear, .. } = seen;
    let car = CarNow { speed: *speed, steer: *steer, ..CarNow::default() };
    Push { time: *time, tick: *tick, steer: -path.lateral, accel: -path.heading, gear: *gear, car }
}

/// Tries every claim of the card that can be tried. The fleet is used and left without saved states.
///
/// # Errors
/// When even a plain run fails: then there is nothing to compare with.
pub fn check_claims(fleet: &Fleet, probe: &Probe) -> Result<Vec<Claim>, Misbehaviour> {
    check_claims_while(fleet, probe, &|| true)
}

/// The same as long as there is time; of a claim that could not be tried the misbehaviour [is a
/// cutoff](Misbehaviour::is_cut_off).
///
/// # Errors
/// When even a plain run fails, or there is no time for it.
pub fn check_claims_while(
    fleet: &Fleet,
    probe: &Probe,
    goes_on: &dyn Fn() -> bool,
) -> Result<Vec<Claim>, Misbehaviour> {
    let mut seat = fleet.seat(0);
    let role = fleet.card().role;
    let mut trial = Trial { probe, role, straight: Vec::new(), len: probe.len(role), half: 0, goes_on };
    // The first instance there was is compared with later ones.
    if !seat.is_new() {
        seat.renew();
    }
    trial.straight = trial.first_run(&mut seat)?;
    trial.len = trial.straight.len();
    trial.half = trial.len / 2;
    let mut claims = Vec::new();
    let mut tell = |claim: &'static str, result: Result<(), Misbehaviour>| {
        claims.push(Claim { claim, broken: result.err() });
    };
    seat.renew();
    tell("a new instance answers like the one before", trial.begins_again(&mut seat));
    let support = fleet.card().support;
    if support != Support::None {
        tell("`reset` begins the same run again", trial.begins_again(&mut seat));
        tell("branches beside each other do not disturb each other", trial.side_by_side(&mut seat));
    }
    if support == Support::Save {
        tell("a loaded state continues like the one that was saved", trial.save_load_continue(&mut seat));
        tell("a saved state can be loaded more than once", trial.loads_twice(&mut seat));
        tell("a dropped state frees others nothing", trial.drops(&mut seat));
    }
    if fleet.card().saves_bytes {
        tell("equal histories have equal canonical bytes", trial.bytes_are_canonical(&mut seat));
    }
    if fleet.card().memoryless && role == Role::Driver {
        tell("it has no memory: the answer depends on what it sees alone", trial.forgets(&mut seat));
    }
    // Whatever was saved here goes with the instance.
    seat.renew();
    Ok(claims)
}

/// Numbers for saved states of a trial; the instance is ended afterwards, so they meet nobody else's.
const TOKEN: TokenId = 1;

struct Trial<'a> {
    probe: &'a Probe,
    role: Role,
    straight: Vec<Answer>,
    /// Steps of a run.
    len: usize,
    half: usize,
    goes_on: &'a dyn Fn() -> bool,
}

impl Trial<'_> {
    fn one(&self, seat: &mut Seat<'_>, op: Op) -> Result<Answer, Misbehaviour> {
        if !(self.goes_on)() {
            return Err(Misbehaviour::cut_off());
        }
        let mut answer = seat.ask(&[op])?.swap_remove(0)?;
        // What it remembers besides is not what it answers: a cache may be there or not.
        match &mut answer {
            Answer::Segment(segment) => segment.attributes = None,
            Answer::Saved { attributes, .. } => *attributes = None,
            _ => {}
        }
        Ok(answer)
    }
    fn reset(&self, seat: &mut Seat<'_>, branch: Branch) -> Result<(), Misbehaviour> {
        self.one(seat, Op::Reset { branch, begin: Box::new(self.probe.begin.clone()) }).map(|_| ())
    }
    fn steps(
        &self,
        seat: &mut Seat<'_>,
        branch: Branch,
        range: std::ops::Range<usize>,
    ) -> Result<Vec<Answer>, Misbehaviour> {
        range.map(|n| self.one(seat, self.probe.op(self.role, branch, n))).collect()
    }
    /// The run that the others are compared with. Nobody goes on with a world whose run is over.
    fn first_run(&self, seat: &mut Seat<'_>) -> Result<Vec<Answer>, Misbehaviour> {
        self.reset(seat, 0)?;
        let mut answers = Vec::new();
        for n in 0..self.len {
            answers.push(self.one(seat, self.probe.op(self.role, 0, n))?);
            let is_over = |segment: &WorldSegment| segment.done || !segment.violated.is_empty();
            if matches!(answers.last(), Some(Answer::Segment(segment)) if is_over(segment)) {
                break;
            }
        }
        Ok(answers)
    }
    fn whole_run(&self, seat: &mut Seat<'_>, branch: Branch) -> Result<Vec<Answer>, Misbehaviour> {
        self.reset(seat, branch)?;
        self.steps(seat, branch, 0..self.len)
    }
    fn all(&self) -> std::ops::Range<usize> {
        0..self.straight.len()
    }
    fn rest(&self) -> std::ops::Range<usize> {
        self.half..self.straight.len()
    }
    /// The first answer that is not the one of the straight run.
    fn compare(&self, range: std::ops::Range<usize>, answers: &[Answer]) -> Result<(), Misbehaviour> {
        let differs = range.zip(answers).find(|(n, answer)| self.straight[*n] != **answer);
        match differs {
            None => Ok(()),
            Some((n, answer)) => {
                let place = crate::differs::first_difference(&self.straight[n], answer);
                Err(Misbehaviour::new(Kind::Nondeterministic, format!("the answer to step {n} differs: {place}")))
            }
        }
    }

    fn begins_again(&self, seat: &mut Seat<'_>) -> Result<(), Misbehaviour> {
        let again = self.whole_run(seat, 0)?;
        self.compare(self.all(), &again)
    }
    fn side_by_side(&self, seat: &mut Seat<'_>) -> Result<(), Misbehaviour> {
        self.reset(seat, 0)?;
        self.reset(seat, 1)?;
        // One is ahead of the other, or a common memory would not show.
        self.compare(0..1, &self.steps(seat, 1, 0..1)?)?;
        for n in 0..self.straight.len() - 1 {
            self.compare(n..n + 1, &self.steps(seat, 0, n..n + 1)?)?;
            self.compare(n + 1..n + 2, &self.steps(seat, 1, n + 1..n + 2)?)?;
        }
        Ok(())
    }
    fn save_half(&self, seat: &mut Seat<'_>, token: TokenId) -> Result<Answer, Misbehaviour> {
        self.reset(seat, 0)?;
        self.steps(seat, 0, 0..self.half)?;
        self.one(seat, Op::Save { branch: 0, token })
    }
    fn load(&self, seat: &mut Seat<'_>, token: TokenId, branch: Branch) -> Result<(), Misbehaviour> {
        self.one(seat, Op::Load { token, branch }).map(|_| ())
    }
    fn save_load_continue(&self, seat: &mut Seat<'_>) -> Result<(), Misbehaviour> {
        self.save_half(seat, TOKEN)?;
        self.load(seat, TOKEN, 3)?;
        self.compare(self.rest(), &self.steps(seat, 3, self.rest())?)
    }
    fn loads_twice(&self, seat: &mut Seat<'_>) -> Result<(), Misbehaviour> {
        self.save_half(seat, TOKEN + 1)?;
        for branch in [4, 5] {
            self.load(seat, TOKEN + 1, branch)?;
            self.compare(self.rest(), &self.steps(seat, branch, self.rest())?)?;
        }
        Ok(())
    }
    fn drops(&self, seat: &mut Seat<'_>) -> Result<(), Misbehaviour> {
        self.save_half(seat, TOKEN + 2)?;
        self.save_half(seat, TOKEN + 3)?;
        self.one(seat, Op::Drop { tokens: vec![TOKEN + 2, 999_999] })?;
        self.load(seat, TOKEN + 3, 6)?;
        self.compare(self.rest(), &self.steps(seat, 6, self.rest())?)
    }
    fn bytes_are_canonical(&self, seat: &mut Seat<'_>) -> Result<(), Misbehaviour> {
        let first = self.save_half(seat, TOKEN + 4)?;
        let second = self.save_half(seat, TOKEN + 5)?;
        self.load(seat, TOKEN + 4, 7)?;
        let third = self.one(seat, Op::Save { branch: 7, token: TOKEN + 6 })?;
        if first == second && first == third {
            return Ok(());
        }
        let which = if first == second { "after load and save" } else { "of two equal runs" };
        Err(Misbehaviour::new(Kind::BrokenPromise, format!("the bytes {which} differ")))
    }
    fn forgets(&self, seat: &mut Seat<'_>) -> Result<(), Misbehaviour> {
        self.reset(seat, 0)?;
        for n in self.all().rev() {
            self.compare(n..n + 1, &self.steps(seat, 0, n..n + 1)?)?;
        }
        Ok(())
    }
}
