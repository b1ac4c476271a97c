//! Settings of a simulation: which may have several values, and what they mean.

use anabranch_language::diagnostic::Problem;
use anabranch_language::syntax::assembly::{CLOUDS, Text, exponents, measured, moment, quantity};

use super::page::wrong;

/// A field and all values that a family gives it. A field that is left out has one value without text.
pub(super) struct Axis {
    pub(super) key: &'static str,
    pub(super) values: Vec<Text>,
}

/// One value of each field.
pub(super) struct Chosen<'a>(pub(super) Vec<(&'static str, &'a Text)>);

impl Chosen<'_> {
    /// The value of a field that was given.
    pub(super) fn get(&self, key: &str) -> Option<&Text> {
        self.0.iter().find(|(known, value)| *known == key && !value.text.is_empty()).map(|(_, value)| *value)
    }

    /// The value of a field that is always given.
    pub(super) fn needed(&self, key: &str) -> &Text {
        self.get(key).expect("fields that are needed were looked for")
    }
}

/// Every combination, the last field changing fastest.
pub(super) fn choices(axes: &[Axis]) -> Vec<Chosen<'_>> {
    let all = axes.iter().fold(vec![Vec::new()], |before, axis| {
        let with = |one: &Vec<_>, value| one.iter().copied().chain([(axis.key, value)]).collect();
        before.iter().flat_map(|one| axis.values.iter().map(move |value| with(one, value))).collect()
    });
    all.into_iter().map(Chosen).collect()
}

/// What is wrong with a value of a field.
pub(super) fn fault(key: &str, value: &Text) -> Option<Problem> {
    match key {
        "deltaT" => step_s(value).err(),
        "duration" => seconds(value).err(),
        "weather" => Weather::of(value).err(),
        "startTime" if !value.text.is_empty() => moment(value).err(),
        _ => None,
    }
}

/// A time.
pub(super) fn seconds(text: &Text) -> Result<f64, Problem> {
    let (value, _) = measured(text, &[exponents::TIME], "time")
        .map_err(|problem| if problem.help.is_some() { problem } else { problem.help("write `10ms` or `30s`") })?;
    if value <= 0.0 {
        return Err(wrong(text, format!("`{}` is no time", text.text), "write `10ms` or `30s`"));
    }
    Ok(value)
}

/// The step of time: a time, or how often in a second.
pub(super) fn step_s(text: &Text) -> Result<f64, Problem> {
    match quantity(text) {
        Ok((value, unit)) if unit.dimension.0 == exponents::FREQUENCY && value > 0.0 => Ok(1.0 / value),
        _ => seconds(text),
    }
}

/// What lies on the road, and its friction.
const ON_THE_ROAD: [(&str, Option<f64>); 6] =
    [("noRain", None), ("noSnow", None), ("dry", None), ("rain", Some(0.5)), ("snow", Some(0.25)), ("ice", Some(0.1))];

/// What the weather does: friction is its only effect on cars (S2-34), and it can shorten what sensors see.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Weather {
    /// Of the road; `None` where it is dry.
    pub(super) friction: Option<f64>,
    /// From 0 to 1; `None` if nothing is said.
    pub(super) clouds: Option<f64>,
    /// How far anybody sees; `None` if as far as the sensor does.
    pub(super) sight_m: Option<f64>,
}

impl Weather {
    /// `noRain, noSnow`, or `ice, clouding stratus, sight 40m`.
    pub(super) fn of(text: &Text) -> Result<Self, Problem> {
        let mut weather = Self::default();
        for word in text.text.split(',').map(str::trim) {
            let part = |word: &str| Text { text: word.trim().to_owned(), span: text.span };
            if let Some(clouds) = word.strip_prefix("clouding ") {
                let found = CLOUDS.iter().find(|(name, _)| *name == clouds.trim());
                let help = || CLOUDS.map(|(name, _)| name).join(", ");
                let known = found.ok_or_else(|| wrong(text, format!("`{clouds}` are no clouds"), help()))?;
                weather.clouds = Some(known.1);
            } else if let Some(sight) = word.strip_prefix("sight ") {
                let (sight_m, _) = measured(&part(sight), &[exponents::LENGTH], "length")?;
                if sight_m <= 0.0 {
                    return Err(wrong(text, format!("`{sight}` is no way to see"), "write for example `sight 50m`"));
                }
                weather.sight_m = Some(sight_m);
            } else if let Some((_, friction)) = ON_THE_ROAD.iter().find(|(name, _)| *name == word) {
                // The more slippery counts.
                let friction = friction.iter().chain(&weather.friction).copied().reduce(f64::min);
                weather.friction = friction;
            } else {
                let help = "write `noRain`, `noSnow`, `rain`, `snow` or `ice`";
                return Err(wrong(text, format!("`{word}` is no weather"), help));
            }
        }
        Ok(weather)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Text {
        Text { text: text.to_owned(), ..Text::default() }
    }

    #[test]
    fn weather_is_friction_and_sight() {
        let of = |words: &str| Weather::of(&text(words));
        assert_eq!(of("noRain, noSnow"), Ok(Weather::default()));
        assert_eq!(of("rain, noSnow").unwrap().friction, Some(0.5));
        assert_eq!(of("snow, rain").unwrap().friction, Some(0.25));
        assert_eq!(of("hail").unwrap_err().message, "`hail` is no weather");
        let foggy = of("ice, clouding altocumulus, sight 40m").unwrap();
        assert_eq!(foggy, Weather { friction: Some(0.1), clouds: Some(0.6), sight_m: Some(40.0) });
        assert_eq!(of("dry, sight 4s").unwrap_err().message, "`4s` is no length");
    }

    #[test]
    fn a_step_is_a_time_or_a_frequency() {
        assert_eq!(step_s(&text("50ms")), Ok(0.05));
        assert_eq!(step_s(&text("100Hz")), Ok(0.01));
        assert!(step_s(&text("-100Hz")).is_err());
        assert_eq!(step_s(&text("60m")).unwrap_err().help.as_deref(), Some("`m` is metres; write `min` for minutes"));
    }
}
