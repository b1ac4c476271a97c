//! One segment on roads, tick by tick.

use anabranch_driving::follow::Told;
use anabranch_geometry::tiles::NearTiles;
use anabranch_geometry::{Body, Contact, Motion, Pose, first_contact, max_displacement, may_touch};
use anabranch_kernel::{Chance, Choice, Fault, Seed, SegmentEnd, Watch, maths};
use anabranch_monitors::{low_speed, road};
use anabranch_sensing::TrackerState;
use anabranch_traffic::Input;
use anabranch_vehicle::{Car, Gear};

use super::super::door::Doors;
use super::super::measure::FRAME_MAX;
use super::super::state::{DriveState, DriverMemory, HeldCommand};
use super::super::tick::Scratch;
use super::super::{Drive, Driver};
use super::look::Viewer;
use super::others::Other;
use super::rules::Moved;
use super::signals::Moment;
use super::witness::is_believed;
use super::{Buffers, Handed, Street, StreetState, place};

/// Others nearer than this get their exact distance; for those beyond it a bound is told.
const NEAR_M: f64 = 20.0;

/// The pose of a car in the frame of another; its heading is not wrapped.
pub(super) fn relative(frame: Pose, car: Pose) -> Pose {
    let local = frame.local_from_world(car.point());
    Pose::new(local.x, local.y, car.heading - frame.heading)
}

/// A segment on roads on its way: what evolves, taken out of the state, and what it works with.
#[derive(Debug)]
pub(in super::super) struct OnStreet {
    pub(in super::super) own: Box<StreetState>,
    pub(super) buffers: Box<Buffers>,
    /// The run ended before its first base cycle.
    pub(in super::super) ended: Option<SegmentEnd>,
}

impl Drive {
    /// Runs one segment on roads.
    pub(in super::super) fn run_on_street(
        &self,
        street: &Street,
        state: &mut DriveState,
        choice: Choice,
        watch: &mut Watch<'_>,
    ) -> Result<SegmentEnd, Fault> {
        let mut scratch = self.begin_segment(state, choice, watch);
        let mut on = self.enter_street(street, state, &mut scratch, watch);
        let mut ended = Ok(on.ended.take());
        for cycle in 0..self.segment_ticks {
            if !matches!(ended, Ok(None)) {
                break;
            }
            let told = self.sense_on_street(street, &mut on, state, cycle, &scratch);
            if let Some(end) = self.decide_on_street(street, &mut on, state, &told, &mut scratch) {
                ended = Ok(Some(end));
                break;
            }
            let (steering, accel) = self.commanded(state, &scratch);
            ended = self.act_on_street(street, &mut on, state, &mut scratch, watch, |handed| {
                street.vehicle.step(handed, steering, accel)
            });
        }
        street.leave(on, state);
        Ok(match ended? {
            Some(end) => end,
            None => self.end_segment(state, watch),
        })
    }

    /// Begins a segment on roads; [`Street::leave`] ends it.
    pub(in super::super) fn enter_street(
        &self,
        street: &Street,
        state: &mut DriveState,
        scratch: &mut Scratch<'_>,
        watch: &mut Watch<'_>,
    ) -> OnStreet {
        let (mut own, mut buffers) = (state.take_street(), street.buffers.take());
        buffers.fault = None;
        street.asked(scratch.effects.appeared, &mut buffers.fire);
        street.gather(&own.branch, state.car.car.pose().point(), &mut buffers.others);
        scratch.clearance_m = scratch.clearance_m.min(self.others_m(street, state, &own, &buffers.others));
        if let Some((body, pose)) = street.vehicle.trailer(&state.car.car, &own.attached) {
            scratch.clearance_m = scratch.clearance_m.min(self.trailer_to_walls_m(body, pose));
        }
        if let Some(fences) = &street.fences {
            match fences.clearance_m(&self.body, state.car.car.pose(), &mut buffers.tiles) {
                Ok((clearance_m, _)) => scratch.clearance_m = scratch.clearance_m.min(clearance_m),
                Err(fault) => buffers.fault = Some(fault),
            }
        }
        let mut ended = None;
        if state.tick == 0 && (watch.is_recording() || self.requirements.has_start()) {
            // Watching must not change anything, not even whether the car has stood.
            let before = (own.stood, own.lately);
            let frame = self.street_frame(street, &mut own, state, scratch, &buffers, &Event::default());
            (own.stood, own.lately) = before;
            let Buffers { others, tiles, fault, .. } = &mut *buffers;
            ended = self.see_start(state, &frame[..self.measuring.first], watch, |doors| {
                street.show_all(doors, others, tiles, fault)
            });
        }
        OnStreet { own, buffers, ended }
    }

