//! Logs of known errors: what was put in is found again, inside its confidence interval (S1-53).

use std::collections::BTreeMap;

use anabranch_errors::fit::{Apart, Estimated, Fit, FitError, Log, LogChannel, Rhythm, fit};
use anabranch_kernel::{Chance, Seed, maths};

const RHYTHM: Rhythm = Rhythm { segment_s: 1.0, step_s: 0.01 };

/// Logs per test.
const SEEDS: u64 = 60;

/// What a synthetic log is made of.
#[derive(Clone, Copy)]
struct Made {
    rows: u32,
    step_s: f64,
    bias: [f64; 3],
    drift_per_s: [f64; 3],
    white: [f64; 3],
    wander: [f64; 3],
    wander_s: f64,
    delay_s: f64,
    jump_rate_per_s: f64,
    jump_m: f64,
    jump_hold_s: f64,
    dropout_rate_per_s: f64,
    dropout_s: f64,
}

const QUIET: Made = Made {
    rows: 3000,
    step_s: 0.1,
    bias: [0.0; 3],
    drift_per_s: [0.0; 3],
    white: [0.05, 0.05, 0.004],
    wander: [0.0; 3],
    wander_s: 1.0,
    delay_s: 0.0,
    jump_rate_per_s: 0.0,
    jump_m: 0.0,
    jump_hold_s: 1.0,
    dropout_rate_per_s: 0.0,
    dropout_s: 1.0,
};

const RICH: Made = Made {
    bias: [0.4, -0.2, 0.03],
    drift_per_s: [0.002, 0.0, -0.0001],
    wander: [0.15, 0.2, 0.01],
    wander_s: 1.5,
    delay_s: 0.23,
    jump_rate_per_s: 0.08,
    jump_m: 2.0,
    jump_hold_s: 1.2,
    dropout_rate_per_s: 0.1,
    dropout_s: 0.6,
    ..QUIET
};

/// A car that speeds up, slows down and turns.
fn truth(time_s: f64) -> [f64; 3] {
    let (a, b, c) = (maths::sin(0.35 * time_s), maths::sin(0.21 * time_s + 1.0), maths::cos(0.5 * time_s));
    [8.0 * time_s + 14.0 * a, 25.0 * b, 3.0 + 0.5 * c + 0.3 * b]
}

/// Whether something is on, row by row: begins at a rate, lasts for some time.
fn on_and_off(rate_per_s: f64, hold_s: f64, made: &Made, chance: Chance) -> Vec<Option<u64>> {
    let (begin, end) = (rate_per_s * made.step_s, made.step_s / hold_s);
    let mut on: Option<u64> = None;
    let row = |row: u64| {
        let draw = chance.at(row).uniform(0);
        on = match on {
            None if draw < begin => Some(row),
            Some(_) if draw < end => None,
            same => same,
        };
        on
    };
    (0..u64::from(made.rows)).map(row).collect()
}

fn log(made: &Made, seed: u64) -> Log {
    log_of(made, seed, truth)
}

/// A log of another drive.
fn log_of(made: &Made, seed: u64, truth: impl Fn(f64) -> [f64; 3]) -> Log {
    let chance = |part: &str| Chance::new(Seed(seed), part);
    let jumps = on_and_off(made.jump_rate_per_s, made.jump_hold_s, made, chance("jumps"));
    let dropouts = on_and_off(made.dropout_rate_per_s, made.dropout_s, made, chance("dropouts"));
    let keep = maths::exp(-made.step_s / made.wander_s);
    let mut wander: [f64; 3] = std::array::from_fn(|i| made.wander[i] * chance("start").normal(i as u64));
    let middle_s = 0.5 * f64::from(made.rows - 1) * made.step_s;
    let names = [("x", "m"), ("y", "m"), ("heading", "rad")];
    let mut log = Log {
        time_s: Vec::new(),
        channels: names
            .map(|(name, unit)| LogChannel { name: name.into(), unit: unit.into(), truth: vec![], estimate: vec![] })
            .to_vec(),
    };
    for row in 0..u64::from(made.rows) {
        let time_s = row as f64 * made.step_s;
        let now = chance("noise").at(row);
        log.time_s.push(time_s);
        let (told, exact) = (truth(time_s - made.delay_s), truth(time_s));
        let direction = jumps[row as usize].map_or(0.0, |begun| 6.3 * chance("direction").at(begun).uniform(0));
        let size_m = if jumps[row as usize].is_some() { made.jump_m } else { 0.0 };
        let jump = [size_m * maths::cos(direction), size_m * maths::sin(direction), 0.0];
        for i in 0..3 {
            let n = i as u64;
            wander[i] = keep * wander[i] + (1.0 - keep * keep).sqrt() * made.wander[i] * now.normal(2 * n);
            let mean = made.bias[i] + made.drift_per_s[i] * (time_s - middle_s);
            let value = told[i] + mean + wander[i] + made.white[i] * now.normal(2 * n + 1) + jump[i];
            let value = if i == 2 { maths::wrap_angle(value) } else { value };
            log.channels[i].truth.push(if i == 2 { maths::wrap_angle(exact[i]) } else { exact[i] });
            log.channels[i].estimate.push(dropouts[row as usize].is_none().then_some(value));
        }
    }
    log
}

