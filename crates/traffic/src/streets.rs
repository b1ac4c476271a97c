//! The lane network as the traffic sees it: flat lists, no geometry.
//!
//! Cars live in lane coordinates, so all they need of a road is lengths, limits, neighbours, links and who gives way. Ways through a
//! junction are lanes too; what must be obeyed before entering one (a light, a stop sign, other ways that go first) is said with it.

use serde::{Deserialize, Serialize};

use crate::fetch::prefetch;

/// Number of a lane.
pub type LaneNumber = u32;
/// No lane.
pub const NO_LANE: LaneNumber = LaneNumber::MAX;

/// A lane as it is handed in.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct LaneSpec {
    /// Length, metres.
    pub length_m: f64,
    /// Speed limit, metres per second.
    pub limit_mps: f64,
    /// Width, metres.
    pub width_m: f64,
    /// The lane to the left with the same direction.
    pub left: Option<LaneNumber>,
    /// The lane to the right with the same direction.
    pub right: Option<LaneNumber>,
    /// Where it leads, each with its share of the cars that have no route of their own.
    pub next: Vec<(LaneNumber, f64)>,
    /// What happens at an end without links: cars leave here, or the lane is dropped and they must change.
    pub end: LaneEnd,
    /// A stop sign stands before this lane.
    pub stop_sign: bool,
    /// How far before this lane those who must wait stop, metres.
    pub stop_before_m: f64,
    /// The light that guards the entry of this lane.
    pub light: Option<u32>,
    /// Lanes whose cars go first.
    pub gives_way_to: Vec<LaneNumber>,
    /// Lanes that cross or join this one with equal rights: who waited longer goes first.
    pub shares_with: Vec<LaneNumber>,
}

/// What happens at the end of a lane without links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum LaneEnd {
    /// Cars leave the network.
    #[default]
    Exit,
    /// The lane is dropped: cars must change before.
    Drop,
}

/// What a light shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Colour {
    /// Go.
    Green,
    /// Stop if that can be done in comfort.
    Yellow,
    /// Stop.
    Red,
}

/// A light with a fixed programme that repeats. What it shows is a function of time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Light {
    /// How long each colour lasts, in microseconds, in order.
    pub phases: Vec<(u64, Colour)>,
    /// Where in its programme it is at time 0.
    pub offset_us: u64,
}

impl Light {
    /// Green, yellow, red, and again, in seconds; at time 0 it is `offset_s` into its programme.
    pub fn cycle(green_s: f64, yellow_s: f64, red_s: f64, offset_s: f64) -> Self {
        let us = |seconds: f64| (seconds * 1e6).round() as u64;
        let phases = vec![(us(green_s), Colour::Green), (us(yellow_s), Colour::Yellow), (us(red_s), Colour::Red)];
        Self { phases, offset_us: us(offset_s) }
    }
    /// What it shows at a time.
    pub fn colour(&self, time_us: u64) -> Colour {
        let mut rest = (time_us + self.offset_us) % self.period_us().max(1);
        for &(duration_us, colour) in &self.phases {
            if rest < duration_us {
                return colour;
            }
            rest -= duration_us;
        }
        Colour::Green
    }
    /// Time after which it repeats.
    pub fn period_us(&self) -> u64 {
        self.phases.iter().map(|phase| phase.0).sum()
    }
}

/// Lanes that one lane can name or be named by: their numbers are kept in 16 bits.
const LIST_MAX: usize = 20_000;

