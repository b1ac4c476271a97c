//! Size, mass, drive, brakes and steering of a car, by the keys of the paper and of the public simulators.

use anabranch_language::diagnostic::Problem;
use anabranch_language::syntax::Span;
use anabranch_language::syntax::assembly::{Assembly, Entry, Text, Value, exponents, measured, quantity};

use super::page::wrong;

/// Keys of the vehicle, and the places that say so.
pub(super) type Keys = Vec<(String, Span)>;

/// Keys that say the same in both spellings.
const ALIKE: [(&str, &str); 5] = [
    ("dimension", "length"),
    ("dimension", "width"),
    ("dimension", "height"),
    ("weight", "mass"),
    ("wheelbase", "wheel_dist"),
];

/// Keys that only the public simulators have.
const PUBLIC: [&str; 8] = ["mass", "width", "length", "height", "wheel_radius", "wheel_dist", "cpu", "physics_model"];

pub(super) fn entry<'a>(car: &'a Assembly, key: &str) -> Option<&'a Entry> {
    car.entries.iter().find(|entry| entry.key.text == key)
}

pub(super) fn list<'a>(car: &'a Assembly, key: &str) -> Option<&'a [Text]> {
    match &entry(car, key)?.value {
        Value::List(values) => Some(values),
        _ => None,
    }
}

/// Whether a car is written for the public simulators.
pub(super) fn is_public(car: &Assembly) -> bool {
    let inside = |entry: &Entry| match &entry.value {
        Value::Block(inside) => inside.iter().any(|entry| !matches!(entry.value, Value::Bound(_))),
        _ => false,
    };
    car.entries.iter().any(|entry| {
        let block = matches!(entry.key.text.as_str(), "sensors" | "actuators") && inside(entry);
        block || PUBLIC.contains(&entry.key.text.as_str())
    })
}

fn positive(text: &Text, kind: [i8; 7], what: &str) -> Result<f64, Problem> {
    let help = "write a positive number with its unit";
    let refused = || wrong(text, format!("`{}` is no {what}", text.text), help);
    match measured(text, &[kind], what) {
        Ok((value, _)) if value > 0.0 => Ok(value),
        Ok(_) => Err(refused()),
        Err(problem) if quantity(text).is_err() => Err(problem),
        Err(_) => Err(refused()),
    }
}

/// A positive quantity of an entry with one value.
fn one(car: &Assembly, key: &str, kind: [i8; 7], what: &str) -> Result<Option<(f64, Span)>, Problem> {
    let Some(entry) = entry(car, key) else { return Ok(None) };
    let Value::List(values) = &entry.value else {
        return Err(wrong(&entry.key, format!("`{key}` needs a value"), format!("write `{key} = …;`")));
    };
    let [value] = &values[..] else {
        return Err(wrong(&entry.key, format!("`{key}` has one value"), "a car has no family; the simulation has"));
    };
    Ok(Some((positive(value, kind, what)?, value.span)))
}

/// Length, width and height.
fn dimension(car: &Assembly) -> Result<Option<([f64; 3], Span)>, Problem> {
    let Some(sizes) = list(car, "dimension") else { return Ok(None) };
    let [length, width, height] = sizes else {
        let help = "write `dimension = 4.43m, 1.93m, 1.25m;`";
        return Err(wrong(&sizes[0], "a car has a length, a width and a height", help));
    };
    let size = |text: &Text| positive(text, exponents::LENGTH, "length");
    Ok(Some(([size(length)?, size(width)?, size(height)?], length.span)))
}

/// The length of a car, if it says so.
pub(super) fn length_m(car: &Assembly) -> Result<Option<f64>, Problem> {
    match dimension(car)? {
        Some(([length_m, ..], _)) => Ok(Some(length_m)),
        None => Ok(one(car, "length", exponents::LENGTH, "length")?.map(|(length_m, _)| length_m)),
    }
}

