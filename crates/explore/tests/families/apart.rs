//! Families that are kept apart: nothing was chosen on them, and verdicts about them are looked at once, at the end. What was
//! checked while they were written is the truth alone: it differs between worlds, and mostly takes a combination of errors.

use anabranch_kernel::maths;

use super::plants::{DT, Family, first, plant, stepped};
use super::world::{CHOICES, Inside, Plant};

// A car that is steered back to its line: offset, heading, motor, wheels. The motor has a limited rate, and play between it and
// the wheels; the offset is measured wrong.
plant!(Steering { speed: f64, by_offset: f64, by_heading: f64, rate: f64, play: f64 } reals = 4,
    start = Inside::at(&[]), astray = first, p, s, push => {
    let asked = (-p.by_offset * (s.x[0] + push) - p.by_heading * s.x[1]).clamp(-0.4, 0.4);
    s.x[2] += (asked - s.x[2]).clamp(-DT * p.rate, DT * p.rate);
    s.x[3] = s.x[3].clamp(s.x[2] - p.play, s.x[2] + p.play);
    s.x[1] += DT * p.speed * s.x[3] / 2.7;
    s.x[0] += DT * p.speed * maths::sin(s.x[1]);
});

// A phase-locked loop: phase, integrator, filtered detector. The frequency it follows jumps.
plant!(PhaseLock { gain: f64, integral: f64, lag: f64 } reals = 3, start = Inside::at(&[]), astray = first,
    p, s, push => {
    let detected = maths::sin(s.x[0]);
    s.x[1] += DT * p.integral * detected;
    s.x[2] += DT * (detected - s.x[2]) / p.lag;
    s.x[0] += DT * (push - p.gain * s.x[2] - s.x[1]);
});

// A sampled controller that holds its command and sees the place in whole steps only: place, speed, command. Its clock does not
// divide a segment.
plant!(Sampled { by_place: f64, by_speed: f64, most: f64, drag: f64, quantum: f64, period: u64 } reals = 3,
    start = Inside::at(&[]), astray = first, p, s, push => {
    if s.mode == 0 {
        let seen = p.quantum * ((s.x[0] + push) / p.quantum).round();
        s.x[2] = (-p.by_place * seen - p.by_speed * s.x[1]).clamp(-p.most, p.most);
    }
    s.mode = (s.mode + 1) % p.period;
    s.x[1] += DT * (s.x[2] - p.drag * s.x[1]);
    s.x[0] += DT * s.x[1];
});

/// A ball that a paddle keeps bouncing: height, speed, and what the paddle has learned to add. The speed of an impact is measured
/// wrong. It goes from impact to impact, not step by step.
struct Juggler {
    gravity: f64,
    bounce: f64,
    gain: f64,
    learns: f64,
    pushes: [f64; CHOICES],
}

impl Juggler {
    /// Speed of an impact from the height that it wants, 1.
    fn wanted(&self) -> f64 {
        (2.0 * self.gravity).sqrt()
    }
    /// What the paddle makes of an impact.
    fn hit(&self, inside: &mut Inside, push: f64) {
        let (arrives, wanted) = (-inside.x[1], self.wanted());
        let missing = wanted - arrives * (1.0 + push);
        let stroke = (1.0 - self.bounce) * wanted + self.gain * missing + inside.x[2];
        inside.x[2] += self.learns * missing;
        inside.x[1] = self.bounce * arrives + stroke.clamp(0.0, 1.5 * wanted);
        inside.x[0] = 0.0;
    }
}

impl Plant for Juggler {
    fn reals(&self) -> usize {
        3
    }
    fn start(&self) -> Inside {
        Inside::at(&[1.0])
    }
    /// By how much this flight is too high or too low.
    fn astray(&self, inside: &Inside) -> f64 {
        (inside.x[0] + inside.x[1] * inside.x[1] / (2.0 * self.gravity) - 1.0).abs()
    }
    fn segment(&self, inside: &mut Inside, choice: usize) -> f64 {
        let (mut worst, mut rest) = (self.astray(inside), 1.0);
        loop {
            let [height, speed, ..] = inside.x;
            let flight = (speed + (speed * speed + 2.0 * self.gravity * height).sqrt()) / self.gravity;
            let time = flight.min(rest);
            inside.x[0] = (height + time * (speed - 0.5 * self.gravity * time)).max(0.0);
            inside.x[1] -= self.gravity * time;
            if flight >= rest {
                return worst;
            }
            rest -= flight;
            self.hit(inside, self.pushes[choice]);
            worst = worst.max(self.astray(inside));
        }
    }
}

