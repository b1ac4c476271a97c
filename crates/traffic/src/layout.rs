//! From a road map to the streets of the traffic and back.
//!
//! The traffic wants lanes that are left at their end, entered at their beginning and have neighbours over their whole length. So the lanes of a
//! map are cut into pieces where links leave or enter, where a lane beside them begins or ends, and where the speed limit changes.
//! Cars count the way in stations; the few per mille by which a bend is longer than its chords are left out.

use anabranch_geometry::{Point, Pose};
use anabranch_kernel::maths;
use anabranch_roads::{Aspect, Crosswalk, Frenet, LaneId, LaneKind, Network, Precedence, Sign, SignalRef, Then, Turn};

use crate::car::Car;
use crate::demand::{Hop, Route};
use crate::population::Outside;
use crate::settings::Settings;
use crate::streets::{Colour, LaneEnd, LaneNumber, LaneSpec, Light, Streets, StreetsError};
use crate::walker::Crossed;

/// Lanes that are longer are cut into pieces of about this length, so that a branch looks at few cars at a time.
const PIECE_MAX_M: f64 = 2000.0;
/// Cuts nearer to each other than this are one.
const CUT_MIN_M: f64 = 0.5;
/// Distance at which limits and curvature are looked at.
const SAMPLE_M: f64 = 5.0;
/// A change of the limit that makes a cut.
const LIMIT_STEP_MPS: f64 = 1.0;
/// Lateral acceleration up to which bends are driven.
const LATERAL_MPS2: f64 = 2.5;
/// How much more go straight on than turn, among cars without a route.
const STRAIGHT_SHARE: f64 = 2.0;

/// A piece of a lane of the map.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Piece {
    lane: LaneId,
    from_m: f64,
    to_m: f64,
}

/// How the lanes of a map and those of the traffic belong together.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    pieces: Vec<Piece>,
    /// Where the pieces of each lane begin in `pieces`, and where the last one ends.
    starts: Vec<u32>,
}

