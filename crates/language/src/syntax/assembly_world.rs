//! Weather and channels of public simulations.

use super::Span;
use super::assembly::{Entry, Reader, Text, Value};
use super::assembly_public::{Quiet, quiet};
use super::assembly_values::{exponents, listed, spread};
use crate::diagnostic::{Code, Problem};

/// Kinds of precipitation, and what of them lies on the road.
pub const PRECIPITATION: [(&str, &str); 15] = [
    ("none", "dry"),
    ("drizzle", "rain"),
    ("rain", "rain"),
    ("freezingdrizzle", "ice"),
    ("freezingrain", "ice"),
    ("snowrain", "snow"),
    ("snain", "snow"),
    ("snow", "snow"),
    ("snowgrains", "snow"),
    ("icepellets", "snow"),
    ("sleet", "snow"),
    ("hail", "snow"),
    ("snowpellets", "snow"),
    ("graupel", "snow"),
    ("icecrystals", "snow"),
];

/// Kinds of clouds, and the part of the light of the sun that they cover: a choice of ours.
pub const CLOUDS: [(&str, f64); 15] = [
    ("none", 0.0),
    ("noctilucent", 0.0),
    ("polarstratospheric", 0.1),
    ("cirrus", 0.2),
    ("cirrocumulus", 0.3),
    ("cumulushumilis", 0.3),
    ("cirrostratus", 0.4),
    ("cumulusmediocris", 0.5),
    ("altocumulus", 0.6),
    ("cumuluscongestus", 0.7),
    ("stratocumulus", 0.8),
    ("altostratus", 0.9),
    ("stratus", 1.0),
    ("nimbostratus", 1.0),
    ("cumulonimbus", 1.0),
];

/// What else of the weather can be said. Friction is all that weather does to cars (S2-34), so it has no effect.
const QUIET: [Quiet; 8] = [
    quiet("temperature", "temperature", &[exponents::NUMBER, exponents::TEMPERATURE]),
    quiet("humidity", "number", &[exponents::NUMBER]),
    quiet("pressure", "pressure", &[exponents::PRESSURE]),
    quiet("wind_strength", "speed", &[exponents::SPEED]),
    quiet("windstrength", "speed", &[exponents::SPEED]),
    quiet("wind_direction", "angle", &[exponents::NUMBER]),
    quiet("winddirection", "angle", &[exponents::NUMBER]),
    quiet("precipitation_amount", "length", &[exponents::LENGTH]),
];

/// What can be seen in the sky and changes nothing below it.
const SIGHTS: [&str; 9] = [
    "rainbow",
    "northernlights",
    "circumzenithalarc",
    "zodiacallight",
    "crepuscularrays",
    "mirage",
    "fogbow",
    "contrails",
    "rocketexhausttrails",
];

/// Keys of a weather.
pub const WEATHER_KEYS: [&str; 12] = [
    "precipitation_type",
    "precipitation_amount",
    "clouding",
    "sight",
    "temperature",
    "humidity",
    "pressure",
    "wind_strength",
    "wind_direction",
    "weather_phenomena",
    "optical_phenomena",
    "artificial_phenomena",
];

/// Keys of a channel.
pub const CHANNEL_KEYS: [&str; 4] = ["transfer_rate", "latency", "outage", "area"];

/// What one weather says.
#[derive(Default)]
struct Scope {
    told: Vec<Text>,
    road: Option<&'static str>,
    clouds: Option<String>,
    sight: Vec<Text>,
    /// Fog or smog: how thick it is `sight` must say.
    haze: Option<Text>,
}