    /// What the driver is told about its car; sensors look around.
    pub(in super::super) fn sense_on_street(
        &self,
        street: &Street,
        on: &mut OnStreet,
        state: &mut DriveState,
        cycle: u32,
        scratch: &Scratch<'_>,
    ) -> Told<f64> {
        let told = match &street.navigation {
            Some(navigation) => self.sense_by_filter(navigation, &mut on.own, state, cycle, scratch),
            None => self.sense(state, cycle, scratch),
        };
        let viewer = Viewer { truth: state.car.car.pose(), believed: Pose::new(told.x, told.y, told.heading) };
        if let Err(fault) = street.look(&mut on.own, viewer, &scratch.effects, &mut on.buffers) {
            on.buffers.fault = Some(fault);
        }
        street.read_gauges(&mut on.own, &state.car.car, scratch.effects.friction_gain);
        let car = (&state.car.car, &self.model.spec.outline);
        street.help(&mut on.own, car, &scratch.effects, &mut on.buffers);
        told
    }

    /// Takes a new command from the built-in driver or a model, in the cycles meant for it; `Some` if a model did
    /// something wrong, which ends the run.
    pub(in super::super) fn decide_on_street(
        &self,
        street: &Street,
        on: &mut OnStreet,
        state: &mut DriveState,
        told: &Told<f64>,
        scratch: &mut Scratch<'_>,
    ) -> Option<SegmentEnd> {
        if !state.tick.is_multiple_of(self.control_ticks) {
            return None;
        }
        if matches!(self.driver, Driver::Model(_)) {
            return self.decide_by_model_on_street(street, on, state, told, scratch);
        }
        let OnStreet { own, buffers, .. } = on;
        let ego = self.estimate(own, &state.car.car, Pose::new(told.x, told.y, told.heading), told.speed);
        let seen = street.seen(own, state.start, ego, buffers);
        let command = street.drivers[usize::from(state.start)].decide(&mut own.memory, &seen);
        let arrived = own.memory.arrived;
        let command = match &self.behind {
            None => command,
            Some(behind) => match self.pass_through(behind, state, told, command, scratch) {
                Ok(passed) => passed,
                Err(end) => return Some(end),
            },
        };
        state.command = HeldCommand { steering_rad: command.steering, accel_mps2: command.accel };
        state.car.gear = Gear::of_sign(command.gear_sign);
        state.driver = DriverMemory::Road { completed: arrived };
        None
    }

