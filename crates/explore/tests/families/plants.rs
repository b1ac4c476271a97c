//! The families: each a law with parameters drawn by lot.

use anabranch_kernel::maths;

use super::world::{CHOICES, Draw, Inside, Plant};

/// A family of systems.
#[derive(Clone, Copy)]
pub struct Family {
    pub name: &'static str,
    pub make: fn(&mut Draw) -> Box<dyn Plant>,
    /// Whether differences between runs grow, so that *incomplete* is an honest answer.
    pub grows: bool,
}

/// Steps of a segment.
const STEPS: u32 = 20;
pub const DT: f64 = 0.05;

/// Advances step by step and keeps the largest excursion.
pub fn stepped(inside: &mut Inside, astray: impl Fn(&Inside) -> f64, mut step: impl FnMut(&mut Inside)) -> f64 {
    let mut worst = 0.0_f64;
    for _ in 0..STEPS {
        step(inside);
        worst = worst.max(astray(inside));
    }
    worst
}

/// Excursion of the first variable.
pub fn first(inside: &Inside) -> f64 {
    inside.x[0].abs()
}

macro_rules! plant {
    ($name:ident { $($field:ident : $kind:ty),* } reals = $reals:expr, start = $start:expr, astray = $astray:expr,
     $self:ident, $s:ident, $push:ident => $step:block) => {
        struct $name { $($field: $kind,)* pushes: [f64; CHOICES] }
        impl Plant for $name {
            fn reals(&self) -> usize { $reals }
            fn start(&self) -> Inside { $start }
            fn astray(&self, inside: &Inside) -> f64 { ($astray)(inside) }
            fn segment(&self, inside: &mut Inside, choice: usize) -> f64 {
                let ($self, $push) = (self, self.pushes[choice]);
                stepped(inside, $astray, |$s: &mut Inside| $step)
            }
        }
    };
}
pub(super) use plant;

plant!(Resonance { pull: f64, damping: f64 } reals = 2, start = Inside::at(&[]), astray = first, p, s, push => {
    let a = -p.pull * p.pull * s.x[0] - 2.0 * p.damping * p.pull * s.x[1] + push;
    s.x[1] += DT * a;
    s.x[0] += DT * s.x[1];
});

plant!(Relay { drive: f64, band: f64, leak: f64 } reals = 2, start = Inside::at(&[]), astray = first, p, s, push => {
    let seen = s.x[0] + push;
    if seen > p.band {
        s.mode = 1;
    } else if seen < -p.band {
        s.mode = 0;
    }
    let drive = if s.mode == 1 { -p.drive } else { p.drive };
    s.x[1] += DT * 3.0 * (drive - s.x[1]);
    s.x[0] += DT * (s.x[1] - p.leak * s.x[0]);
});

plant!(Windup { gain: f64, integral: f64, limit: f64, lag: f64 } reals = 3, start = Inside::at(&[]), astray = first,
    p, s, push => {
    let error = -(s.x[0] + push);
    let asked = (p.gain * error + p.integral * s.x[1]).clamp(-p.limit, p.limit);
    s.x[1] += DT * error;
    s.x[2] += DT * (asked - s.x[2]) / p.lag;
    s.x[0] += DT * s.x[2];
});

plant!(Tanks { upper: f64, lower: f64 } reals = 2, start = Inside::at(&[1.0, 1.0]),
    astray = |inside: &Inside| (inside.x[1] - 1.0).abs(), p, s, push => {
    let (out, away) = (p.upper * s.x[0].max(0.0).sqrt(), p.lower * s.x[1].max(0.0).sqrt());
    s.x[0] += DT * (0.5 + push - out);
    s.x[1] += DT * (out - away);
});

plant!(Pendulum { pull: f64, damping: f64, friction: f64 } reals = 2, start = Inside::at(&[]), astray = first,
    p, s, push => {
    let friction = if s.x[1].abs() < 1e-3 { 0.0 } else { p.friction * s.x[1].signum() };
    let a = -p.pull * maths::sin(s.x[0]) - p.damping * s.x[1] - friction + push;
    s.x[1] += DT * a;
    s.x[0] += DT * s.x[1];
});

plant!(TwoWells { damping: f64 } reals = 2, start = Inside::at(&[1.0]),
    astray = |inside: &Inside| (inside.x[0] - 1.0).abs(), p, s, push => {
    let a = s.x[0] - s.x[0] * s.x[0] * s.x[0] - p.damping * s.x[1] + push;
    s.x[1] += DT * a;
    s.x[0] += DT * s.x[1];
});

plant!(Stretching { rate: f64, fold: f64 } reals = 2, start = Inside::at(&[0.1, 0.05]), astray = first, p, s, push => {
    // A linear saddle that is folded back: nearby runs part quickly.
    s.x[0] += DT * (p.rate * s.x[0] + s.x[1] + push);
    s.x[1] += DT * (-s.x[1] + 0.3 * s.x[0]);
    if s.x[0].abs() > p.fold {
        s.x[0] = s.x[0].signum() * (2.0 * p.fold - s.x[0].abs()) * 0.9;
    }
});

