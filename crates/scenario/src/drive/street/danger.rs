//! How bad a state on a road looks.

use anabranch_geometry::{Body, Pose, nearest};
use anabranch_kernel::{Danger, maths};
use anabranch_vehicle::Car;

use super::super::Drive;
use super::super::state::DriveState;
use super::others::{Other, Shape};
use super::tick::relative;
use super::{Street, StreetState};

/// How far ahead everybody is predicted with held speeds, and in how many steps.
const PREDICT_S: f64 = 2.0;
const PREDICT_STEPS: u32 = 4;

impl Drive {
    /// The worst of the danger is minus the smallest clearance if everybody went on as he is for two seconds. The axes are
    /// those along which members of a cell lead to different ends: along the road, across it, and speed.
    pub(in super::super) fn danger_on_street(&self, street: &Street, state: &DriveState) -> Danger {
        let own = state.street();
        let car = &state.car.car;
        let mut worst_m = street.predicted_clearance_m(own, &self.body, car.pose(), car);
        if let Some((body, pose)) = street.vehicle.trailer(car, &own.attached) {
            worst_m = worst_m.min(street.predicted_clearance_m(own, body, pose, car));
        }
        let worst = -worst_m;
        let on = street.on_lane(own, car.pose());
        let (along, across, speed) = (on.place.station_m, on.place.lateral_m, car.speed);
        let axes = [along, -along, across, -across, speed, -speed];
        let mut danger = Danger { worst, axes: axes.into_iter().collect() };
        self.add_measures(state, &mut danger);
        danger
    }
}

impl Street {
    /// Of a body that moves as the car does: straight on, the way its front points.
    fn predicted_clearance_m(&self, own: &StreetState, body: &Body, at: Pose, car: &Car<f64>) -> f64 {
        let mut buffers = self.buffers.take();
        self.gather(&own.branch, at.point(), &mut buffers.others);
        let (sin, cos) = maths::sin_cos(car.heading);
        let mut least_m = self.reach_m;
        for other in &buffers.others {
            let [east, north] = other.velocity_mps();
            for step in 0..=PREDICT_STEPS {
                let seconds = PREDICT_S * f64::from(step) / f64::from(PREDICT_STEPS);
                let way_m = car.speed * seconds;
                let then = Pose::new(at.x + way_m * cos, at.y + way_m * sin, at.heading);
                let there =
                    Pose::new(other.pose.x + east * seconds, other.pose.y + north * seconds, other.pose.heading);
                least_m = least_m.min(self.clearance_m(body, then, &Other { pose: there, ..*other }, least_m));
            }
        }
        self.buffers.put(buffers);
        least_m
    }

    /// Distance to the nearest of them, at most the reach.
    pub(super) fn nearest_m(&self, body: &Body, car: Pose, others: &[Other]) -> f64 {
        let closer = |least_m: f64, other: &Other| least_m.min(self.clearance_m(body, car, other, least_m));
        others.iter().fold(self.reach_m, closer)
    }

    /// Distance between the car and somebody; exact only below `wanted_m`, else some bound that is not below it.
    pub(super) fn clearance_m(&self, body: &Body, car: Pose, other: &Other, wanted_m: f64) -> f64 {
        let bound_m = car.point().distance_m(other.pose.point()) - body.bounding_radius_m - other.radius_m();
        if bound_m >= wanted_m {
            return bound_m;
        }
        let local = relative(other.pose, car);
        let (sin, cos) = maths::sin_cos(local.heading);
        nearest(body, local.x, local.y, cos, sin, self.edges(other.shape).edges())
    }

    pub(super) fn edges(&self, shape: Shape) -> &anabranch_geometry::EdgeSet {
        match shape {
            Shape::Kind(kind) => &self.shapes[usize::from(kind)],
            Shape::Own(number) => &self.cast.shapes[usize::from(number)],
        }
    }
}
