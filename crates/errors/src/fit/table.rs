//! The error table of a scenario: what was found in a log, as errors to be explored.

use std::fmt::Write as _;

use anabranch_kernel::maths;

use super::{Apart, ChannelFit, Fit, Jumps};

/// From a deviation to the size that 95 of 100 errors stay below, per direction.
const LARGE: f64 = 1.96;
/// Share of the time in which ordinary errors are larger than that.
const LARGE_SHARE: f64 = 0.05;
/// Sides that a position errs to.
const DIRECTIONS: u8 = 8;

/// Longest delay in base cycles that a scenario takes.
const DELAY_STEPS_MAX: f64 = 65_535.0;
/// Errors below this, in metres or radians, are nothing that a scenario could tell from no error.
const SIZE_MIN: f64 = 1e-8;

/// Times of the scenario that an error table is for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rhythm {
    /// Length of a segment: probabilities are per segment.
    pub segment_s: f64,
    /// Length of a base cycle: delays are whole multiples of it.
    pub step_s: f64,
}

impl Rhythm {
    /// The nearest whole multiple of a base cycle, at least one.
    fn delay(&self, time_s: f64) -> String {
        let steps = (time_s / self.step_s).round().clamp(1.0, DELAY_STEPS_MAX);
        format!("delay = {{ by = \"{} s\" }}", decimal(steps * self.step_s))
    }
}