/// How often each number was inside its interval.
#[derive(Default)]
struct Coverage(BTreeMap<String, (u32, u32)>);

impl Coverage {
    fn add(&mut self, name: &str, found: Option<Estimated>, truth: f64) {
        let (inside, all) = self.0.entry(name.to_owned()).or_default();
        *inside += u32::from(found.is_some_and(|found| found.holds(truth)));
        *all += 1;
    }
    /// Every number on its own, and all together.
    fn judge(&self, least_each: f64, least_all: f64) {
        let share = |(inside, all): (u32, u32)| f64::from(inside) / f64::from(all);
        for (name, &counts) in &self.0 {
            println!("{name:<28} {:.3} of {}", share(counts), counts.1);
        }
        let together = self.0.values().fold((0, 0), |sum, counts| (sum.0 + counts.0, sum.1 + counts.1));
        println!("{:<28} {:.3} of {}", "all", share(together), together.1);
        assert!(share(together) >= least_all, "{}", share(together));
        for (name, &counts) in &self.0 {
            assert!(share(counts) >= least_each, "{name}: {}", share(counts));
        }
    }
}

fn add_channels(coverage: &mut Coverage, made: &Made, found: &Fit) {
    for (i, channel) in found.channels.iter().enumerate() {
        let name = |part: &str| format!("{} {part}", channel.name);
        coverage.add(&name("bias"), Some(channel.bias), made.bias[i]);
        coverage.add(&name("drift"), Some(channel.drift_per_s), made.drift_per_s[i]);
        coverage.add(&name("deviation"), Some(channel.deviation), maths::hypot(made.white[i], made.wander[i]));
        coverage.add(&name("white"), channel.white, made.white[i]);
        coverage.add(&name("delay"), channel.delay_s, made.delay_s);
        if made.wander[i] > 0.0 {
            coverage.add(&name("wander"), channel.wander, made.wander[i]);
            coverage.add(&name("correlation time"), channel.wander_s, made.wander_s);
        } else {
            coverage.add("no wander", channel.wander.is_none().then_some(channel.bias), channel.bias.value);
        }
    }
    coverage.add("delay", found.delay_s, made.delay_s);
}

#[test]
fn what_was_put_into_a_log_is_found_inside_its_interval() {
    let mut coverage = Coverage::default();
    for seed in 0..SEEDS {
        let found = fit(&log(&RICH, seed)).unwrap();
        add_channels(&mut coverage, &RICH, &found);
        let jumps = &found.jumps[0];
        assert_eq!((jumps.name.as_str(), found.jumps[1].count), ("position", 0));
        coverage.add("jump rate", Some(jumps.rate_per_s), RICH.jump_rate_per_s);
        coverage.add("jump size", jumps.size, RICH.jump_m);
        coverage.add("jump hold", jumps.hold_s, RICH.jump_hold_s);
        coverage.add("dropout rate", Some(found.dropouts.rate_per_s), RICH.dropout_rate_per_s);
        coverage.add("dropout duration", found.dropouts.duration_s, RICH.dropout_s);
    }
    coverage.judge(0.87, 0.93);
}

#[test]
fn plain_white_noise_is_told_as_such() {
    let mut coverage = Coverage::default();
    for seed in 0..SEEDS {
        let made = Made { bias: [0.1, 0.0, 0.0], rows: 800, ..QUIET };
        let found = fit(&log(&made, seed)).unwrap();
        add_channels(&mut coverage, &made, &found);
        assert!(found.jumps.iter().all(|jumps| jumps.count == 0) && found.dropouts.count == 0);
    }
    coverage.judge(0.87, 0.93);
}