    /// The rest of a base cycle, with the car moved by somebody: everybody moves, contact is found, requirements are judged.
    pub(in super::super) fn act_on_street<'a>(
        &'a self,
        street: &Street,
        on: &mut OnStreet,
        state: &mut DriveState,
        scratch: &mut Scratch<'a>,
        watch: &mut Watch<'_>,
        moved: impl FnOnce(Handed<'_>) -> (f64, f64),
    ) -> Result<Option<SegmentEnd>, Fault> {
        let OnStreet { own, buffers, .. } = on;
        if let Some(fault) = buffers.fault.take() {
            return Err(fault);
        }
        let before = state.car.car;
        let was_on = street.on_lane(own, before.pose());
        let outside = street.outsiders(&was_on, &self.model.spec.outline, before.speed);
        let trailer_before = street.vehicle.trailer(&before, &own.attached);
        let ground = (&was_on, f64::from(state.tick) * self.model.dt_s, scratch.effects.friction_gain);
        let worn = street.worn(own);
        let attached = &mut own.attached;
        let mut contact = self.advance(state, scratch, |car, gear_sign| {
            moved(street.vehicle.hand((car, attached), gear_sign, ground, worn))
        });
        street.fire_by_hand(own.branch.tick, &mut buffers.fire);
        street.put_bystanders(&own.branch, &mut buffers.bystanders);
        street.traffic.step_branch(
            &street.now(own.branch.tick),
            &mut own.branch,
            Input { outside: &outside, bystanders: &buffers.bystanders, fire: &buffers.fire },
            &mut buffers.branch,
        );
        state.tick += 1;
        if !(state.car.car.x + state.car.car.y + state.car.car.heading + state.car.car.speed).is_finite() {
            return Err(Fault::Numeric(format!("the car left the numbers at tick {}", state.tick)));
        }
        std::mem::swap(&mut buffers.others, &mut buffers.before);
        street.gather(&own.branch, state.car.car.pose().point(), &mut buffers.others);
        let motion = Motion { from: before.pose(), to: state.car.car.pose() };
        let mut event = Event {
            accel_before: before.accel,
            way_m: before.speed * self.model.dt_s,
            speed_gained_mps: state.car.car.speed - before.speed,
            ..Event::default()
        };
        let mut touch = self.touch(street, (&self.body, &motion), buffers, scratch);
        if let (Some((body, from)), Some((_, to))) =
            (trailer_before, street.vehicle.trailer(&state.car.car, &own.attached))
        {
            let drawn = self.drag(street, (body, Motion { from, to }, motion), buffers, scratch);
            let sooner = |a: &Touch, b: &Touch| a.contact.fraction.total_cmp(&b.contact.fraction);
            touch = touch.into_iter().chain(drawn).min_by(sooner);
        }
        event.has_met = touch.is_some();
        if let Some(fences) = &street.fences {
            let trailer = trailer_before.zip(street.vehicle.trailer(&state.car.car, &own.attached));
            let drawn = trailer.map(|((body, from), (_, to))| (body, Motion { from, to }));
            for (body, way) in [(&self.body, motion)].into_iter().chain(drawn) {
                let (clearance_m, hit) = fences.along(body, &way, &mut buffers.tiles)?;
                scratch.clearance_m = scratch.clearance_m.min(clearance_m);
                let hit = hit.map(|contact| {
                    let on_ego = motion.at(contact.fraction).local_from_world(contact.in_world);
                    Touch { contact: Contact { on_ego, ..contact }, velocity_mps: [0.0; 2] }
                });
                touch = touch.into_iter().chain(hit).min_by(|a, b| a.contact.fraction.total_cmp(&b.contact.fraction));
            }
        }
        if let Some(touch) = touch {
            let is_first = contact.as_ref().is_none_or(|wall| touch.contact.fraction < wall.fraction);
            if is_first {
                event.impact_mps = relative_speed(&state.car.car, touch.velocity_mps);
                contact = Some(touch.contact);
            }
        } else if contact.is_some() {
            event.impact_mps = state.car.car.speed.abs();
        }
        event.contact = contact;
        watch.see_margin(scratch.clearance_m);
        let frame = self.street_frame(street, own, state, scratch, buffers, &event);
        street.tell_around(own, &buffers.others, state.tick, watch);
        let Buffers { others, tiles, fault, .. } = &mut **buffers;
        let end = self.see(state, &frame[..self.measuring.first], event.contact.as_ref(), watch, |doors| {
            street.show_all(doors, others, tiles, fault);
        });
        match fault.take() {
            Some(fault) => Err(fault),
            None => Ok(end),
        }
    }

    /// Contact with others along the way of this tick, in their own frames; the clearance becomes that of the nearest.
    pub(super) fn touch(
        &self,
        street: &Street,
        (body, motion): (&Body, &Motion),
        buffers: &Buffers,
        scratch: &mut Scratch<'_>,
    ) -> Option<Touch> {
        let mut first: Option<Touch> = None;
        scratch.clearance_m = scratch.clearance_m.min(street.reach_m);
        for other in &buffers.others {
            let far_m = motion.to.point().distance_m(other.pose.point()) - body.bounding_radius_m - other.radius_m();
            if far_m > NEAR_M {
                scratch.clearance_m = scratch.clearance_m.min(far_m);
                continue;
            }
            let known = buffers.before.binary_search_by_key(&other.number, |known| known.number);
            let was = known.map_or(other, |at| &buffers.before[at]);
            if let Some(contact) = self.touch_one(street, (body, motion), was, other, scratch)
                && first.as_ref().is_none_or(|touch| contact.fraction < touch.contact.fraction)
            {
                first = Some(Touch { contact, velocity_mps: other.velocity_mps() });
            }
        }
        if first.is_some() {
            scratch.clearance_m = scratch.clearance_m.min(0.0);
        }
        first
    }