impl Reader<'_> {
    /// `weather fixed { … };`, or a list of them.
    pub(super) fn weather(&mut self, entries: &mut Vec<Entry>) {
        let key = self.word();
        let mut family = Vec::new();
        if self.eat("[") {
            loop {
                self.one_weather(&mut family);
                if !self.eat(",") {
                    break;
                }
            }
            if !self.eat("]") {
                self.tell(self.here(), "expected `]` after the last weather", "add `]`");
            }
        } else {
            self.one_weather(&mut family);
        }
        entries.push(Entry { key, value: Value::Family(family) });
    }

    fn one_weather(&mut self, family: &mut Vec<Text>) {
        let kind = self.word();
        if kind.text != "fixed" {
            let what = Text { text: format!("weather {}", kind.text), span: kind.span };
            match kind.text.as_str() {
                "sequence" | "random" => {
                    let told =
                        Problem::error(Code::Field, kind.span, format!("`{}` cannot be honoured here", what.text));
                    self.problems.push(told.help("the weather stays as it is: write `weather fixed { … };`"));
                }
                _ => self.tell(kind.span, "expected `fixed` and a block", "write `weather fixed { … };`"),
            }
            self.skip_entry();
            return;
        }
        if !self.eat("{") {
            self.tell(self.here(), "expected `{`", "write `weather fixed { … };`");
            return;
        }
        let mut scope = Scope::default();
        self.each_entry(|reader| reader.of_weather(&mut scope));
        if let (Some(haze), true) = (&scope.haze, scope.sight.is_empty()) {
            let told = Problem::error(Code::Field, haze.span, format!("nothing says how thick the {} is", haze.text));
            self.problems.push(told.help("add `sight 50m;`"));
        }
        let mut words = vec![scope.road.unwrap_or("dry").to_owned()];
        words.extend(scope.clouds.map(|clouds| format!("clouding {clouds}")));
        let of = |sight: Option<&Text>| {
            let seen = sight.map(|sight| format!("sight {}", sight.text));
            let text = words.iter().cloned().chain(seen).collect::<Vec<_>>().join(", ");
            Text { text, span: sight.map_or(kind.span, |sight| sight.span) }
        };
        match &scope.sight[..] {
            [] => family.push(of(None)),
            several => family.extend(several.iter().map(|sight| of(Some(sight)))),
        }
    }

    fn of_weather(&mut self, scope: &mut Scope) {
        let (key, value) = self.key_and_value();
        if scope.told.iter().any(|before| before.text == key.text) && !key.text.ends_with("_phenomena") {
            let told = Problem::error(Code::Duplicate, key.span, format!("`{}` is there twice", key.text));
            self.problems.push(told.help("keep one of them"));
            return;
        }
        scope.told.push(key.clone());
        let word: String = value.text.chars().filter(|c| !c.is_whitespace() && *c != '_').collect();
        match key.text.as_str() {
            "precipitation_type" => {
                scope.road = self.known(&value, &word, "precipitation", &PRECIPITATION).map(|(_, road)| *road);
            }
            "clouding" => {
                scope.clouds = self.known(&value, &word, "clouds", &CLOUDS).map(|(name, _)| (*name).to_owned())
            }
            "sight" if value.text == "unlimited" => {}
            "sight" => {
                self.numbers(&value, "length", &[exponents::LENGTH]);
                scope.sight = spread(&listed(&value)).unwrap_or_default();
            }
            "weather_phenomena" | "optical_phenomena" | "artificial_phenomena" => {
                let name = value.text.split(|c: char| c.is_whitespace() || c == '(').next().unwrap_or("");
                let span = Span::new(value.span.start as usize, value.span.start as usize + name.len());
                match name {
                    "fog" | "smog" => scope.haze = Some(Text { text: name.to_owned(), span }),
                    _ if SIGHTS.contains(&name) => {}
                    _ => self.refuse_entry(&key, &value),
                }
            }
            other => match QUIET.iter().find(|quiet| quiet.key == other) {
                Some(quiet) => self.measure(quiet, &value),
                None => {
                    let told = Problem::error(Code::Field, key.span, format!("a weather has no `{other}`"));
                    self.problems.push(told.did_you_mean(other, WEATHER_KEYS));
                }
            },
        }
    }

    /// A word of a list.
    fn known<T>(
        &mut self,
        value: &Text,
        word: &str,
        what: &str,
        list: &'static [(&'static str, T)],
    ) -> Option<&'static (&'static str, T)> {
        let found = list.iter().find(|(name, _)| *name == word);
        if found.is_none() {
            let told = Problem::error(Code::Field, value.span, format!("`{}` is no kind of {what}", value.text));
            self.problems.push(told.did_you_mean(word, list.iter().map(|(name, _)| *name)));
        }
        found
    }

    /// `fixed channel NAME { … };`
    pub(super) fn channel(&mut self, entries: &mut Vec<Entry>) {
        let kind = self.word();
        let (kind, word) = if kind.text == "channel" { (Text::default(), kind) } else { (kind, self.word()) };
        if word.text != "channel" || kind.text.is_empty() {
            self.tell(word.span, "expected `fixed channel` or `bound channel`", "write `fixed channel LTE { … };`");
        }
        let name = self.word();
        if !self.eat("{") {
            self.tell(
                self.here(),
                format!("the channel `{}` has no block", name.text),
                "write `fixed channel LTE { … };`",
            );
            self.skip_entry();
            return;
        }
        let type_key = Text { text: "type".to_owned(), span: kind.span };
        let mut inside = vec![Entry { key: type_key, value: Value::List(vec![kind]) }];
        self.each_entry(|reader| {
            let (key, value) = reader.key_and_value();
            // The public scenarios have it without the line.
            let text = if key.text == "transferrate" { "transfer_rate".to_owned() } else { key.text.clone() };
            if !CHANNEL_KEYS.contains(&text.as_str()) {
                let told = Problem::error(Code::Field, key.span, format!("a channel has no `{text}`"));
                reader.problems.push(told.did_you_mean(&text, CHANNEL_KEYS));
                return;
            }
            let values = if text == "area" { vec![value] } else { listed(&value) };
            inside.push(Entry { key: Text { text, span: key.span }, value: Value::List(values) });
        });
        let key = Text { text: format!("channel {}", name.text), span: name.span };
        entries.push(Entry { key, value: Value::Block(inside) });
    }

    /// To the end of an entry that means nothing.
    pub(super) fn skip_entry(&mut self) {
        let mut depth = 0_usize;
        for (at, c) in self.rest().char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => {
                    self.at += at;
                    return;
                }
                '}' => depth -= 1,
                ';' if depth == 0 => {
                    self.at += at;
                    return;
                }
                _ => {}
            }
        }
        self.at = self.text.len();
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::assembly::parse;
    use super::*;

    fn weathers(body: &str) -> Vec<String> {
        let (sim, problems) = parse(&format!("sim S {{ weather {body}; }}"));
        assert_eq!(problems, []);
        let Value::Family(all) = &sim.unwrap().entries[0].value else { panic!() };
        all.iter().map(|one| one.text.clone()).collect()
    }

    #[test]
    fn a_weather_is_what_lies_on_the_road_and_how_far_one_sees() {
        assert_eq!(weathers("fixed {}"), ["dry"]);
        assert_eq!(
            weathers(
                "fixed { temperature -4°C; windstrength 21m/s; precipitation_type freezing rain; clouding stratus; }"
            ),
            ["ice, clouding stratus"]
        );
        assert_eq!(
            weathers("fixed { sight (10m:10m:30m); weather_phenomena fog; optical_phenomena rainbow; }"),
            ["dry, sight 10m", "dry, sight 20m", "dry, sight 30m"]
        );
        assert_eq!(
            weathers("[fixed { precipitation_type hail; sight unlimited; }, fixed { precipitation_type drizzle; }]"),
            ["snow", "rain"]
        );
    }

    /// The only mistake of a simulation, where it is marked; what follows it is read.
    #[track_caller]
    pub(in crate::syntax) fn check(body: &str, message: &str, marked: &str) {
        let text = format!("sim S {{\n{body}\n map_name A.osm;\n}}");
        let (sim, problems) = parse(&text);
        let told: Vec<(&str, &str)> = problems.iter().map(|p| (p.message.as_str(), &text[p.span.range()])).collect();
        assert_eq!(told, [(message, marked)]);
        assert!(sim.unwrap().entries.iter().any(|entry| entry.key.text == "map"), "what follows is read");
    }

    #[test]
    fn weather_that_is_wrong_or_changes_is_told_with_its_place() {
        check("weather random 10s;", "`weather random` cannot be honoured here", "random");
        check("weather sequence {} 10s {} 20s;", "`weather sequence` cannot be honoured here", "sequence");
        check("weather fixed { precipitation_type frogs; };", "`frogs` is no kind of precipitation", "frogs");
        check("weather fixed { temperature 290s; };", "`290s` is no temperature", "290s");
        check("weather fixed { humidity 0.2; humidity 0.3; };", "`humidity` is there twice", "humidity");
        check("weather fixed { weather_phenomena fog; };", "nothing says how thick the fog is", "fog");
        check(
            "weather fixed { weather_phenomena gustnado (1,2); };",
            "`weather_phenomena gustnado (1,2)` cannot be honoured here",
            "weather_phenomena",
        );
        check("weather fixed { sunshine 1; };", "a weather has no `sunshine`", "sunshine");
    }

    #[test]
    fn channels_are_read_with_their_kind() {
        let text =
            "sim S { fixed channel LTE { transferrate 1Mbit/s; latency [1ms, 2ms]; outage 0.1%; area global; }; }";
        let (sim, problems) = parse(text);
        assert_eq!(problems, []);
        let entry = &sim.unwrap().entries[0];
        let Value::Block(inside) = &entry.value else { panic!("{entry:?}") };
        let keys: Vec<&str> = inside.iter().map(|entry| entry.key.text.as_str()).collect();
        assert_eq!(
            (entry.key.text.as_str(), keys.join(" ")),
            ("channel LTE", "type transfer_rate latency outage area".into())
        );
        check("bound channel A { speed 1; };", "a channel has no `speed`", "speed");
        check("fixed channel A { latency 1s; latency 2s; };", "`latency` is there twice", "latency");
    }
}