impl Layout {
    /// Streets and layout of a map.
    ///
    /// # Errors
    /// If a lane cannot be driven on.
    pub fn new(network: &Network) -> Result<(Streets, Self), StreetsError> {
        let mut layout = Self { pieces: Vec::new(), starts: vec![0] };
        for (lane, cuts) in network.lanes().iter().zip(cuts(network)) {
            let pieces = cuts.windows(2).map(|ends| Piece { lane: lane.id(), from_m: ends[0], to_m: ends[1] });
            layout.pieces.extend(pieces);
            layout.starts.push(layout.pieces.len() as u32);
        }
        let (lights, signals) = lights(network);
        let mut specs: Vec<LaneSpec> =
            (0..layout.pieces.len()).map(|number| layout.spec(network, &signals, number)).collect();
        keep_mutual_neighbours(&mut specs);
        Ok((Streets::new(&specs, &lights)?, layout))
    }
    /// The place in the traffic of a station on a lane of the map.
    pub fn place(&self, lane: LaneId, station_m: f64) -> (LaneNumber, f64) {
        let (from, to) = (self.starts[lane.index()] as usize, self.starts[lane.index() + 1] as usize);
        let after = self.pieces[from..to].partition_point(|piece| piece.from_m <= station_m);
        let number = from + after.max(1) - 1;
        (number as LaneNumber, station_m - self.pieces[number].from_m)
    }
    /// The lane of the map and the station on it of a place in the traffic.
    pub fn station(&self, lane: LaneNumber, station_m: f64) -> (LaneId, f64) {
        let piece = self.pieces[lane as usize];
        (piece.lane, piece.from_m + station_m)
    }
    /// Pose of the middle of a car's front bumper.
    pub fn front(&self, network: &Network, car: &Car) -> Pose {
        let (lane, station_m) = self.station(car.lane, car.station_m);
        let lane = network.lane(lane);
        let place = Frenet { station_m, lateral_m: car.lateral_m, heading: 0.0 };
        let point = lane.point(place);
        Pose::new(point.x, point.y, lane.pose(station_m).heading + car.heading_rad)
    }
    /// Pose of the middle of a car, taking it as straight behind its front.
    pub fn middle(&self, network: &Network, settings: &Settings, car: &Car) -> Pose {
        let front = self.front(network, car);
        let half_m = 0.5 * settings.kinds[usize::from(car.kind)].length_m;
        let middle = front.world_from_local(Point::new(-half_m, 0.0));
        Pose::new(middle.x, middle.y, front.heading)
    }
    /// Somebody from outside, by the pose of his front, in every lane that his width reaches. `lanes` is a buffer.
    pub fn outside(&self, network: &Network, front: Pose, seen: Seen, lanes: &mut Vec<LaneId>, out: &mut Vec<Outside>) {
        network.near(front.point(), seen.half_width_m + WIDEST_HALF_LANE_M, lanes);
        for &id in lanes.iter() {
            let lane = network.lane(id);
            let place = lane.project_anywhere(front.point());
            let is_on_it = (-CUT_MIN_M..=lane.length_m() + CUT_MIN_M).contains(&place.station_m);
            if !is_on_it || place.lateral_m.abs() > 0.5 * lane.width_m(place.station_m) + seen.half_width_m {
                continue;
            }
            let (number, station_m) = self.place(id, place.station_m.clamp(0.0, lane.length_m()));
            let along = maths::cos(front.heading - place.heading);
            let speed_mps = seen.speed_mps * along;
            out.push(Outside { lane: number, station_m, lateral_m: place.lateral_m, speed_mps, kind: seen.kind });
        }
    }
    /// A route of the map as one of the traffic.
    pub fn route(&self, network: &Network, route: &anabranch_roads::Route) -> Route {
        let mut hops: Vec<(LaneNumber, Hop)> = Vec::new();
        for leg in &route.legs {
            let first = self.place(leg.lane, leg.from_station_m).0;
            // A hair before its end, so that a leg that ends at a cut ends in the piece before it.
            let last = self.place(leg.lane, (leg.to_station_m - 1e-6).max(leg.from_station_m)).0;
            for number in first..=last {
                let hop = match leg.then {
                    Then::Left => Hop::Left,
                    Then::Right => Hop::Right,
                    _ if number < last => Hop::Next(number + 1),
                    Then::Link(link) => {
                        let link = network.lane(leg.lane).next()[link];
                        Hop::Next(self.place(link.to, link.to_station_m).0)
                    }
                    Then::Arrive => Hop::End,
                };
                hops.push((number, hop));
            }
        }
        Route::new(hops)
    }
    /// The lanes that a crosswalk leads over, for [`WalkerSpec`](crate::WalkerSpec): metres from its first kerb.
    pub fn crossed(&self, network: &Network, crosswalk: &Crosswalk) -> Vec<Crossed> {
        let mut crossed: Vec<Crossed> = Vec::new();
        for crossing in &crosswalk.crossings {
            let lane = network.lane(crossing.lane);
            let middle_m = 0.5 * (crossing.from_station_m + crossing.to_station_m);
            let from_kerb_m = crosswalk.from.distance_m(lane.position(middle_m));
            let half_m = 0.5 * lane.width_m(middle_m);
            let (number, station_m) = self.place(crossing.lane, crossing.from_station_m);
            crossed.push(Crossed { lane: number, station_m, from_m: from_kerb_m - half_m, to_m: from_kerb_m + half_m });
        }
        crossed.sort_by(|a, b| a.from_m.total_cmp(&b.from_m));
        crossed
    }
    fn spec(&self, network: &Network, signals: &[SignalRef], number: usize) -> LaneSpec {
        let piece = self.pieces[number];
        let lane = network.lane(piece.lane);
        let middle_m = 0.5 * (piece.from_m + piece.to_m);
        let beside = |at: Option<(LaneId, f64)>| at.map(|(lane, station_m)| self.place(lane, station_m).0);
        let mut spec = LaneSpec {
            length_m: piece.to_m - piece.from_m,
            left: beside(lane.left_at(middle_m)),
            right: beside(lane.right_at(middle_m)),
            ..LaneSpec::default()
        };
        (spec.limit_mps, spec.width_m) = slowest_and_narrowest(network, piece);
        for link in lane.next().iter().filter(|link| (link.from_station_m - piece.to_m).abs() < CUT_MIN_M) {
            let share = if link.turn == Turn::Straight { STRAIGHT_SHARE } else { 1.0 };
            spec.next.push((self.place(link.to, link.to_station_m).0, share));
        }
        if number + 1 < self.starts[piece.lane.index() + 1] as usize {
            spec.next.push((number as LaneNumber + 1, STRAIGHT_SHARE));
        } else if lane.next().is_empty() && (spec.left.is_some() || spec.right.is_some()) {
            let goes_on = |id: Option<LaneId>| id.is_some_and(|id| !network.lane(id).next().is_empty());
            let is_dropped = goes_on(lane.left()) || goes_on(lane.right()) || self.is_overtaken(number, &spec);
            spec.end = if is_dropped { LaneEnd::Drop } else { LaneEnd::Exit };
        }
        if piece.from_m == 0.0
            && let Some(rule) = network.rule(piece.lane)
        {
            let of = |wanted: Precedence| {
                let foes = rule.conflicts.iter().filter(move |conflict| conflict.precedence == wanted);
                foes.map(|conflict| self.starts[conflict.with.index()]).collect::<Vec<_>>()
            };
            (spec.gives_way_to, spec.shares_with) = (of(Precedence::Yields), of(Precedence::FirstCome));
            spec.stop_sign = rule.sign == Sign::Stop && rule.signal.is_none();
            spec.light = rule.signal.and_then(|signal| signals.binary_search(&signal).ok()).map(|at| at as u32);
            let exit_m = network.lane(rule.approach).next().iter().find(|link| link.to == rule.turn);
            spec.stop_before_m = exit_m.map_or(0.0, |link| (link.from_station_m - rule.stop_station_m).max(0.0));
        }
        spec
    }
    /// Whether the lane beside the last piece of a lane goes on where that one ends.
    fn is_overtaken(&self, number: usize, spec: &LaneSpec) -> bool {
        let goes_on = |beside: LaneNumber| {
            let lane = self.pieces[beside as usize].lane;
            lane != self.pieces[number].lane && beside + 1 < self.starts[lane.index() + 1]
        };
        spec.left.is_some_and(goes_on) || spec.right.is_some_and(goes_on)
    }
}