    fn touch_one(
        &self,
        street: &Street,
        (body, motion): (&Body, &Motion),
        was: &Other,
        is: &Other,
        scratch: &mut Scratch<'_>,
    ) -> Option<Contact> {
        let from = relative(was.pose, motion.from);
        let other_turn = maths::wrap_angle(is.pose.heading - was.pose.heading);
        let turn = (motion.to.heading - motion.from.heading) - other_turn;
        let to = Pose { heading: from.heading + turn, ..relative(is.pose, motion.to) };
        let clearance_m = street.clearance_m(body, motion.to, is, f64::INFINITY);
        let before_m = street.clearance_m(body, motion.from, was, f64::INFINITY);
        scratch.clearance_m = scratch.clearance_m.min(clearance_m);
        let moved_m = max_displacement(body, to.x - from.x, to.y - from.y, turn);
        if !may_touch(before_m, clearance_m, moved_m) {
            return None;
        }
        let contact = first_contact(body, &Motion { from, to }, street.edges(is.shape).edges())?;
        // Where both were when they touched, not at the end of the cycle.
        let other_to = Pose { heading: was.pose.heading + other_turn, ..is.pose };
        let other = Motion { from: was.pose, to: other_to }.at(contact.fraction);
        let in_world = other.world_from_local(contact.in_world);
        Some(Contact { in_world, obstacle: street.verdict_number(is.number), ..contact })
    }

    /// From the car, and whatever it draws, to the nearest other road user, at most the reach.
    fn others_m(&self, street: &Street, state: &DriveState, own: &StreetState, others: &[Other]) -> f64 {
        let car = &state.car.car;
        let nearest_m = street.nearest_m(&self.body, car.pose(), others);
        let trailer = street.vehicle.trailer(car, &own.attached);
        trailer.map_or(nearest_m, |(body, pose)| nearest_m.min(street.nearest_m(body, pose, others)))
    }

    /// The same to the nearest one in whom the car does not believe.
    fn unseen_m(&self, street: &Street, state: &DriveState, own: &StreetState, others: &[Other]) -> f64 {
        let mut tracks = Vec::new();
        street.believed_at(own, &mut tracks);
        let unseen: Vec<Other> = others.iter().filter(|other| !is_believed(other, &tracks)).copied().collect();
        self.others_m(street, state, own, &unseen)
    }

    fn street_frame(
        &self,
        street: &Street,
        own: &mut StreetState,
        state: &DriveState,
        scratch: &Scratch<'_>,
        buffers: &Buffers,
        event: &Event,
    ) -> [f64; FRAME_MAX] {
        let mut frame = [0.0; FRAME_MAX];
        let plain = self.frame(state, scratch, event.accel_before, event.contact.as_ref());
        frame[..low_speed::COUNT].copy_from_slice(&plain);
        let (car, outline) = (&state.car.car, &self.model.spec.outline);
        let on = street.on_lane(own, car.pose());
        let moved = Moved { front_m: outline.front_m, way_m: event.way_m, speed_mps: car.speed };
        let passed = street.pass_lines(own, &on, moved);
        let moment = Moment { car, outline, on: &on, passed, others: &buffers.others, impact_mps: event.impact_mps };
        street.signal(&moment, &mut frame);
        frame[road::RSS_RESERVE] = match scratch.wants(road::RSS_RESERVE) {
            true => street.reserve_m(&moment, street.vehicle.rear_m(&self.model)),
            false => f64::INFINITY,
        };
        frame[road::OTHERS_DISTANCE] = match scratch.wants(road::OTHERS_DISTANCE) {
            true if event.has_met => 0.0,
            true => self.others_m(street, state, own, &buffers.others),
            false => f64::INFINITY,
        };
        frame[road::UNSEEN_DISTANCE] = match scratch.wants(road::UNSEEN_DISTANCE) {
            true => self.unseen_m(street, state, own, &buffers.others),
            false => f64::INFINITY,
        };
        self.signal_vehicle(car, &own.attached, event, &mut frame);
        own.lately.step(car.speed, car.steering, frame[low_speed::AT_GOAL] != 0.0, self.model.dt_s);
        frame[road::STANDING] = own.lately.standing_s(self.model.dt_s);
        frame[road::WOBBLE] = own.lately.wobble_hz();
        if let Some(helpers) = own.helpers.as_deref() {
            street.helpers.show(helpers, state.tick, &mut frame[road::COUNT..]);
        }
        frame
    }
}

