//! Channels of a simulation, as messages of other cars.

use anabranch_language::diagnostic::Problem;
use anabranch_language::syntax::assembly::{Assembly, Entry, Text, Value, exponents, measured, spread};

use super::fields::{Axis, Chosen};
use super::page::{Page, Source, wrong};

/// Range of a channel that is everywhere: larger than maps are.
const EVERYWHERE_M: f64 = 1e5;
/// Size of a message: that of a cooperative awareness message, the most usual one between cars.
const MESSAGE_BITS: f64 = 8.0 * 300.0;
/// Messages are kept this long, if they are not under way for longer.
const KEEP_S: f64 = 0.5;

/// Fields of a channel that may have several values, with what they are if left out.
const FIELDS: [&str; 3] = ["transfer_rate", "latency", "outage"];

/// The channel of a simulation, if it has one.
pub(super) struct Channel<'a> {
    name: &'a Text,
    inside: &'a [Entry],
}

/// How many cars a channel reaches.
enum Range {
    Usual,
    Metres(f64),
}

impl<'a> Channel<'a> {
    /// # Errors
    /// If there are several: cars have one radio.
    pub(super) fn of(simulation: &'a Assembly) -> Result<Option<Self>, Problem> {
        let mut channels = simulation.entries.iter().filter_map(|entry| match &entry.value {
            Value::Block(inside) if entry.key.text.starts_with("channel ") => Some(Self { name: &entry.key, inside }),
            _ => None,
        });
        let first = channels.next();
        if let Some(second) = channels.next() {
            let message = format!("`{}` cannot be honoured beside another: cars have one radio", second.name.text);
            return Err(wrong(second.name, message, "keep one channel"));
        }
        if let Some(channel) = &first {
            channel.range()?;
        }
        Ok(first)
    }

    fn list(&self, key: &str) -> Option<&'a [Text]> {
        self.inside.iter().find(|entry| entry.key.text == key).and_then(|entry| match &entry.value {
            Value::List(values) => Some(values.as_slice()),
            _ => None,
        })
    }

    /// Its fields as those of the family.
    pub(super) fn axes(&self) -> Result<Vec<Axis>, Problem> {
        let mut axes = Vec::new();
        for key in FIELDS {
            let values = self.list(key).map_or_else(|| Ok(vec![Text::default()]), spread)?;
            for value in values.iter().filter(|value| !value.text.is_empty()) {
                match key {
                    "transfer_rate" => rate(value).map(drop)?,
                    "latency" => latency_s(value).map(drop)?,
                    _ => share(value).map(drop)?,
                }
            }
            axes.push(Axis { key, values });
        }
        Ok(axes)
    }

    /// Whom it reaches: everybody, or who is near.
    fn range(&self) -> Result<Range, Problem> {
        let is_fixed = self.list("type").is_some_and(|kind| kind.iter().any(|kind| kind.text == "fixed"));
        let Some([area, ..]) = self.list("area") else {
            let help = "add `area global;`, or write `bound channel`";
            return match is_fixed {
                true => Err(wrong(self.name, format!("nothing says where `{}` is", self.name.text), help)),
                false => Ok(Range::Usual),
            };
        };
        if area.text == "global" {
            return Ok(Range::Metres(EVERYWHERE_M));
        }
        let refuse = |why: &str| {
            let message = format!("this area cannot be honoured: {why}");
            let help =
                "write `area global;`, or a bound channel with `area (0,0) 100m;`: so far it reaches from car to car";
            wrong(area, message, help)
        };
        if is_fixed {
            return Err(refuse("a channel reaches from car to car, wherever they are"));
        }
        let (place, radius) = area.text.rsplit_once(')').ok_or_else(|| refuse("it is no place with a radius"))?;
        let middle = place.trim().trim_start_matches('(').split(',').all(|part| part.trim().parse() == Ok(0.0));
        let radius = Text { text: radius.trim().to_owned(), span: area.span };
        let (radius_m, _) = measured(&radius, &[exponents::NUMBER, exponents::LENGTH], "length")
            .map_err(|_| refuse("it is no place with a radius"))?;
        match middle && radius_m > 0.0 {
            true => Ok(Range::Metres(radius_m)),
            false => Err(refuse("its middle is not the car")),
        }
    }

    /// `[helper.radio]`
    pub(super) fn write(&self, page: &mut Page, source: &Source<'_>, chosen: &Chosen<'_>) -> Result<(), Problem> {
        let at = source.place(self.name.span);
        page.plain("\n[helper.radio]");
        if let Range::Metres(range_m) = self.range()? {
            page.line(&at, &format!("range = \"{range_m} m\""));
        }
        let mut latency = chosen.get("latency").map(latency_s).transpose()?;
        let of = |key: &str| chosen.get(key).map_or(at.clone(), |value| source.place(value.span));
        if let Some(value) = chosen.get("transfer_rate") {
            match rate(value)? {
                Rate::Messages(hertz) => page.line(&of("transfer_rate"), &format!("period = \"{} s\"", 1.0 / hertz)),
                Rate::Bits(bits) => latency = Some(latency.unwrap_or(0.0) + MESSAGE_BITS / bits),
            }
        }
        if let Some(latency_s) = latency {
            page.line(&of("latency"), &format!("latency = \"{latency_s} s\""));
            if latency_s > KEEP_S {
                page.line(&of("latency"), &format!("keep = \"{} s\"", (latency_s + KEEP_S).ceil()));
            }
        }
        if let Some(value) = chosen.get("outage") {
            page.line(&of("outage"), &format!("loss = {}", share(value)?));
        }
        Ok(())
    }
}

