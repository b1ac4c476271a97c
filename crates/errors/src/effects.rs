//! What is altered in the transmitted data during one segment.

/// The frame an offset of the pose is given in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame {
    /// x forwards, y to the left of the car.
    Car,
    /// x east, y north.
    World,
}

/// An offset of the pose that may grow during the segment: x (m), y (m), heading (rad).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PoseRamp {
    /// At the beginning of the segment.
    pub offset: [f64; 3],
    /// Change per second.
    pub rate_per_s: [f64; 3],
}

impl PoseRamp {
    /// No offset.
    pub const NONE: Self = Self { offset: [0.0; 3], rate_per_s: [0.0; 3] };

    /// The offset some seconds after the beginning of the segment.
    #[inline]
    pub fn at(&self, seconds: f64) -> [f64; 3] {
        std::array::from_fn(|i| self.offset[i] + self.rate_per_s[i] * seconds)
    }
    /// Adds another ramp of the same frame.
    #[inline]
    pub fn add(&mut self, other: &Self) {
        for i in 0..3 {
            self.offset[i] += other.offset[i];
            self.rate_per_s[i] += other.rate_per_s[i];
        }
    }
}

/// Most object sensors that errors can tell apart.
pub const SENSORS_MAX: usize = 8;
/// Every object sensor, as a mask.
pub const ALL_SENSORS: u8 = u8::MAX;

/// Obstacles that are recognised late. A mask has one bit per sensed obstacle; 0 means "unused".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Late {
    /// Which obstacles.
    pub obstacles: u32,
    /// So many base cycles after they came into range.
    pub ticks: u16,
    /// By which object sensors.
    pub sensors: u8,
}

/// Obstacles that are seen at a wrong place. A mask has one bit per sensed obstacle; 0 means "unused".
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Displaced {
    /// Which obstacles.
    pub obstacles: u32,
    /// Metres east and north.
    pub by_m: [f64; 2],
    /// By which object sensors.
    pub sensors: u8,
}

/// What is wrong with one object sensor, beside what is wrong with all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct SensorEffects {
    /// Objects that it does not see.
    pub missed: u32,
    /// Objects that only it sees, and that are not there.
    pub ghosts: u32,
    /// Objects that it sees with front and rear exchanged.
    pub flipped: u32,
    /// What it tells is older by this.
    pub delay_ticks: u16,
    /// It tells nothing.
    pub lost: bool,
}

impl SensorEffects {
    /// It does what it always does.
    pub const NONE: Self = Self { missed: 0, ghosts: 0, flipped: 0, delay_ticks: 0, lost: false };
}

/// What is wrong with helper simulators beside the main one.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct HelperEffects {
    /// Messages that named senders send are lost, one bit each.
    pub silent: u32,
    /// Messages of everybody are lost.
    pub all_silent: bool,
    /// The monitor of the tyres tells nothing new.
    pub monitor_lost: bool,
    /// Messages take so much longer.
    pub late_ticks: u16,
    /// Pressure that wheels lose while the segment lasts, per second.
    pub leak_pa_per_s: [f64; 4],
    /// Holes that stay: pressure that wheels lose from now on, per second.
    pub hole_pa_per_s: [f64; 4],
}

impl HelperEffects {
    /// They do what they always do.
    pub const NONE: Self = Self {
        silent: 0,
        all_silent: false,
        monitor_lost: false,
        late_ticks: 0,
        leak_pa_per_s: [0.0; 4],
        hole_pa_per_s: [0.0; 4],
    };
}

/// Most different late or displaced groups of obstacles in one segment: enough for every scenario of the papers,
/// small enough to copy.
pub const GROUPS_MAX: usize = 4;

/// The alteration of the transmitted data during one segment. Models add to it; they never overwrite each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effects {
    /// Offset of the estimated pose in the frame of the car.
    pub pose_in_car: PoseRamp,
    /// Offset of the estimated pose in the frame of the world.
    pub pose_in_world: PoseRamp,
    /// Factor of the commanded steering angle.
    pub steering_gain: f64,
    /// Added to the commanded steering angle; positive is left.
    pub steering_offset_rad: f64,
    /// Factor of the commanded acceleration.
    pub acceleration_gain: f64,
    /// Added to the commanded acceleration.
    pub acceleration_offset_mps2: f64,
    /// Factor of the friction between tyres and road.
    pub friction_gain: f64,
    /// Age of what the sensors tell.
    pub sensor_delay_ticks: u16,
    /// Age of the command that the actuators follow.
    pub actuator_delay_ticks: u16,
    /// Obstacles recognised late.
    pub late: [Late; GROUPS_MAX],
    /// Obstacles seen at a wrong place.
    pub displaced: [Displaced; GROUPS_MAX],
    /// Obstacles that are there and not seen.
    pub missed: u32,
    /// Obstacles that are not there and seen.
    pub ghosts: u32,
    /// Obstacles that are seen with front and rear exchanged.
    pub flipped: u32,
    /// Sensors of the own motion that tell nothing, one bit each.
    pub sensors_lost: u8,
    /// Obstacles that have appeared in the true world, in this segment or earlier.
    pub appeared: u32,
    /// What is wrong with single object sensors, by their number.
    pub sensing: [SensorEffects; SENSORS_MAX],
    /// What is wrong with helper simulators.
    pub helpers: HelperEffects,
}

