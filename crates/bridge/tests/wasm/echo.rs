//! What is told to `echo.c`, and what it must say back.

use anabranch_bridge::TrajectoryPoint;
use anabranch_bridge::protocol::{
    Begin, CarFacts, GoalFacts, GoalSeen, ObjectSeen, Occupancy, PathFacts, PathSeen, PeriodFacts, PoseSeen,
    SectionFacts, Seen, StartFacts,
};

/// Every number another one.
pub fn begin() -> Begin {
    Begin {
        seed: 11,
        scenario: "alley".to_owned(),
        params: vec![0.5, 0.25],
        cycle_s: 0.02,
        until_s: 22.0,
        start: StartFacts { x: 1.0, y: 2.0, heading: 3.0, speed: 4.0 },
        goal: GoalFacts { x: 5.0, y: 6.0, heading: 7.0, tolerance_m: 8.0 },
        car: CarFacts {
            wheelbase_m: 3.4,
            length_m: 5.9,
            width_m: 2.0,
            rear_overhang_m: 1.1,
            steering_max_rad: 0.6,
            steering_rate_max_radps: 0.7,
        },
        path: PathFacts {
            length_m: 17.5,
            sections: vec![
                SectionFacts { start_m: 0.0, end_m: 9.0, direction: 1 },
                SectionFacts { start_m: 9.0, end_m: 17.5, direction: -1 },
            ],
            samples: vec![[31.0, 32.0, 33.0, 34.0, 35.0]],
        },
        route: crate::road::route(),
        periods: PeriodFacts::default(),
        walls: vec![[41.0, 42.0, 43.0, 44.0]],
    }
}

/// Every number another one.
pub fn seen() -> Seen {
    Seen {
        time: 101.0,
        tick: 102,
        pose: PoseSeen {
            x: 103.0,
            y: 104.0,
            heading: 105.0,
            covariance: [106.0, 107.0, 108.0, 109.0, 110.0, 111.0, 112.0, 113.0, 114.0],
        },
        speed: 115.0,
        steer: 116.0,
        gear: -1,
        path: PathSeen {
            station: 118.0,
            lateral: 119.0,
            heading: 120.0,
            curvature: 121.0,
            remaining: 122.0,
            speed_max: 123.0,
            direction: -1,
            section: 125,
            sections_left: 126,
            to_end: 137.0,
        },
        goal: GoalSeen { ahead: 127.0, left: 128.0, heading: 129.0 },
        objects: vec![ObjectSeen {
            id: 9,
            x: 131.0,
            y: 132.0,
            heading: 133.0,
            speed: 134.0,
            length: 135.0,
            width: 136.0,
            ..crate::road::object()
        }],
        road: Some(Box::new(crate::road::road())),
        plain: None,
        readings: std::collections::BTreeMap::new(),
        radio: None,
        tyres: None,
        occupancy: Some(Box::new(Occupancy {
            cell_m: 0.25,
            columns: 3,
            rows: 1,
            cells: vec![0, 255, 7].into(),
            blob: None,
        })),
    }
}

/// In the order of the header.
pub fn expected(begin: &Begin, seen: &Seen) -> Vec<f64> {
    let mut told = vec![11.0, 0.02, 22.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
    told.extend([3.4, 5.9, 2.0, 1.1, 0.6, 0.7, 17.5]);
    told.extend([2.0, 0.0, 9.0, 1.0, 9.0, 17.5, -1.0]);
    told.push(1.0);
    told.extend(begin.path.samples[0]);
    told.push(1.0);
    told.extend(begin.walls[0]);
    told.extend(&begin.params);
    told.extend([f64::from(b'a'), 0.0]);
    told.extend(crate::road::ROUTE_TOLD);
    told.extend([101.0, 102.0, 103.0, 104.0, 105.0]);
    told.extend(seen.pose.covariance);
    told.extend([115.0, 116.0, -1.0]);
    told.extend([118.0, 119.0, 120.0, 121.0, 122.0, 123.0, -1.0, 125.0, 126.0]);
    told.extend([127.0, 128.0, 129.0, 0.25, 3.0, 1.0, 0.0, 255.0, 7.0]);
    told.extend([1.0, 9.0, 131.0, 132.0, 133.0, 134.0, 135.0, 136.0, 137.0]);
    told.extend([205.0, 206.0, 1.0]);
    told.extend(crate::road::ROAD_TOLD);
    told.resize(151, 0.0);
    told
}

/// What `echo.c` proposes.
pub fn trajectory() -> Vec<TrajectoryPoint> {
    let point = |first: f64| TrajectoryPoint {
        time_s: first,
        x_m: first + 1.0,
        y_m: first + 2.0,
        heading_rad: first + 3.0,
        speed_mps: first + 4.0,
    };
    vec![point(1.0), point(6.0)]
}