/// Everything about the vehicle.
pub(super) fn keys(car: &Assembly) -> Result<Keys, Problem> {
    for (paper, public) in ALIKE {
        if let (Some(_), Some(second)) = (entry(car, paper), entry(car, public)) {
            let message = format!("`{public}` says again what `{paper}` says");
            return Err(wrong(&second.key, message, "keep one of them"));
        }
    }
    let mut keys = Keys::new();
    outline(car, &mut keys)?;
    weight(car, &mut keys)?;
    actuators(car, &mut keys)?;
    without_effect(car)?;
    Ok(keys)
}

/// Length, width, and where the axles are.
fn outline(car: &Assembly, keys: &mut Keys) -> Result<(), Problem> {
    let size = |key| one(car, key, exponents::LENGTH, "length");
    let (length, width) = match dimension(car)? {
        Some(([length_m, width_m, _], span)) => (Some((length_m, span)), Some((width_m, span))),
        None => (size("length")?, size("width")?),
    };
    length.iter().for_each(|(length_m, span)| keys.push((format!("length = \"{length_m} m\""), *span)));
    width.iter().for_each(|(width_m, span)| keys.push((format!("width = \"{width_m} m\""), *span)));
    let distances = distances(car)?;
    let wheelbase = match &distances {
        Some(distances) => Some((distances.to_front_m + distances.to_back_m, distances.span)),
        None => size("wheelbase")?,
    };
    if let Some((wheelbase_m, span)) = wheelbase {
        keys.push((format!("wheelbase = \"{wheelbase_m} m\""), span));
    }
    match (length, &distances, wheelbase) {
        // What is left of the length is as much before the axles as behind them.
        (Some((length_m, _)), Some(distances), Some((wheelbase_m, span))) => {
            let overhang_m = 0.5 * (length_m - wheelbase_m);
            if overhang_m < 0.0 {
                let message = format!("axles {wheelbase_m} m apart do not fit into a length of {length_m} m");
                return Err(wrong(
                    &distances.key,
                    message,
                    "make `length` longer, or `to_front` and `to_back` shorter",
                ));
            }
            keys.push((format!("front_overhang = \"{overhang_m} m\", rear_overhang = \"{overhang_m} m\""), span));
        }
        // Axles at the usual share of the length.
        (Some((length_m, span)), _, None) => {
            let wheelbase_m = (length_m * 0.6 * 1e3).round() / 1e3;
            let front_m = (length_m * 0.2 * 1e3).round() / 1e3;
            let rear_m = ((length_m - wheelbase_m - front_m) * 1e6).round() / 1e6;
            keys.push((
                format!(
                    "wheelbase = \"{wheelbase_m} m\", front_overhang = \"{front_m} m\", rear_overhang = \"{rear_m} m\""
                ),
                span,
            ));
        }
        _ => {}
    }
    Ok(())
}

/// Distances of the wheels, from the centre of mass.
struct Distances {
    to_front_m: f64,
    to_back_m: f64,
    key: Text,
    span: Span,
}

/// `wheel_dist { front; back; to_front; to_back; }`: tracks, and how far the axles are from the centre of mass.
fn distances(car: &Assembly) -> Result<Option<Distances>, Problem> {
    let Some(entry) = entry(car, "wheel_dist") else { return Ok(None) };
    let inside = block(entry, &["front", "back", "to_front", "to_back"])?;
    let mut told = [None; 4];
    for (place, key) in told.iter_mut().zip(["front", "back", "to_front", "to_back"]) {
        if let Some(value) = value_of(inside, key)? {
            *place = Some((positive(value, exponents::LENGTH, "length")?, value.span));
        }
    }
    let [_, _, to_front, to_back] = told;
    let (Some((to_front_m, span)), Some((to_back_m, _))) = (to_front, to_back) else {
        let help = "add `to_front = 1.4m; to_back = 1.5m;`, from the centre of mass to the axles";
        return Err(wrong(&entry.key, "nothing says where the axles are", help));
    };
    Ok(Some(Distances { to_front_m, to_back_m, key: entry.key.clone(), span }))
}

