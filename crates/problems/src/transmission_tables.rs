//! Tables of the automatic transmission: figures of the Simulink demonstration model "Modeling an Automatic Transmission
//! Controller" (The MathWorks), in the form in which B. Hoxha, H. Abbas and G. Fainekos, "Benchmarks for temporal logic
//! requirements for automotive systems", ARCH 2014, made a benchmark of it.

/// Throttle openings of the rows of [`TORQUE_FTLB`], in percent.
pub(crate) const TORQUE_THROTTLE: [f64; 10] = [0.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 100.0];
/// First engine speed of the columns of [`TORQUE_FTLB`], and the step between them, in revolutions per minute.
pub(crate) const TORQUE_RPM_FIRST: f64 = 800.0;
/// See [`TORQUE_RPM_FIRST`].
pub(crate) const TORQUE_RPM_STEP: f64 = 400.0;
/// Engine torque over throttle and engine speed.
pub(crate) const TORQUE_FTLB: [[f64; 11]; 10] = [
    [-40.0, -44.0, -49.0, -53.0, -57.0, -61.0, -65.0, -70.0, -74.0, -78.0, -82.0],
    [215.0, 117.0, 85.0, 66.0, 44.0, 29.0, 10.0, -2.0, -13.0, -22.0, -32.0],
    [245.0, 208.0, 178.0, 148.0, 122.0, 104.0, 85.0, 66.0, 48.0, 33.0, 18.0],
    [264.0, 260.0, 241.0, 219.0, 193.0, 167.0, 152.0, 133.0, 119.0, 96.0, 85.0],
    [264.0, 279.0, 282.0, 275.0, 260.0, 238.0, 223.0, 208.0, 189.0, 171.0, 152.0],
    [267.0, 290.0, 293.0, 297.0, 290.0, 275.0, 260.0, 256.0, 234.0, 212.0, 193.0],
    [267.0, 297.0, 305.0, 305.0, 305.0, 301.0, 293.0, 282.0, 267.0, 249.0, 226.0],
    [267.0, 301.0, 308.0, 312.0, 319.0, 323.0, 319.0, 316.0, 297.0, 279.0, 253.0],
    [267.0, 301.0, 312.0, 319.0, 327.0, 327.0, 327.0, 327.0, 312.0, 293.0, 267.0],
    [267.0, 301.0, 312.0, 319.0, 327.0, 334.0, 334.0, 334.0, 319.0, 305.0, 275.0],
];

/// Throttle openings of the rows of [`UP_MPH`].
pub(crate) const UP_THROTTLE: [f64; 6] = [0.0, 25.0, 35.0, 50.0, 90.0, 100.0];
/// Speeds above which a gear is left upwards.
pub(crate) const UP_MPH: [[f64; 4]; 6] = [
    [10.0, 30.0, 50.0, 1e6],
    [10.0, 30.0, 50.0, 1e6],
    [15.0, 30.0, 50.0, 1e6],
    [23.0, 41.0, 60.0, 1e6],
    [40.0, 70.0, 100.0, 1e6],
    [40.0, 70.0, 100.0, 1e6],
];
/// Throttle openings of the rows of [`DOWN_MPH`].
pub(crate) const DOWN_THROTTLE: [f64; 6] = [0.0, 5.0, 40.0, 50.0, 90.0, 100.0];
/// Speeds below which a gear is left downwards.
pub(crate) const DOWN_MPH: [[f64; 4]; 6] = [
    [0.0, 5.0, 20.0, 35.0],
    [0.0, 5.0, 20.0, 35.0],
    [0.0, 5.0, 25.0, 40.0],
    [0.0, 5.0, 30.0, 50.0],
    [0.0, 30.0, 50.0, 80.0],
    [0.0, 30.0, 50.0, 80.0],
];

/// Speed ratios of the torque converter at which [`CAPACITY`] and [`TORQUE_RATIO`] are given.
pub(crate) const SPEED_RATIO: [f64; 21] = [
    0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.81, 0.82, 0.83, 0.84, 0.85, 0.86, 0.87, 0.88, 0.89, 0.9, 0.92, 0.94,
];
/// Capacity factor K of the torque converter.
pub(crate) const CAPACITY: [f64; 21] = [
    137.4652089938063,
    137.06501915685197,
    135.86444964598905,
    135.6643547275119,
    137.56525645304487,
    140.3665853117251,
    145.2689108144154,
    152.87251771654735,
    162.97731109964374,
    164.2779280697452,
    166.17882979527823,
    167.97968406157264,
    170.08068070558275,
    172.78196210502438,
    175.3831960452274,
    179.58518933324765,
    183.58708770279083,
    189.8900776348212,
    197.69377945543027,
    215.90241703685155,
    244.51599037908485,
];
/// Torque ratio of the torque converter.
pub(crate) const TORQUE_RATIO: [f64; 21] = [
    2.232, 2.075, 1.975, 1.846, 1.72, 1.564, 1.409, 1.254, 1.096, 1.08, 1.061, 1.043, 1.028, 1.012, 1.002, 1.002,
    1.001, 0.998, 0.999, 1.001, 1.002,
];

/// Ratios of the four gears.
pub(crate) const GEAR_RATIO: [f64; 4] = [2.393, 1.45, 1.0, 0.677];
/// Ratio of the final drive.
pub(crate) const FINAL_DRIVE: f64 = 3.23;
/// Inertia of engine and impeller.
pub(crate) const ENGINE_INERTIA: f64 = 0.0219914882835559;
/// Inertia of the vehicle at its wheels.
pub(crate) const VEHICLE_INERTIA: f64 = 12.09414785731247;