#[test]
fn a_delay_alone_is_told_from_everything_else() {
    let found = fit(&log(&Made { delay_s: 0.6, ..QUIET }, 1)).unwrap();
    let delay_s = found.delay_s.unwrap();
    assert!(delay_s.holds(0.6) && delay_s.high - delay_s.low < 0.01, "{delay_s:?}");
    assert!(found.channels.iter().all(|channel| !channel.bias.differs_from_zero()));
    // A truth that stands still says nothing about delays.
    let mut still = log(&QUIET, 1);
    for channel in &mut still.channels {
        let offset = channel.truth.clone();
        channel.estimate.iter_mut().zip(&offset).for_each(|(told, truth)| *told = told.map(|told| told - truth));
        channel.truth.fill(0.0);
    }
    let found = fit(&still).unwrap();
    assert_eq!(found.delay_s, None);
    assert!(found.channels[0].deviation.holds(0.05));
}

/// 20 m/s straight on, without a change of anything.
fn uniform(time_s: f64) -> [f64; 3] {
    [20.0 * time_s, 0.5 * time_s, 0.3]
}

/// Errors of a log in which only the motion of the truth decides what can be told.
const LATE: Made = Made { rows: 1000, bias: [0.3, -0.1, 0.01], delay_s: 0.2, ..QUIET };

#[test]
fn on_a_log_of_uniform_motion_bias_and_delay_are_not_told_apart() {
    // As it is, rounded to millimetres, and measured with noise of its own.
    let measured: [fn(f64, u64) -> f64; 3] = [
        |value, _| value,
        |value, _| (value * 1000.0).round() / 1000.0,
        |value, draw| value + 0.02 * Chance::new(Seed(9), "truth").at(draw).normal(0),
    ];
    for (kind, measured) in measured.into_iter().enumerate() {
        for seed in 0..10 {
            let mut log = log_of(&LATE, seed, uniform);
            for channel in &mut log.channels[..2] {
                channel.truth.iter_mut().zip(0..).for_each(|(truth, draw)| *truth = measured(*truth, draw));
            }
            let found = fit(&log).unwrap();
            assert_eq!(found.delay_s, None, "{kind} {seed}");
            let [x, y, heading] = &found.channels[..] else { panic!("{}", found.channels.len()) };
            assert_eq!((x.apart, y.apart, heading.apart), (Apart::No, Apart::No, Apart::AtRest), "{kind} {seed}");
            // What is seen is −0.2 s · 20 m/s + 0.3 m, and any delay up to two seconds may be in it.
            assert!((x.bias.value + 3.7).abs() < 0.05, "{kind} {seed}: {:?}", x.bias);
            assert!(x.bias.holds(0.3) && x.bias.low < -3.65 && x.bias.high < 37.0, "{kind} {seed}: {:?}", x.bias);
            assert!(y.bias.holds(-0.1) && heading.bias.high - heading.bias.low < 0.01, "{kind} {seed}");
            let table = found.error_table(&RHYTHM);
            assert!(table.contains("cannot be told apart on this log (x, y)"), "{table}");
            assert!(!table.contains("estimate-delay"), "{table}");
        }
    }
}

#[test]
fn an_even_change_of_speed_does_not_tell_a_delay_either() {
    let found = fit(&log_of(&LATE, 1, |t| [5.0 * t + 0.1 * t * t, 0.0, 0.3])).unwrap();
    let x = &found.channels[0];
    assert_eq!((x.apart, found.delay_s), (Apart::No, None));
    // By hand: the delay of 0.2 s moves the bias by −0.2·v and the drift by −0.2·0.2 m/s².
    assert!(x.bias.holds(0.3) && x.drift_per_s.holds(0.0) && x.drift_per_s.holds(-0.04), "{x:?}");
}

#[test]
fn the_delay_of_one_channel_is_taken_for_another_that_cannot_tell_its_own() {
    let mut coverage = Coverage::default();
    for seed in 0..SEEDS {
        // Uniform along the road, weaving across it.
        let made = Made { drift_per_s: [0.001, 0.0, 0.0], ..LATE };
        let found = fit(&log_of(&made, seed, |t| [20.0 * t, 2.0 * maths::sin(0.4 * t), 0.3])).unwrap();
        let apart: Vec<Apart> = found.channels.iter().map(|channel| channel.apart).collect();
        assert_eq!(apart, [Apart::Others, Apart::Itself, Apart::Others]);
        for (i, channel) in found.channels.iter().enumerate() {
            coverage.add(&format!("{} bias", channel.name), Some(channel.bias), made.bias[i]);
            coverage.add(&format!("{} drift", channel.name), Some(channel.drift_per_s), made.drift_per_s[i]);
        }
        coverage.add("delay", found.delay_s, made.delay_s);
        assert!(!found.error_table(&RHYTHM).contains("cannot be told apart"));
    }
    coverage.judge(0.87, 0.93);
}