/// What is wrong with a network.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StreetsError {
    /// A lane names another that does not exist.
    #[error("lane {lane} names lane {other} as its {role}, but there are only {count} lanes")]
    Dangling {
        /// The lane.
        lane: usize,
        /// What it names.
        other: LaneNumber,
        /// As what.
        role: &'static str,
        /// How many lanes there are.
        count: usize,
    },
    /// A length, limit, width or share that cannot be.
    #[error("lane {lane}: {what} is {value}; it must be positive and finite")]
    Value {
        /// The lane.
        lane: usize,
        /// Which value.
        what: &'static str,
        /// The value.
        value: f64,
    },
    /// A neighbour that does not answer.
    #[error("lane {lane} has lane {other} as neighbour, which does not have lane {lane} on its other side")]
    Neighbour {
        /// The lane.
        lane: usize,
        /// Its neighbour.
        other: LaneNumber,
    },
    /// Too many lanes around one.
    #[error("lane {lane} has {count} links and rivals; at most {LIST_MAX} are possible")]
    Crowded {
        /// The lane.
        lane: usize,
        /// How many it has.
        count: usize,
    },
    /// A light that does not exist, or has no programme.
    #[error("lane {lane} is guarded by light {light}, which does not exist or has a programme of no length")]
    Light {
        /// The lane.
        lane: usize,
        /// The light.
        light: u32,
    },
}

/// One lane, as the hot loops read it: one line of the cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Lane {
    pub length_m: f64,
    pub limit_mps: f64,
    pub width_m: f64,
    pub left: LaneNumber,
    pub right: LaneNumber,
    pub light: u32,
    pub end: LaneEnd,
    pub stop_sign: bool,
    pub stop_before_m: f64,
    /// Whether anything must be obeyed before entering.
    pub is_guarded: bool,
    /// Whether cars of a neighbour may have to come over.
    pub has_merging: bool,
    /// Its only link, if it has just one: most lanes do, and need no list.
    pub only_next: LaneNumber,
    /// Where its lists begin.
    lists_from: u32,
    /// Where each of them ends after that: links, what leads here, who goes first, who has equal rights.
    list_ends: [u16; 4],
}

/// The lists of a lane, in the order in which they lie.
#[derive(Clone, Copy)]
enum List {
    Next,
    Prev,
    First,
    Equal,
}

const _: () = assert!(size_of::<Lane>() == 64, "a lane is one line of the cache");

/// No light.
pub(crate) const NO_LIGHT: u32 = u32::MAX;

/// The network, immutable.
#[derive(Clone, Debug)]
pub struct Streets {
    lanes: Vec<Lane>,
    lists: Vec<LaneNumber>,
    /// Upper end of the share of each link, beside `lists`; only links have one.
    shares: Vec<f64>,
    lights: Vec<Light>,
}