impl Effects {
    /// Everything passes unaltered.
    pub const NONE: Self = Self {
        pose_in_car: PoseRamp::NONE,
        pose_in_world: PoseRamp::NONE,
        steering_gain: 1.0,
        steering_offset_rad: 0.0,
        acceleration_gain: 1.0,
        acceleration_offset_mps2: 0.0,
        friction_gain: 1.0,
        sensor_delay_ticks: 0,
        actuator_delay_ticks: 0,
        late: [Late { obstacles: 0, ticks: 0, sensors: 0 }; GROUPS_MAX],
        displaced: [Displaced { obstacles: 0, by_m: [0.0; 2], sensors: 0 }; GROUPS_MAX],
        missed: 0,
        ghosts: 0,
        flipped: 0,
        sensors_lost: 0,
        appeared: 0,
        sensing: [SensorEffects::NONE; SENSORS_MAX],
        helpers: HelperEffects::NONE,
    };

    /// The steering angle the car really gets.
    #[inline]
    pub fn steering_rad(&self, commanded_rad: f64) -> f64 {
        commanded_rad * self.steering_gain + self.steering_offset_rad
    }
    /// The acceleration the car really gets.
    #[inline]
    pub fn acceleration_mps2(&self, commanded_mps2: f64) -> f64 {
        commanded_mps2 * self.acceleration_gain + self.acceleration_offset_mps2
    }
    /// Metres east and north by which an obstacle is seen displaced.
    pub fn displacement_m(&self, obstacle: u32) -> [f64; 2] {
        let hit = self.displaced.iter().filter(|group| group.obstacles >> obstacle & 1 == 1);
        hit.fold([0.0; 2], |sum, group| [sum[0] + group.by_m[0], sum[1] + group.by_m[1]])
    }
    /// All obstacles that are seen at a wrong place.
    pub fn displaced_obstacles(&self) -> u32 {
        self.displaced.iter().fold(0, |all, group| all | group.obstacles)
    }
    /// The ramp of the pose in a frame.
    pub fn pose_in(&mut self, frame: Frame) -> &mut PoseRamp {
        match frame {
            Frame::Car => &mut self.pose_in_car,
            Frame::World => &mut self.pose_in_world,
        }
    }
    /// Adds a group of late obstacles.
    ///
    /// # Panics
    /// With more than [`GROUPS_MAX`] groups; an [`crate::ErrorSet`] that could do so is refused when it is built.
    pub fn add_late(&mut self, group: Late) {
        let free = self.late.iter_mut().find(|late| late.obstacles == 0);
        *free.expect("the error set allows at most GROUPS_MAX late groups") = group;
    }
    /// Adds a group of displaced obstacles.
    ///
    /// # Panics
    /// With more than [`GROUPS_MAX`] groups; an [`crate::ErrorSet`] that could do so is refused when it is built.
    pub fn add_displaced(&mut self, group: Displaced) {
        let free = self.displaced.iter_mut().find(|displaced| displaced.obstacles == 0);
        *free.expect("the error set allows at most GROUPS_MAX displaced groups") = group;
    }
    /// Whether every number is finite.
    pub fn is_finite(&self) -> bool {
        let ramps = [self.pose_in_car, self.pose_in_world];
        let actuators = [self.steering_gain, self.steering_offset_rad, self.acceleration_gain, self.friction_gain];
        ramps.iter().flat_map(|r| r.offset.iter().chain(&r.rate_per_s)).all(|v| v.is_finite())
            && actuators.iter().chain([&self.acceleration_offset_mps2]).all(|v| v.is_finite())
            && self.helpers.leak_pa_per_s.iter().chain(&self.helpers.hole_pa_per_s).all(|v| v.is_finite())
            && self.displaced.iter().flat_map(|d| &d.by_m).all(|v| v.is_finite())
    }
}
