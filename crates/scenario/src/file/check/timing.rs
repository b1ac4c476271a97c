//! One clock: every time is a whole multiple of the base cycle (S1-4).

use super::super::codes::Code;
use super::super::error_spec::ErrorKind;
use super::super::problems::Problems;
use super::super::road_spec::{ScriptSpec, TriggerWhen};
use super::super::span::Located;
use super::super::spec::ScenarioSpec;

/// Most base cycles of a run.
const STEPS_MAX: f64 = 1e8;
/// Longest delay in base cycles; delay lines are numbered by 16 bits.
const DELAY_STEPS_MAX: f64 = 65_535.0;
/// Rounding that decimal fractions bring along.
const ROUNDING: f64 = 1e-6;

/// How often `step` fits into `time`, if it does so a whole number of times.
fn multiple(time: f64, step: f64) -> Option<f64> {
    let times = time / step;
    let whole = times.round();
    (whole >= 1.0 && (times - whole).abs() <= ROUNDING).then_some(whole)
}

pub(in super::super) fn check(problems: &mut Problems<'_>, spec: &ScenarioSpec) {
    let step = spec.world.step_s;
    for (name, time) in times(spec) {
        check_multiple(problems, step.value, &name, time, STEPS_MAX);
    }
    for error in &spec.errors {
        if let ErrorKind::Delay { by_s } | ErrorKind::Late { by_s, .. } = &error.kind.value {
            for by_s in by_s {
                let time = Located::new(*by_s, error.kind.span);
                check_multiple(problems, step.value, "by", time, DELAY_STEPS_MAX);
            }
        }
    }
    check_end(problems, spec);
    if let Some(tyres) = &spec.helpers.tyres
        && multiple(spec.explore.segment_s.value, tyres.period_s.value).is_none()
    {
        let message =
            format!("`tyres.period` does not fit into a segment, which is {} s", short(spec.explore.segment_s.value));
        let help = "errors act for whole segments: make it a part of `explore.segment`";
        problems.add(Code::NotAMultiple, tyres.period_s.span, message, help);
    }
}

/// Every time that the clock must meet.
fn times(spec: &ScenarioSpec) -> Vec<(String, Located<f64>)> {
    let driver = &spec.ego.driver;
    let some = [
        ("driver.cycle", driver.cycle_s),
        ("driver.replan", driver.replan_s),
        ("localisation.cycle", spec.ego.localisation_cycle_s),
        ("obstacle_sensor.cycle", spec.ego.obstacle_sensor.map(|sensor| sensor.cycle_s)),
        ("segment", Some(spec.explore.segment_s)),
        ("until", Some(spec.explore.until_s)),
    ];
    let sensors = spec.ego.filter.iter().flat_map(|filter| {
        let named = [("gps.cycle", &filter.gps), ("compass.cycle", &filter.compass)];
        named.into_iter().chain([("wheels.cycle", &filter.wheels), ("gyro.cycle", &filter.gyro)])
    });
    let sensors = sensors.filter_map(|(name, sensor)| Some((name.to_owned(), sensor.cycle_s?)));
    let deadlines = spec.requirements.iter().filter_map(|requirement| Some(("by".to_owned(), requirement.by_s?)));
    let eyes = spec.road.iter().flat_map(|road| &road.sensors);
    let eyes = eyes.map(|sensor| (format!("{}.cycle", sensor.id.value), sensor.cycle_s));
    let gauges = spec.ego.plain.iter().flat_map(|plain| plain.gauges.iter().zip(anabranch_sensing::Plain::ALL));
    let gauges = gauges.filter_map(|(gauge, sensor)| Some((format!("{}.cycle", sensor.name()), gauge.cycle_s?)));
    let radio =
        spec.helpers.radio.iter().flat_map(|radio| [("radio.period", radio.period_s), ("radio.keep", radio.keep_s)]);
    let tyres = spec
        .helpers
        .tyres
        .iter()
        .flat_map(|tyres| [("tyres.period", tyres.period_s), ("tyres.monitor", tyres.monitor_s)]);
    let helpers = radio.chain(tyres).map(|(name, time)| (name.to_owned(), time));
    let sensors = eyes.chain(sensors).chain(gauges).chain(helpers);
    let triggers = spec.road.iter().flat_map(|road| &road.triggers).flat_map(|trigger| {
        let at = if let TriggerWhen::At(at) = trigger.when { Some(("at".to_owned(), at)) } else { None };
        at.into_iter().chain([("for".to_owned(), trigger.for_s)])
    });
    // The beginning is a whole multiple of everything.
    let objects = spec.road.iter().flat_map(|road| &road.objects);
    let acts = objects.clone().filter_map(|object| object.script.as_ref()).flat_map(|script| match script {
        ScriptSpec::Acts(acts) => acts.iter().map(|act| act.at_s).collect(),
        ScriptSpec::Poses(_) => Vec::new(),
    });
    let by_hand = spec.road.iter().flat_map(|road| road.triggers.iter().filter_map(|trigger| trigger.fired_s));
    let by_hand = by_hand.chain(objects.filter_map(|object| object.fired_s));
    let later = acts.map(|at| ("at", at)).chain(by_hand.map(|at| ("fired", at))).filter(|(_, at)| at.value > 0.0);
    let triggers = triggers.chain(later.map(|(name, at)| (name.to_owned(), at)));
    let some = some.into_iter().filter_map(|(name, time)| Some((name.to_owned(), time?)));
    some.chain(sensors).chain(deadlines).chain(triggers).collect()
}

fn check_multiple(problems: &mut Problems<'_>, step_s: f64, name: &str, time: Located<f64>, steps_max: f64) {
    if time.value / step_s > steps_max {
        let message =
            format!("`{name}` is {:.0} base cycles long; at most {steps_max} are possible", time.value / step_s);
        problems.add(Code::TooManySteps, time.span, message, "make it shorter, or `world.step` longer");
    } else if multiple(time.value, step_s).is_none() {
        let near_s = (time.value / step_s).round().max(1.0) * step_s;
        let message = format!("`{name}` is not a whole multiple of `world.step`, which is {} s", short(step_s));
        problems.add(Code::NotAMultiple, time.span, message, format!("write for example \"{} s\"", short(near_s)));
    }
}

/// A number without the digits that rounding adds.
fn short(value: f64) -> String {
    let text = format!("{value:.9}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn check_end(problems: &mut Problems<'_>, spec: &ScenarioSpec) {
    let (segment, until) = (spec.explore.segment_s, spec.explore.until_s);
    if multiple(until.value, segment.value).is_none() {
        let near_s = (until.value / segment.value).round().max(1.0) * segment.value;
        let message = format!("`until` is not a whole number of segments of {} s", short(segment.value));
        problems.add(Code::NotSegments, until.span, message, format!("write for example \"{} s\"", short(near_s)));
    }
    for by in spec.requirements.iter().filter_map(|requirement| requirement.by_s) {
        if by.value > until.value * (1.0 + ROUNDING) {
            let message = format!("the run ends after {} s, before this deadline", short(until.value));
            problems.add(Code::AfterEnd, by.span, message, "make `by` earlier or `explore.until` later");
        }
    }
}