#[test]
fn a_speed_that_hardly_changes_gives_wide_intervals_and_not_wrong_ones() {
    let mut coverage = Coverage::default();
    let mut told = 0;
    for seed in 0..SEEDS {
        let found = fit(&log_of(&LATE, seed, |t| [20.0 * t + 0.3 * maths::sin(0.2 * t), 0.0, 0.3])).unwrap();
        let x = &found.channels[0];
        coverage.add("x bias", Some(x.bias), LATE.bias[0]);
        if let Some(delay_s) = x.delay_s {
            told += 1;
            coverage.add("delay", Some(delay_s), LATE.delay_s);
            assert!(x.bias.high - x.bias.low > 0.5, "the delay is hardly known: {:?}", x.bias);
        }
    }
    assert_eq!(told, SEEDS);
    coverage.judge(0.87, 0.9);
}

/// A long drift, many long dropouts, rare long jumps, at another rate.
const DRIFTING: Made = Made {
    rows: 4000,
    step_s: 0.05,
    bias: [-0.3, 0.1, 0.0],
    drift_per_s: [0.01, -0.006, 0.0003],
    delay_s: 0.08,
    jump_rate_per_s: 0.04,
    jump_m: 0.9,
    jump_hold_s: 3.0,
    dropout_rate_per_s: 0.3,
    dropout_s: 1.4,
    ..QUIET
};

#[test]
fn drifts_bursts_of_dropouts_and_long_jumps_are_found_inside_their_intervals() {
    let mut coverage = Coverage::default();
    for seed in 0..SEEDS {
        let found = fit(&log(&DRIFTING, seed)).unwrap();
        add_channels(&mut coverage, &DRIFTING, &found);
        coverage.add("jump rate", Some(found.jumps[0].rate_per_s), DRIFTING.jump_rate_per_s);
        coverage.add("jump size", found.jumps[0].size, DRIFTING.jump_m);
        coverage.add("jump hold", found.jumps[0].hold_s, DRIFTING.jump_hold_s);
        coverage.add("dropout rate", Some(found.dropouts.rate_per_s), DRIFTING.dropout_rate_per_s);
        coverage.add("dropout duration", found.dropouts.duration_s, DRIFTING.dropout_s);
    }
    coverage.judge(0.87, 0.93);
}

#[test]
fn rows_that_are_missing_altogether_are_dropouts_too() {
    let mut gappy = log(&QUIET, 2);
    for from in [500, 900, 2000] {
        gappy.time_s.drain(from..from + 20);
        for channel in &mut gappy.channels {
            channel.truth.drain(from..from + 20);
            channel.estimate.drain(from..from + 20);
        }
    }
    let found = fit(&gappy).unwrap();
    assert_eq!(found.dropouts.count, 3);
    assert!((found.dropouts.duration_s.unwrap().value - 2.0).abs() < 1e-6);
    assert!(found.channels[1].deviation.holds(0.05));
}

#[test]
fn logs_that_say_nothing_are_refused_with_the_place() {
    let good = log(&Made { rows: 100, ..QUIET }, 1);
    let refused = |change: fn(&mut Log)| {
        let mut log = good.clone();
        change(&mut log);
        fit(&log).unwrap_err()
    };
    assert_eq!(refused(|log| log.channels.clear()), FitError::Empty);
    assert_eq!(refused(|log| log.time_s[41] = log.time_s[40]), FitError::Time(42));
    let number = FitError::Number { row: 8, channel: "y".into() };
    assert_eq!(refused(|log| log.channels[1].truth[7] = f64::NAN), number);
    assert_eq!(refused(|log| log.channels[2].estimate[40..].fill(None)), FitError::Short(40));
    assert_eq!(
        refused(|log| {
            log.time_s.pop();
        }),
        FitError::Length("x".into())
    );
}

#[test]
fn the_error_table_says_what_was_found() {
    let table = fit(&log(&RICH, 3)).unwrap().error_table(&RHYTHM);
    for part in
        ["id = \"estimate-noise\"", "id = \"position-jump\"", "id = \"estimate-delay\"", "id = \"estimate-dropout\""]
    {
        assert!(table.contains(part), "{part} is missing in\n{table}");
    }
    let quiet = fit(&log(&QUIET, 3)).unwrap().error_table(&RHYTHM);
    assert_eq!(quiet.matches("[[error]]").count(), 1, "{quiet}");
    println!("{table}");
}