/// What a rate counts.
#[derive(Debug, PartialEq)]
enum Rate {
    /// Messages in a second.
    Messages(f64),
    /// Bits in a second.
    Bits(f64),
}

fn rate(text: &Text) -> Result<Rate, Problem> {
    let help = "write `10Hz`, messages in a second, or `1Mbit/s`";
    let positive = |value: f64| Some(value).filter(|value| *value > 0.0 && value.is_finite());
    let refused = || wrong(text, format!("`{}` is no rate of a channel", text.text), help);
    if let Some(number) = text.text.strip_suffix("bit/s") {
        let (number, times) = match number.trim_end().chars().last() {
            Some('k' | 'K') => (&number[..number.len() - 1], 1e3),
            Some('M') => (&number[..number.len() - 1], 1e6),
            Some('G') => (&number[..number.len() - 1], 1e9),
            _ => (number, 1.0),
        };
        let bits = number.trim().parse().ok().and_then(|number: f64| positive(number * times));
        return bits.map(Rate::Bits).ok_or_else(refused);
    }
    let (hertz, _) = measured(text, &[exponents::FREQUENCY], "rate of a channel").map_err(|_| refused())?;
    positive(hertz).map(Rate::Messages).ok_or_else(refused)
}

fn latency_s(text: &Text) -> Result<f64, Problem> {
    let (value, _) = measured(text, &[exponents::TIME], "time")?;
    if value < 0.0 {
        return Err(wrong(text, format!("`{}` is no latency", text.text), "write a time of at least 0"));
    }
    Ok(value)
}

/// `0.01` or `1%`.
fn share(text: &Text) -> Result<f64, Problem> {
    let (number, over) = match text.text.strip_suffix('%') {
        Some(number) => (number, 100.0),
        None => (text.text.as_str(), 1.0),
    };
    let value = number.trim().parse().ok().map(|number: f64| number / over);
    value.filter(|value| (0.0..=1.0).contains(value)).ok_or_else(|| {
        wrong(text, format!("`{}` is no share of messages", text.text), "write a number from 0 to 1, or `10%`")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Text {
        Text { text: text.to_owned(), ..Text::default() }
    }

    #[test]
    fn rates_count_messages_or_bits() {
        assert_eq!(rate(&text("20Hz")), Ok(Rate::Messages(20.0)));
        assert_eq!(rate(&text("1Mbit/s")), Ok(Rate::Bits(1e6)));
        assert_eq!(rate(&text("1 Kbit/s")), Ok(Rate::Bits(1e3)));
        for wrong in ["-20Hz", "2s", "bit/s", "Mbit/s", "-1bit/s", "ébit/s"] {
            assert!(rate(&text(wrong)).is_err(), "{wrong}");
        }
        assert_eq!(share(&text("99%")), Ok(0.99));
        assert!(share(&text("3Pa")).is_err() && share(&text("1.5")).is_err());
    }
}