/// Half the widest lane that an outsider is looked for on.
const WIDEST_HALF_LANE_M: f64 = 3.0;

/// What the traffic sees of somebody from outside, beside where he is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// Speed along his heading.
    pub speed_mps: f64,
    /// Half his width.
    pub half_width_m: f64,
    /// His type, as a number in the list of the settings.
    pub kind: u8,
}

/// Where each lane is cut: ends, links, limits, and whatever is cut beside it.
fn cuts(network: &Network) -> Vec<Vec<f64>> {
    let mut cuts: Vec<Vec<f64>> = network.lanes().iter().map(|lane| vec![0.0, lane.length_m()]).collect();
    let mut open: Vec<(LaneId, f64)> = Vec::new();
    for lane in network.lanes() {
        for link in lane.next() {
            open.push((lane.id(), link.from_station_m));
            open.push((link.to, link.to_station_m));
        }
        if lane.kind() == LaneKind::Road {
            let steps = (lane.length_m() / SAMPLE_M) as usize;
            let limit_at = |k: usize| lane.limit_mps(k as f64 * SAMPLE_M);
            let changes = (1..steps).filter(|&k| (limit_at(k) - limit_at(k - 1)).abs() > LIMIT_STEP_MPS);
            open.extend(changes.map(|k| (lane.id(), (k as f64 - 0.5) * SAMPLE_M)));
        }
        let long_pieces = (lane.length_m() / PIECE_MAX_M) as usize;
        let piece_m = lane.length_m() / long_pieces.max(1) as f64;
        open.extend((1..long_pieces).map(|k| (lane.id(), k as f64 * piece_m)));
        for end_m in [0.0, lane.length_m()] {
            open.extend(lane.left_at(end_m).into_iter().chain(lane.right_at(end_m)));
        }
    }
    while let Some((id, station_m)) = open.pop() {
        let lane = network.lane(id);
        let known = &mut cuts[id.index()];
        let at = known.partition_point(|&cut| cut < station_m);
        let is_near = |cut: Option<&f64>| cut.is_some_and(|cut| (cut - station_m).abs() < CUT_MIN_M);
        if is_near(known.get(at)) || at == 0 || is_near(known.get(at - 1)) || at == known.len() {
            continue;
        }
        known.insert(at, station_m);
        open.extend(lane.left_at(station_m).into_iter().chain(lane.right_at(station_m)));
    }
    cuts
}

/// Speed limit of a piece, also for its bends, and its width.
fn slowest_and_narrowest(network: &Network, piece: Piece) -> (f64, f64) {
    let lane = network.lane(piece.lane);
    let steps = ((piece.to_m - piece.from_m) / SAMPLE_M).ceil().max(1.0) as usize;
    let (mut limit_mps, mut width_m) = (f64::INFINITY, f64::INFINITY);
    for k in 0..=steps {
        // A hair inside, since limits may jump at the ends.
        let part = (k as f64 / steps as f64).clamp(1e-6, 1.0 - 1e-6);
        let point = lane.at(piece.from_m + part * (piece.to_m - piece.from_m));
        let in_bend_mps = (LATERAL_MPS2 / point.curvature.abs().max(1e-6)).sqrt();
        limit_mps = limit_mps.min(point.limit_mps).min(in_bend_mps);
        width_m = width_m.min(point.width_m);
    }
    (limit_mps, width_m)
}

/// All lights of the network: one per group of a program.
fn lights(network: &Network) -> (Vec<Light>, Vec<SignalRef>) {
    let (mut lights, mut signals) = (Vec::new(), Vec::new());
    for (number, program) in network.programs().iter().enumerate() {
        for group in 0..program.groups.len() {
            let colour = |aspect: Aspect| match aspect {
                Aspect::Red | Aspect::RedAmber => Colour::Red,
                Aspect::Amber => Colour::Yellow,
                Aspect::Green | Aspect::Dark => Colour::Green, // Out of order: who goes first is left to the rules.
            };
            let phases = program.phases.iter().map(|phase| (phase.duration_us, colour(phase.aspects[group]))).collect();
            lights.push(Light { phases, offset_us: program.offset_us });
            signals.push(SignalRef { program: number, group });
        }
    }
    (lights, signals)
}

/// Drops neighbours that do not answer: where cuts do not quite meet there is no changing.
fn keep_mutual_neighbours(specs: &mut [LaneSpec]) {
    let sides: Vec<(Option<LaneNumber>, Option<LaneNumber>)> = specs.iter().map(|s| (s.left, s.right)).collect();
    for (number, spec) in specs.iter_mut().enumerate() {
        let own = Some(number as LaneNumber);
        spec.left = spec.left.filter(|&left| sides[left as usize].1 == own);
        spec.right = spec.right.filter(|&right| sides[right as usize].0 == own);
    }
}
