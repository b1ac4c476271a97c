//! How bad a state looks: for order, and for the choice of the member of a cell that is continued.

use anabranch_driving::follow::{Deviation, PathMode, SectionLanes, Told, look_up, project};
use anabranch_geometry::{Path, nearest};
use anabranch_kernel::{Danger, maths};
use anabranch_vehicle::Car;

use super::Drive;
use super::state::{DriveState, DriverMemory};

/// How far ahead the open-loop prediction looks, and in how many steps.
const PREDICT_S: f64 = 1.0;
const PREDICT_STEPS: u32 = 4;

impl Drive {
    /// How far the car truly is off its path.
    pub(super) fn deviation(&self, state: &DriveState) -> Deviation<f64> {
        let path = self.path_of(state);
        if path.sections().is_empty() {
            return Deviation { lateral_m: 0.0, heading: 0.0 };
        }
        let car = &state.car.car;
        let (section, station_m) = match &state.driver {
            DriverMemory::Path(memory) => {
                let section = match memory.mode {
                    PathMode::Driving { section } | PathMode::ChangingGear { section, .. } => section as usize,
                    PathMode::Completed => path.sections().len() - 1,
                };
                (section, memory.station_m)
            }
            DriverMemory::Model(memory) if self.street.is_none() => (memory.section as usize, memory.station_m),
            DriverMemory::Trajectory(_) | DriverMemory::Model(_) | DriverMemory::Road { .. } => {
                nearest_station(path, car)
            }
            DriverMemory::Foreign { .. } => state.foreign().map_or((0, 0.0), |foreign| foreign.place()),
        };
        let lanes = SectionLanes::gather(|_| &path.sections()[section]);
        let reference = look_up(|_| path.samples(), &lanes, station_m);
        let told = Told { x: car.x, y: car.y, heading: car.heading, speed: car.speed };
        project(&reference, &lanes, station_m, &told).1
    }

    /// The worst of the danger is minus the smallest clearance if the car went on as it is for a second; without
    /// obstacles it is how far off the path it will be. The axes are what the paper's key leaves out or rounds away.
    pub(super) fn danger_of(&self, state: &DriveState) -> Danger {
        if let Some(street) = &self.street {
            return self.danger_on_street(street, state);
        }
        let off = self.deviation(state);
        let steering = state.car.car.steering;
        let worst = if self.index.all().is_empty() {
            let along = if state.car.car.speed < 0.0 { -1.0 } else { 1.0 };
            (off.lateral_m + along * off.heading * self.model.spec.wheelbase_m).abs()
        } else {
            -self.predicted_clearance_m(&state.car.car)
        };
        let axes = [off.lateral_m, -off.lateral_m, off.heading, -off.heading, steering, -steering];
        let mut danger = Danger { worst, axes: axes.into_iter().collect() };
        self.add_measures(state, &mut danger);
        danger
    }

    /// Where measures are judged, members of a cell that have most on them are continued too.
    pub(super) fn add_measures(&self, state: &DriveState, danger: &mut Danger) {
        if let Some(measured) = state.extras.as_ref().and_then(|extras| extras.measured.as_deref()) {
            danger.axes.extend(measured.worst(self.measuring.remembered()));
        }
    }

    /// Smallest clearance to walls with steering and speed held.
    fn predicted_clearance_m(&self, car: &Car<f64>) -> f64 {
        let edges = if car.speed.abs() > self.speed_bound_mps {
            self.index.all()
        } else {
            self.index.near(self.index.square(car.x, car.y))
        };
        let curvature = maths::tan(car.steering) / self.model.spec.wheelbase_m * self.model.spec.slip_gain;
        let way_m = car.speed * PREDICT_S / f64::from(PREDICT_STEPS);
        let (mut x, mut y, mut heading) = (car.x, car.y, car.heading);
        let (mut sin, mut cos) = maths::sin_cos(heading);
        let mut least_m = nearest(&self.body, x, y, cos, sin, edges);
        for _ in 0..PREDICT_STEPS {
            (x, y, heading) = (x + way_m * cos, y + way_m * sin, heading + way_m * curvature);
            (sin, cos) = maths::sin_cos(heading);
            least_m = least_m.min(nearest(&self.body, x, y, cos, sin, edges));
        }
        least_m
    }
}

/// Section and station of the sample nearest to the car.
fn nearest_station(path: &Path, car: &Car<f64>) -> (usize, f64) {
    let mut best = (f64::INFINITY, 0, 0.0);
    for (index, section) in path.sections().iter().enumerate() {
        for (n, sample) in path.samples()[section.first..=section.last].iter().enumerate() {
            let turned = maths::wrap_angle(sample.heading - car.heading);
            let far = (sample.x - car.x).powi(2) + (sample.y - car.y).powi(2) + turned * turned;
            if far < best.0 {
                best = (far, index, section.start_m + n as f64 * section.spacing_m);
            }
        }
    }
    (best.1, best.2)
}