impl Streets {
    /// A network of lanes and lights.
    ///
    /// # Errors
    /// Names the first lane that cannot be, and why.
    pub fn new(specs: &[LaneSpec], lights: &[Light]) -> Result<Self, StreetsError> {
        for (number, spec) in specs.iter().enumerate() {
            check(number, spec, specs, lights)?;
        }
        let mut streets =
            Self { lanes: Vec::with_capacity(specs.len()), lists: vec![], shares: vec![], lights: lights.to_vec() };
        let mut prev: Vec<Vec<LaneNumber>> = vec![Vec::new(); specs.len()];
        for (number, spec) in specs.iter().enumerate() {
            spec.next.iter().for_each(|&(next, _)| prev[next as usize].push(number as LaneNumber));
        }
        if let Some(lane) = prev.iter().position(|prev| prev.len() > LIST_MAX) {
            return Err(StreetsError::Crowded { lane, count: prev[lane].len() });
        }
        for (spec, prev) in specs.iter().zip(&prev) {
            streets.add(spec, prev);
        }
        for number in 0..streets.lanes.len() {
            let lane = streets.lanes[number];
            if lane.list_ends[0] == 0 && lane.end == LaneEnd::Drop {
                for beside in [lane.left, lane.right].into_iter().filter(|&lane| lane != NO_LANE) {
                    streets.lanes[beside as usize].has_merging = true;
                }
            }
        }
        Ok(streets)
    }
    fn add(&mut self, spec: &LaneSpec, prev: &[LaneNumber]) {
        let total: f64 = spec.next.iter().map(|link| link.1).sum();
        let mut upper = 0.0;
        let lists_from = self.lists.len() as u32;
        let mut list_ends = [spec.next.len() as u16; 4];
        for &(next, share) in &spec.next {
            upper += share / total;
            self.lists.push(next);
            self.shares.resize(self.lists.len(), upper);
        }
        for (number, list) in [prev, &spec.gives_way_to, &spec.shares_with].into_iter().enumerate() {
            self.lists.extend_from_slice(list);
            list_ends[number + 1] = (self.lists.len() - lists_from as usize) as u16;
        }
        let has_foes = list_ends[1] != list_ends[3];
        self.lanes.push(Lane {
            length_m: spec.length_m,
            limit_mps: spec.limit_mps,
            width_m: spec.width_m,
            left: spec.left.unwrap_or(NO_LANE),
            right: spec.right.unwrap_or(NO_LANE),
            light: spec.light.unwrap_or(NO_LIGHT),
            end: spec.end,
            stop_sign: spec.stop_sign,
            stop_before_m: spec.stop_before_m,
            is_guarded: spec.stop_sign || spec.light.is_some() || has_foes,
            has_merging: false,
            only_next: if let [(only, _)] = spec.next[..] { only } else { NO_LANE },
            lists_from,
            list_ends,
        });
    }
    /// How many lanes there are.
    pub fn count(&self) -> usize {
        self.lanes.len()
    }
    /// Length of a lane, metres.
    pub fn length_m(&self, lane: LaneNumber) -> f64 {
        self.lane(lane).length_m
    }
    /// Where a lane leads.
    pub fn next(&self, lane: LaneNumber) -> &[LaneNumber] {
        self.list(lane, List::Next)
    }
    /// What leads into a lane.
    pub fn prev(&self, lane: LaneNumber) -> &[LaneNumber] {
        self.list(lane, List::Prev)
    }
    /// Lanes whose cars go before those that enter this lane.
    pub fn goes_first(&self, lane: LaneNumber) -> &[LaneNumber] {
        self.list(lane, List::First)
    }
    /// Lanes with the same rights as this one.
    pub fn goes_equally(&self, lane: LaneNumber) -> &[LaneNumber] {
        self.list(lane, List::Equal)
    }
    /// The lights.
    pub fn lights(&self) -> &[Light] {
        &self.lights
    }
    /// The link whose share a number in [0, 1) falls into.
    pub(crate) fn pick(&self, lane: LaneNumber, uniform: f64) -> LaneNumber {
        let data = self.lane(lane);
        let (from, to) = (data.lists_from, data.lists_from + u32::from(data.list_ends[0]));
        (from..to)
            .find(|&at| uniform < self.shares[at as usize] || at + 1 == to)
            .map_or(NO_LANE, |at| self.lists[at as usize])
    }
    /// The station on a neighbour beside a station of this lane: in proportion, since the outer lane of a bend is longer.
    pub(crate) fn beside_m(&self, lane: LaneNumber, other: LaneNumber, station_m: f64) -> f64 {
        let (here_m, there_m) = (self.lane(lane).length_m, self.lane(other).length_m);
        if here_m == there_m { station_m } else { station_m * (there_m / here_m) }
    }
    #[inline(always)]
    pub(crate) fn lane(&self, lane: LaneNumber) -> &Lane {
        &self.lanes[lane as usize]
    }
    /// Asks for a lane that will be read soon.
    #[inline(always)]
    pub(crate) fn fetch(&self, lane: LaneNumber) {
        prefetch(&self.lanes, lane as usize);
    }
    pub(crate) fn fastest_mps(&self) -> f64 {
        self.lanes.iter().map(|lane| lane.limit_mps).fold(0.0, f64::max)
    }
    #[inline(always)]
    fn list(&self, lane: LaneNumber, list: List) -> &[LaneNumber] {
        let data = self.lane(lane);
        let begin = match list {
            List::Next => 0,
            List::Prev | List::First | List::Equal => data.list_ends[list as usize - 1],
        };
        let from = data.lists_from as usize;
        &self.lists[from + usize::from(begin)..from + usize::from(data.list_ends[list as usize])]
    }
}