/// A plant whose command takes a while to arrive.
struct DelayLine {
    gain: f64,
    leak: f64,
    /// Places of the line.
    places: usize,
    pushes: [f64; CHOICES],
}

impl Plant for DelayLine {
    fn reals(&self) -> usize {
        1 + self.places
    }
    fn start(&self) -> Inside {
        Inside::at(&[])
    }
    fn astray(&self, inside: &Inside) -> f64 {
        first(inside)
    }
    fn segment(&self, inside: &mut Inside, choice: usize) -> f64 {
        let mut worst = 0.0_f64;
        for _ in 0..4 {
            let arrives = inside.x[self.places];
            inside.x.copy_within(1..self.places, 2);
            inside.x[1] = -self.gain * (inside.x[0] + self.pushes[choice]);
            for _ in 0..3 {
                inside.x[0] += 0.1 * (arrives - self.leak * inside.x[0]);
                worst = worst.max(first(inside));
            }
        }
        worst
    }
}

/// A controller that gets weaker after some segments with errors in a row.
struct Counter {
    pull: f64,
    weak: f64,
    patience: u64,
    pushes: [f64; CHOICES],
}

impl Plant for Counter {
    fn reals(&self) -> usize {
        2
    }
    fn start(&self) -> Inside {
        Inside::at(&[])
    }
    fn astray(&self, inside: &Inside) -> f64 {
        first(inside)
    }
    fn segment(&self, inside: &mut Inside, choice: usize) -> f64 {
        let in_a_row = if choice == 0 { 0 } else { (inside.mode % 16 + 1).min(self.patience) };
        let is_weak = in_a_row >= self.patience || (choice != 0 && inside.mode >= 16);
        inside.mode = in_a_row + 16 * u64::from(is_weak);
        let strength = if is_weak { self.weak } else { 1.0 };
        stepped(inside, first, |s| {
            let a = -self.pull * strength * (s.x[0] + self.pushes[choice]) - 1.2 * strength * s.x[1];
            s.x[1] += DT * a;
            s.x[0] += DT * s.x[1];
        })
    }
}

/// The families on which cells, searches and doses were chosen.
pub const FAMILIES: [Family; 9] = [
    Family {
        name: "resonance",
        grows: false,
        make: |d| {
            let (pull, damping) = (d.between(0.5, 3.0), d.between(0.02, 0.4));
            Box::new(Resonance { pull, damping, pushes: d.pushes(1.0) })
        },
    },
    Family {
        name: "relay",
        grows: false,
        make: |d| {
            let (drive, band, leak) = (d.between(0.5, 1.5), d.between(0.1, 0.4), d.between(0.0, 0.5));
            Box::new(Relay { drive, band, leak, pushes: d.pushes(0.4) })
        },
    },
    Family {
        name: "delay line",
        grows: false,
        make: |d| {
            let (gain, leak, places) = (d.between(0.3, 1.2), d.between(0.05, 0.4), 2 + d.below(4) as usize);
            Box::new(DelayLine { gain, leak, places, pushes: d.pushes(1.0) })
        },
    },
    Family {
        name: "windup",
        grows: false,
        make: |d| {
            let (gain, integral) = (d.between(0.5, 2.0), d.between(0.1, 0.8));
            let (limit, lag) = (d.between(0.3, 1.0), d.between(0.1, 0.6));
            Box::new(Windup { gain, integral, limit, lag, pushes: d.pushes(0.5) })
        },
    },
    Family {
        name: "tanks",
        grows: false,
        make: |d| {
            let (upper, lower) = (d.between(0.4, 0.7), d.between(0.4, 0.6));
            Box::new(Tanks { upper, lower, pushes: d.pushes(0.3) })
        },
    },
    Family {
        name: "counter",
        grows: false,
        make: |d| {
            let (pull, weak, patience) = (d.between(0.5, 2.5), d.between(0.2, 0.6), 2 + d.below(3));
            Box::new(Counter { pull, weak, patience, pushes: d.pushes(0.3) })
        },
    },
    Family {
        name: "pendulum",
        grows: false,
        make: |d| {
            let (pull, damping, friction) = (d.between(1.0, 4.0), d.between(0.05, 0.5), d.between(0.0, 0.15));
            Box::new(Pendulum { pull, damping, friction, pushes: d.pushes(1.0) })
        },
    },
    Family {
        name: "two wells",
        grows: false,
        make: |d| {
            let damping = d.between(0.1, 0.6);
            Box::new(TwoWells { damping, pushes: d.pushes(0.4) })
        },
    },
    Family {
        name: "stretching",
        grows: true,
        make: |d| {
            let (rate, fold) = (d.between(0.8, 1.6), d.between(1.0, 2.0));
            Box::new(Stretching { rate, fold, pushes: d.pushes(0.5) })
        },
    },
];