/// Mass, and the model that it acts in.
fn weight(car: &Assembly, keys: &mut Keys) -> Result<(), Problem> {
    let mass = match one(car, "weight", exponents::MASS, "mass")? {
        Some(mass) => Some(mass),
        None => one(car, "mass", exponents::MASS, "mass")?,
    };
    let physics = list(car, "physics_model").and_then(|model| model.first());
    if let Some(model) = physics.filter(|model| model.text != "mass_point") {
        let message = format!("the physics model `{}` cannot be honoured here", model.text);
        return Err(wrong(model, message, "write `mass_point`, which is a car with tyres and a mass, or leave it out"));
    }
    let distances = distances(car)?;
    // Mass acts in tyres.
    let because = mass.map(|(_, span)| span).or(physics.map(|model| model.span));
    let Some(span) = because.or(distances.as_ref().map(|distances| distances.span)) else { return Ok(()) };
    keys.push(("model = \"single-track\"".to_owned(), span));
    if let Some((mass_kg, span)) = mass {
        keys.push((format!("mass = \"{mass_kg} kg\""), span));
    }
    if let Some(distances) = distances {
        keys.push((format!("centre_to_front = \"{} m\"", distances.to_front_m), distances.span));
    }
    Ok(())
}

/// `(least : change in a second : most)`, as the public simulators have it.
struct Actuator {
    least: f64,
    rate: f64,
    most: f64,
    span: Span,
}

impl Actuator {
    fn of(value: &Text, kind: [i8; 7]) -> Result<Self, Problem> {
        let help = "write the least value, the change in a second and the largest value, as in `(-1.5 : 2.0 : 3.5)`";
        let refused = |why: &str| wrong(value, format!("`{}`: {why}", value.text), help);
        let inside = value.text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
        let parts: Vec<Text> = inside
            .ok_or_else(|| refused("this is no range"))?
            .split(':')
            .map(|part| Text { text: part.trim().to_owned(), span: value.span })
            .collect();
        let [least, rate, most] = &parts[..] else { return Err(refused("a range has three values")) };
        let mut change = kind;
        change[2] -= 1;
        let of = |text: &Text, kind| {
            measured(text, &[exponents::NUMBER, kind], "value of this actuator").map(|(value, _)| value)
        };
        let (least, rate, most) = (of(least, kind)?, of(rate, change)?, of(most, kind)?);
        match least <= most && most > 0.0 && rate > 0.0 {
            true => Ok(Self { least, rate, most, span: value.span }),
            false => Err(refused("the values must rise, and the rate be positive")),
        }
    }

    /// The time constant of a lag that loses as much as the rate does when everything is asked for at once.
    fn lag_s(&self) -> f64 {
        0.5 * self.most / self.rate
    }
}

/// Limits of drive, brakes and steering.
fn actuators(car: &Assembly, keys: &mut Keys) -> Result<(), Problem> {
    let Some(Entry { value: Value::Block(inside), .. }) = entry(car, "actuators") else { return Ok(()) };
    for entry in inside.iter().filter(|entry| !matches!(entry.value, Value::Bound(_))) {
        let known = ["motor", "brakes", "steering"];
        if !known.contains(&entry.key.text.as_str()) {
            let message = format!("there is no actuator `{}`", entry.key.text);
            return Err(wrong(&entry.key, message, format!("there is {}, or `port => Component;`", known.join(", "))));
        }
    }
    let motor = value_of(inside, "motor")?.map(|value| Actuator::of(value, exponents::ACCELERATION)).transpose()?;
    let brakes = brakes(inside)?;
    if let Some(motor) = &motor {
        keys.push((format!("accel_max = \"{} m/s^2\"", motor.most), motor.span));
    }
    // Motor and brakes act together, and each brake on its quarter of the car.
    let mean = |of: fn(&Actuator) -> f64| 0.25 * brakes.iter().map(of).sum::<f64>();
    let brake_max = mean(|brake| brake.most) - motor.as_ref().map_or(0.0, |motor| motor.least.min(0.0));
    let span = brakes.first().or(motor.as_ref()).map(|actuator| actuator.span);
    if let Some(span) = span.filter(|_| brake_max > 0.0) {
        keys.push((format!("brake_max = \"{brake_max} m/s^2\""), span));
    }
    let lag_s = motor.as_ref().map_or(0.0, Actuator::lag_s).max(mean(Actuator::lag_s));
    if let Some(span) = span {
        keys.push((format!("accel_lag = \"{lag_s} s\""), span));
    }
    if let Some(value) = value_of(inside, "steering")? {
        let steering = Actuator::of(value, exponents::NUMBER)?;
        if (steering.least + steering.most).abs() > 1e-9 {
            let message = "the wheels turn as far to the left as to the right";
            return Err(wrong(value, message, format!("write `(-{0} : {1} : {0})`", steering.most, steering.rate)));
        }
        let (most, rate) = (steering.most, steering.rate);
        let line =
            format!("steering_max = \"{most} rad\", steering_rate_max = \"{rate} rad/s\", steering_lag = \"0 s\"");
        keys.push((line, steering.span));
    }
    Ok(())
}