fn check(number: usize, spec: &LaneSpec, all: &[LaneSpec], lights: &[Light]) -> Result<(), StreetsError> {
    let values = [("the length", spec.length_m), ("the speed limit", spec.limit_mps), ("the width", spec.width_m)];
    let shares = spec.next.iter().map(|link| ("the share of a link", link.1));
    for (what, value) in values.into_iter().chain(shares) {
        if !(value.is_finite() && value > 0.0) {
            return Err(StreetsError::Value { lane: number, what, value });
        }
    }
    let (what, value) = ("the distance of the stop line", spec.stop_before_m);
    if !(value.is_finite() && value >= 0.0) {
        return Err(StreetsError::Value { lane: number, what, value });
    }
    let names = [("neighbour", spec.left.iter().chain(&spec.right).copied().collect::<Vec<_>>())]
        .into_iter()
        .chain([("continuation", spec.next.iter().map(|link| link.0).collect())])
        .chain([("superior", spec.gives_way_to.clone()), ("equal", spec.shares_with.clone())]);
    for (role, others) in names {
        if let Some(&other) = others.iter().find(|&&other| other as usize >= all.len()) {
            return Err(StreetsError::Dangling { lane: number, other, role, count: all.len() });
        }
    }
    let count = spec.next.len() + spec.gives_way_to.len() + spec.shares_with.len();
    if count > LIST_MAX {
        return Err(StreetsError::Crowded { lane: number, count });
    }
    let own = Some(number as LaneNumber);
    if let Some(other) = spec.left.filter(|&other| all[other as usize].right != own) {
        return Err(StreetsError::Neighbour { lane: number, other });
    }
    if let Some(other) = spec.right.filter(|&other| all[other as usize].left != own) {
        return Err(StreetsError::Neighbour { lane: number, other });
    }
    let runs = |light: &Light| light.period_us() > 0;
    match spec.light {
        Some(light) if !lights.get(light as usize).is_some_and(runs) => {
            Err(StreetsError::Light { lane: number, light })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lane(next: &[(LaneNumber, f64)]) -> LaneSpec {
        LaneSpec { length_m: 100.0, limit_mps: 14.0, width_m: 3.5, next: next.to_vec(), ..LaneSpec::default() }
    }

    #[test]
    fn links_are_taken_by_their_shares() {
        let streets = Streets::new(&[lane(&[(1, 1.0), (2, 3.0)]), lane(&[]), lane(&[])], &[]).unwrap();
        assert_eq!(streets.pick(0, 0.24), 1);
        assert_eq!(streets.pick(0, 0.26), 2);
        assert_eq!(streets.pick(0, 0.999_999), 2);
        assert_eq!(streets.pick(1, 0.5), NO_LANE);
        assert_eq!(streets.prev(2), [0]);
    }

    #[test]
    fn networks_that_cannot_be_are_told_with_their_lane() {
        let check = |specs: &[LaneSpec], expect: &str| {
            assert_eq!(Streets::new(specs, &[]).unwrap_err().to_string(), expect);
        };
        check(&[lane(&[(3, 1.0)])], "lane 0 names lane 3 as its continuation, but there are only 1 lanes");
        check(&[LaneSpec { length_m: 0.0, ..lane(&[]) }], "lane 0: the length is 0; it must be positive and finite");
        check(&[lane(&[(0, f64::NAN)])], "lane 0: the share of a link is NaN; it must be positive and finite");
        check(
            &[LaneSpec { left: Some(1), ..lane(&[]) }, lane(&[])],
            "lane 0 has lane 1 as neighbour, which does not have lane 0 on its other side",
        );
        check(
            &[LaneSpec { light: Some(0), ..lane(&[]) }],
            "lane 0 is guarded by light 0, which does not exist or has a programme of no length",
        );
    }

    #[test]
    fn a_light_goes_through_its_programme() {
        let light = Light::cycle(3.0, 1.0, 2.0, 1.0);
        let seen: Vec<Colour> = (0..7).map(|second| light.colour(second * 1_000_000)).collect();
        use Colour::{Green, Red, Yellow};
        assert_eq!(seen, [Green, Green, Yellow, Red, Red, Green, Green]);
    }
}