/// What happened in a tick besides motion.
#[derive(Clone, Debug, Default)]
pub(super) struct Event {
    accel_before: f64,
    way_m: f64,
    pub(super) speed_gained_mps: f64,
    contact: Option<Contact>,
    /// Whether another road user was touched.
    has_met: bool,
    impact_mps: f64,
}

/// A contact with somebody who may move.
#[derive(Clone, Debug)]
pub(super) struct Touch {
    pub(super) contact: Contact,
    pub(super) velocity_mps: [f64; 2],
}

fn relative_speed(car: &Car<f64>, other: [f64; 2]) -> f64 {
    let (sin, cos) = maths::sin_cos(car.heading);
    maths::hypot(car.speed * cos - other[0], car.speed * sin - other[1])
}

impl Street {
    /// Shows the doors of the car what is there besides walls. What cannot be read is a fault, never free ground.
    fn show_all(&self, doors: &mut Doors, others: &[Other], tiles: &mut Option<NearTiles>, fault: &mut Option<Fault>) {
        others.iter().for_each(|other| doors.meet(self.edges(other.shape).edges(), other.pose));
        if let Some(Err(wrong)) = self.fences.as_ref().map(|fences| fences.meet(doors, tiles)) {
            *fault = Some(wrong);
        }
    }
    /// Triggers that the errors of a segment fire.
    fn asked(&self, appeared: u32, fire: &mut Vec<usize>) {
        fire.clear();
        let fires = self.cast.fires.iter().enumerate().filter(|(number, _)| appeared >> number & 1 == 1);
        fire.extend(fires.filter_map(|(_, trigger)| *trigger));
    }
    /// Adds the triggers that are fired by hand.
    fn fire_by_hand(&self, tick: u32, fire: &mut Vec<usize>) {
        let due = self.by_hand.iter().filter(|(at, _)| *at <= tick).map(|(_, trigger)| *trigger);
        for trigger in due {
            if !fire.contains(&trigger) {
                fire.push(trigger);
            }
        }
    }
    /// Number in verdicts: objects with a name follow walls and obstacles, and all others are one.
    fn verdict_number(&self, number: u32) -> u32 {
        self.verdicts_from + number.min(self.cast.parts.len() as u32)
    }
    /// Ends a segment on roads: the state is whole again.
    pub(in super::super) fn leave(&self, on: OnStreet, state: &mut DriveState) {
        self.buffers.put(on.buffers);
        state.put_street(on.own);
    }
    /// The part of the state at the beginning of a run.
    pub(in super::super) fn start(&self, seed: Seed, start: usize, car: &Car<f64>) -> StreetState {
        let tick_s = self.step_us as f64 * 1e-6;
        let navigation = self.navigation.as_ref();
        let navigation = navigation.map(|n| Box::new(place::settled(n, seed, car.pose(), car.speed, tick_s)));
        let detector = |number: usize| {
            let eye = &self.eyes[number];
            eye.detector.start(Chance::new(seed, &eye.chance))
        };
        let mut state = StreetState {
            attached: self.vehicle.start(),
            navigation,
            memory: self.drivers[start].start(),
            branch: self.traffic.branch(),
            detector: detector(0),
            detectors: (1..self.eyes.len()).map(detector).collect(),
            plain: None,
            helpers: (!self.helpers.is_empty()).then(|| Box::new(self.helpers.start())),
            tracks: TrackerState::default(),
            stood: false,
            lately: anabranch_monitors::Lately::default(),
            seed: seed.0,
        };
        state.plain = self.start_gauges(&state, car);
        state
    }
}