/// A controller under a constant load whose sensor is watched: place, speed, integral. After some segments with errors in a row a
/// weaker one with a sensor of its own takes over, and gives back after some without.
struct Watchdog {
    pull: f64,
    damping: f64,
    integral: f64,
    load: f64,
    weak: f64,
    /// What the other sensor reads wrong.
    offset: f64,
    patience: u64,
    calm: u64,
    pushes: [f64; CHOICES],
}

/// Modes from here on are those of the other controller; what is above counts segments.
const FALLBACK: u64 = 8;

impl Watchdog {
    fn next_mode(&self, mode: u64, is_clean: bool) -> u64 {
        let count = mode % FALLBACK + 1;
        match (mode >= FALLBACK, is_clean) {
            (false, true) => 0,
            (false, false) if count < self.patience => count,
            (false, false) | (true, false) => FALLBACK,
            (true, true) if count < self.calm => FALLBACK + count,
            (true, true) => 0,
        }
    }
}

impl Plant for Watchdog {
    fn reals(&self) -> usize {
        3
    }
    /// The integral holds the load.
    fn start(&self) -> Inside {
        Inside::at(&[0.0, 0.0, self.load / self.integral])
    }
    fn astray(&self, inside: &Inside) -> f64 {
        first(inside)
    }
    fn segment(&self, inside: &mut Inside, choice: usize) -> f64 {
        inside.mode = self.next_mode(inside.mode, choice == 0);
        let falls_back = inside.mode >= FALLBACK;
        let (strength, wrong) = if falls_back { (self.weak, self.offset) } else { (1.0, self.pushes[choice]) };
        stepped(inside, first, |s| {
            let seen = s.x[0] + wrong;
            let a = self.load - self.integral * s.x[2] - strength * (self.pull * seen + self.damping * s.x[1]);
            s.x[1] += DT * a;
            s.x[0] += DT * s.x[1];
            if !falls_back {
                s.x[2] += DT * seen;
            }
        })
    }
}

/// The families that are kept apart.
pub const APART: [Family; 5] = [
    Family {
        name: "steering with play",
        grows: false,
        make: |d| {
            let (speed, by_offset) = (d.between(3.0, 7.0), d.between(0.05, 0.15));
            let (by_heading, rate, play) = (d.between(0.2, 0.7), d.between(0.2, 0.8), d.between(0.003, 0.02));
            Box::new(Steering { speed, by_offset, by_heading, rate, play, pushes: d.pushes(1.0) })
        },
    },
    Family {
        name: "juggler",
        grows: false,
        make: |d| {
            let (gravity, bounce, learns) = (d.between(5.0, 20.0), d.between(0.3, 0.7), d.between(0.0, 0.2));
            let gain = bounce + d.between(0.1, 0.7);
            Box::new(Juggler { gravity, bounce, gain, learns, pushes: d.pushes(0.2) })
        },
    },
    Family {
        name: "watchdog",
        grows: false,
        make: |d| {
            let (pull, damping, integral) = (d.between(0.8, 3.0), d.between(0.6, 1.6), d.between(0.1, 0.4));
            let (load, weak, offset) = (d.between(-0.5, 0.5), d.between(0.2, 0.7), d.between(-0.3, 0.3));
            let (patience, calm) = (2 + d.below(3), 1 + d.below(3));
            let pushes = d.pushes(0.6);
            Box::new(Watchdog { pull, damping, integral, load, weak, offset, patience, calm, pushes })
        },
    },
    Family {
        name: "phase lock",
        grows: false,
        make: |d| {
            let (gain, integral, lag) = (d.between(1.0, 3.0), d.between(0.1, 0.8), d.between(0.1, 0.5));
            Box::new(PhaseLock { gain, integral, lag, pushes: d.pushes(1.2) })
        },
    },
    Family {
        name: "sampled and quantised",
        grows: false,
        make: |d| {
            let (by_place, by_speed, most) = (d.between(0.5, 2.0), d.between(0.3, 1.2), d.between(0.4, 1.2));
            let (drag, quantum, period) = (d.between(0.0, 0.4), d.between(0.02, 0.1), 3 + d.below(5));
            Box::new(Sampled { by_place, by_speed, most, drag, quantum, period, pushes: d.pushes(0.6) })
        },
    },
];