/// The four brakes; none if nothing is said about them.
fn brakes(inside: &[Entry]) -> Result<Vec<Actuator>, Problem> {
    let Some(entry) = inside.iter().find(|entry| entry.key.text == "brakes") else { return Ok(Vec::new()) };
    let mut all = Vec::new();
    let axles = block(entry, &["front", "back"])?;
    for axle in ["front", "back"] {
        let found = axles.iter().find(|entry| entry.key.text == axle);
        let missing =
            |key: &Text, what: &str| wrong(key, format!("the brakes have no `{what}`"), "add all four wheels");
        let wheels = found.ok_or_else(|| missing(&entry.key, axle))?;
        let inside = block(wheels, &["left", "right"])?;
        for side in ["left", "right"] {
            let value = value_of(inside, side)?.ok_or_else(|| missing(&wheels.key, side))?;
            all.push(Actuator::of(value, exponents::ACCELERATION)?);
        }
    }
    Ok(all)
}

/// What is kept for people: it is measured, and does not change how the car drives.
fn without_effect(car: &Assembly) -> Result<(), Problem> {
    one(car, "height", exponents::LENGTH, "length")?;
    one(car, "wheel_radius", exponents::LENGTH, "length")?;
    let Some(cpu) = entry(car, "cpu") else { return Ok(()) };
    let Value::Block(inside) = &cpu.value else {
        return Err(wrong(&cpu.key, "`cpu` needs a block", "write `cpu { frequency = 3GHz; }`"));
    };
    for entry in inside {
        let Value::List(values) = &entry.value else {
            return Err(wrong(&entry.key, format!("`{}` needs a value", entry.key.text), "write `frequency = 3GHz;`"));
        };
        if entry.key.text.ends_with("frequency") {
            values.iter().try_for_each(|value| positive(value, exponents::FREQUENCY, "frequency").map(drop))?;
        }
    }
    Ok(())
}

/// The entries of a block that has only some keys.
fn block<'a>(entry: &'a Entry, known: &[&str]) -> Result<&'a [Entry], Problem> {
    let Value::Block(inside) = &entry.value else {
        let help = format!("write `{} {{ {} = …; }}`", entry.key.text, known[0]);
        return Err(wrong(&entry.key, format!("`{}` needs a block", entry.key.text), help));
    };
    match inside.iter().find(|inside| !known.contains(&inside.key.text.as_str())) {
        Some(other) => {
            let message = format!("`{}` has no `{}`", entry.key.text, other.key.text);
            Err(wrong(&other.key, message, format!("there is {}", known.join(", "))))
        }
        None => Ok(inside),
    }
}

/// The only value of an entry.
fn value_of<'a>(inside: &'a [Entry], key: &str) -> Result<Option<&'a Text>, Problem> {
    let mut found = inside.iter().filter(|entry| entry.key.text == key && !matches!(entry.value, Value::Bound(_)));
    let Some(first) = found.next() else { return Ok(None) };
    if let Some(second) = found.next() {
        return Err(wrong(&second.key, format!("`{key}` is there twice"), "keep one of them"));
    }
    match &first.value {
        Value::List(values) if values.len() == 1 => Ok(values.first()),
        _ => Err(wrong(&first.key, format!("`{key}` needs one value"), format!("write `{key} = …;`"))),
    }
}