/// A time with nanoseconds at most and no needless zeros.
fn decimal(value: f64) -> String {
    let text = format!("{value:.9}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// How likely an error is, per segment.
struct Probability {
    begin: f64,
    stay: f64,
}

impl Probability {
    /// Of events that begin at a rate and last for some time.
    fn of_events(rate_per_s: f64, hold_s: f64, segment_s: f64) -> Self {
        Self { begin: 1.0 - maths::exp(-rate_per_s * segment_s), stay: stays(hold_s, segment_s) }
    }
    /// Of something that is so a share of the time, for some time each.
    fn of_share(share: f64, hold_s: f64, segment_s: f64) -> Self {
        let stay = stays(hold_s, segment_s);
        // In the long run as much begins as ends.
        Self { begin: share * (1.0 - stay) / (1.0 - share), stay }
    }
    fn text(&self) -> String {
        format!("probability = {{ begin = {}, stay = {} }}", digits(self.begin), digits(self.stay))
    }
}

fn stays(hold_s: f64, segment_s: f64) -> f64 {
    if hold_s > 0.0 { maths::exp(-segment_s / hold_s) } else { 0.0 }
}

/// Three significant digits, never in scientific form.
fn digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return "0".to_owned();
    }
    let mut decimals = 0_usize;
    let mut scaled = value.abs();
    while scaled < 100.0 && decimals < 9 {
        scaled *= 10.0;
        decimals += 1;
    }
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

impl Fit {
    /// Errors for a scenario, as TOML; to be pasted as it is.
    ///
    /// Ordinary noise becomes an error of the size that 95 of 100 stay below; what wanders for longer than three segments
    /// becomes a drift. Jumps, dropouts and delay become errors of their own where the log shows them.
    pub fn error_table(&self, rhythm: &Rhythm) -> String {
        let segment_s = rhythm.segment_s;
        let (rows, duration) = (self.samples, digits(self.duration_s));
        let segment = digits(segment_s);
        let mut text =
            format!("# Fitted to {rows} rows over {duration} s. Probabilities are per segment of {segment} s.\n");
        let mixed: Vec<&str> =
            self.channels.iter().filter(|one| one.apart == Apart::No).map(|one| &*one.name).collect();
        if !mixed.is_empty() {
            let names = mixed.join(", ");
            let _ = writeln!(
                text,
                "# Bias and delay cannot be told apart on this log ({names}): both are in the noise below."
            );
        }
        self.write_noise(segment_s, &mut text);
        for jumps in self.jumps.iter().filter(|jumps| jumps.count > 0) {
            write_jumps(jumps, segment_s, &mut text);
        }
        if let Some(found) = self.delay_s.filter(|found| found.low > 0.0) {
            let [value, low, high] = [found.value, found.low, found.high].map(digits);
            let always = Probability { begin: 1.0, stay: 1.0 };
            let about = format!("All values are {value} s late ({low} … {high}).");
            entry(&mut text, "estimate-delay", &about, &rhythm.delay(found.value), &always);
        }
        if let (Some(duration_s), 1..) = (self.dropouts.duration_s, self.dropouts.count) {
            let (found, each) = (counted(self.dropouts.count, "dropout"), digits(duration_s.value));
            let about = format!("{found} of {each} s in the mean: the last value grows that old.");
            let probability = Probability::of_events(self.dropouts.rate_per_s.value, duration_s.value, segment_s);
            entry(&mut text, "estimate-dropout", &about, &rhythm.delay(duration_s.value), &probability);
        }
        text
    }

    /// Position and heading together: their ordinary errors.
    fn write_noise(&self, segment_s: f64, text: &mut String) {
        let metres: Vec<&ChannelFit> = self.channels.iter().filter(|channel| channel.unit == "m").collect();
        let heading = self.channels.iter().find(|channel| channel.unit == "rad");
        let all: Vec<&ChannelFit> = metres.iter().copied().chain(heading).collect();
        if all.is_empty() {
            return;
        }
        let wander_s = all.iter().filter_map(|channel| channel.wander_s).map(|time| time.value).fold(0.0, f64::max);
        let size = |channel: &&ChannelFit| channel.bias.value.abs() + LARGE * channel.deviation.value;
        let noticed = |size: f64| if size < SIZE_MIN { 0.0 } else { size };
        let radius_m = noticed(metres.iter().map(size).fold(0.0, f64::max));
        let turn_rad = noticed(heading.iter().map(size).fold(0.0, f64::max));
        if radius_m == 0.0 && turn_rad == 0.0 {
            return;
        }
        let probability = Probability::of_share(LARGE_SHARE, wander_s, segment_s);
        if wander_s > 3.0 * segment_s && radius_m > 0.0 {
            // Steps of a Gauss–Markov noise over a segment, as large as its limit is.
            let share = (1.0 - maths::exp(-2.0 * segment_s / wander_s)).sqrt();
            let mut drift = format!(
                "drift = {{ step = \"{} m\", limit = \"{} m\", decay = \"{} m\", directions = {DIRECTIONS}",
                digits(share * radius_m),
                digits(radius_m),
                digits(share * radius_m)
            );
            if turn_rad > 0.0 {
                let _ = write!(
                    drift,
                    ", heading = \"{} rad\", heading_limit = \"{} rad\", heading_decay = \"{} rad\"",
                    digits(share * turn_rad),
                    digits(turn_rad),
                    digits(share * turn_rad)
                );
            }
            drift.push_str(" }");
            let about = format!("Ordinary errors wander with a correlation time of {} s.", digits(wander_s));
            return entry(text, "estimate-noise", &about, &drift, &probability);
        }
        let directions = if radius_m > 0.0 { DIRECTIONS } else { 1 };
        let mut jump = format!("jump = {{ radius = \"{} m\", directions = {directions}", digits(radius_m));
        if turn_rad > 0.0 {
            let _ = write!(jump, ", heading = \"{} rad\"", digits(turn_rad));
        }
        jump.push_str(" }");
        entry(text, "estimate-noise", "Ordinary errors: 95 of 100 are smaller.", &jump, &probability);
    }
}

/// `1 jump`, `3 jumps`.
fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

fn write_jumps(jumps: &Jumps, segment_s: f64, text: &mut String) {
    let Some(size) = jumps.size else { return };
    let hold_s = jumps.hold_s.map_or(f64::INFINITY, |hold_s| hold_s.value);
    let probability = Probability::of_events(jumps.rate_per_s.value, hold_s, segment_s);
    let (found, name, unit) = (counted(jumps.count, "jump"), &jumps.name, &jumps.unit);
    let [value, low, high] = [size.value, size.low, size.high].map(digits);
    let about = format!("{found} of the {name} by {value} {unit} in the mean ({low} … {high}).");
    let model = match jumps.unit.as_str() {
        "m" => format!("jump = {{ radius = \"{} m\", directions = {DIRECTIONS} }}", digits(size.value)),
        "rad" => format!("jump = {{ radius = \"0 m\", directions = 1, heading = \"{} rad\" }}", digits(size.value)),
        _ => return,
    };
    entry(text, &format!("{}-jump", jumps.name), &about, &model, &probability);
}

fn entry(text: &mut String, id: &str, about: &str, model: &str, probability: &Probability) {
    let _ = write!(
        text,
        "\n# {about}\n[[error]]\nid = \"{id}\"\non = \"ego.localisation\"\n{model}\n{}\n",
        probability.text()
    );
}
