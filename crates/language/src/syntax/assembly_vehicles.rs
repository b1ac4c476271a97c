//! Vehicles and pedestrians of public simulations.

use super::assembly::{Goal, Reader, Text};
use super::assembly_public::{Public, Raw, RawWay, part};
use super::assembly_values::{exponents, measured};
use crate::diagnostic::{Code, Problem};

/// Keys of a vehicle with a block.
pub const VEHICLE_KEYS: [&str; 5] = ["path", "goals", "network", "randomPath", "platoon"];
/// How a goal can begin.
pub const OPERATORS: [&str; 4] = ["always", "never", "eventually", "until"];

const HELP: &str = "write `vehicle car1(6.05, 50.77, 0)->(6.06, 50.78, 0) : Model;`, with its .car file beside it";

impl Reader<'_> {
    /// Whether what follows is a vehicle: `car1(…)->(…)`, or a car model before the word `vehicle`.
    pub(super) fn is_vehicle(&mut self) -> bool {
        let length = self.peek_word().len();
        let rest = self.rest()[length..].trim_start();
        rest.starts_with('(') || rest.starts_with("vehicle")
    }

    /// Everything that moves.
    pub(super) fn vehicle(&mut self, public: &mut Public) {
        let whole = self.statement();
        if self.rest().starts_with('{') {
            self.at += 1;
            return self.vehicle_with_goals(&whole, public);
        }
        self.end_of(&Text { text: whole.text.split(['(', ' ']).next().unwrap_or("").to_owned(), span: whole.span });
        // An older spelling has `<p>` and `<v>` for the two.
        let words = whole.text.replace("<p>", "pedestrian").replace("<v>", "vehicle");
        let older = words != whole.text;
        let Some((from, to)) = whole.text.split_once("->") else {
            return self.vehicles_without_way(&whole, public);
        };
        let end = from.trim_end().len();
        let open = from.find('(').unwrap_or(end);
        let name = from[..open].trim();
        let name = if older { "" } else { name.strip_prefix("vehicle").unwrap_or(name).trim() };
        let is_person = words.starts_with("pedestrian");
        if !is_person && (name.is_empty() || !name.starts_with(char::is_alphabetic)) {
            let message = "cars that begin anywhere in a circle, or avoid one, are not simulated";
            self.problems.push(Problem::error(Code::Field, whole.span, message).help(HELP));
            return;
        }
        let to_at = whole.text.len() - to.len();
        let close = to.rfind(')').map_or(0, |at| at + 1);
        let tail = to[close..].trim();
        let car = tail.strip_prefix(':').map(str::trim);
        if (!tail.is_empty() && car.is_none_or(str::is_empty)) || (is_person && car.is_some()) {
            let from = whole.text.len() - tail.len();
            let told =
                Problem::error(Code::Expected, part(&whole, from, whole.text.len()), "expected `;` after the way");
            self.problems.push(told.help(HELP));
            return;
        }
        let (Some(from), Some(to)) = (self.place(&whole, open, end), self.place(&whole, to_at, to_at + close)) else {
            return;
        };
        let at = whole.text.find(name).unwrap_or(0);
        let name = match is_person {
            true => Text { text: format!("pedestrian-{}", public.people.len() + 1), span: whole.span },
            false => Text { text: name.to_owned(), span: part(&whole, at, at + name.len()) },
        };
        let car = car.map(|car| {
            let at = whole.text.rfind(car).unwrap_or(0);
            Text { text: car.to_owned(), span: part(&whole, at, at + car.len()) }
        });
        let way = RawWay { name, from, to, car, goals: Vec::new() };
        if is_person { public.people.push(way) } else { public.cars.push(way) }
    }

    /// `vehicle 1000;`
    fn vehicles_without_way(&mut self, whole: &Text, public: &mut Public) {
        let count = whole.text.strip_prefix("vehicle").unwrap_or("").trim();
        let at = whole.text.len() - count.len();
        let count = Text { text: count.to_owned(), span: part(whole, at, whole.text.len()) };
        match measured(&count, &[exponents::NUMBER], "number") {
            Ok((number, _)) if number >= 0.0 && number.fract() == 0.0 => public.vehicles.push(count),
            _ => {
                let told = Problem::error(Code::Field, whole.span, format!("`{}` is no vehicle", whole.text));
                self.problems.push(told.help(format!("{HELP}; `vehicle 100;` are cars without a name")));
            }
        }
    }

    /// `(6.05, 50.77, 0)`: east and north, or longitude and latitude. What stands third, the direction of a start or the
    /// height of a goal, must be a number: cars begin along their lane, and maps are flat.
    fn place(&mut self, whole: &Text, from: usize, to: usize) -> Option<Raw> {
        let text = whole.text[from..to].trim();
        let start = from + (whole.text[from..to].len() - whole.text[from..to].trim_start().len());
        let span = part(whole, start, start + text.len());
        let numbers = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).and_then(|inside| {
            let all: Option<Vec<f64>> = inside.split(',').map(|number| number.trim().parse().ok()).collect();
            let all = all.filter(|all| (2..=3).contains(&all.len()) && all.iter().all(|number| number.is_finite()))?;
            Some([all[0], all[1]])
        });
        if numbers.is_none() {
            let message = match text.is_empty() {
                true => "a place is missing here".to_owned(),
                false => format!("`{text}` are no coordinates"),
            };
            let told = Problem::error(Code::Field, span, message);
            self.problems
                .push(told.help("write longitude and latitude in degrees, or metres of the map: `(6.05, 50.77, 0)`"));
        }
        numbers.map(|numbers| Raw { numbers, span })
    }

    /// `Model vehicle { path (…)->(…); goals […]; };`
    fn vehicle_with_goals(&mut self, head: &Text, public: &mut Public) {
        let model = head.text.strip_suffix("vehicle").unwrap_or(&head.text).trim();
        let model = Text { text: model.to_owned(), span: part(head, 0, model.len()) };
        if !head.text.ends_with("vehicle") || model.text.contains(char::is_whitespace) {
            let told = Problem::error(Code::Field, head.span, format!("a sim has no `{}` with a block", head.text));
            self.problems.push(told.help("write `Model vehicle { path (…)->(…); };`"));
        } else if model.text.is_empty() {
            let told = Problem::error(Code::Field, head.span, "this vehicle has no car model");
            self.problems.push(told.help("write its name before it: `Model vehicle { path (…)->(…); };`"));
        }
        let (mut path, mut goals, mut has_path) = (None, Vec::new(), false);
        self.each_entry(|reader| match reader.peek_word() {
            "path" => {
                has_path = true;
                path = reader.path();
            }
            "goals" => {
                let (_, value) = reader.key_and_value();
                goals.extend(super::assembly_values::listed(&value).iter().filter_map(|goal| reader.goal(goal)));
            }
            "network" => {
                let (_, name) = reader.key_and_value();
                public.networks.push(name);
            }
            word if OPERATORS.contains(&word) => {
                let goal = reader.statement();
                reader.end_of(&goal);
                goals.extend(reader.goal(&goal));
            }
            word => {
                let key = Text { text: word.to_owned(), span: reader.here() };
                let key = Text { span: super::Span::new(reader.at, reader.at + key.text.len()), ..key };
                if ["platoon", "randomPath"].contains(&word) {
                    reader.refuse_entry(&key, &Text::default());
                } else {
                    let told = Problem::error(Code::Field, key.span, format!("a vehicle has no `{word}`"));
                    reader.problems.push(told.did_you_mean(word, VEHICLE_KEYS));
                }
                reader.skip_entry();
            }
        });
        let Some((from, to)) = path else {
            if !has_path {
                self.tell(head.span, "this vehicle has no path", "add `path (0, 0, 0)->(100, 0, 0);`");
            }
            return;
        };
        if !model.text.is_empty() {
            public.cars.push(RawWay { name: model, from, to, car: None, goals });
        }
    }

    /// `path (…)->(…);`
    fn path(&mut self) -> Option<(Raw, Raw)> {
        let whole = self.statement();
        self.end_of(&Text { text: "path".to_owned(), span: whole.span });
        let mut at = "path".len();
        let mut places = Vec::new();
        for piece in whole.text[at..].split("->") {
            places.push(self.place(&whole, at, at + piece.len())?);
            at += piece.len() + 2;
        }
        match &places[..] {
            [from, to] => Some((from.clone(), to.clone())),
            [_, between, ..] => {
                let told = Problem::error(Code::Field, between.span, "a way leads from one place to one other");
                self.problems.push(told.help("leave out what is between: lanes lead there by themselves"));
                None
            }
            _ => {
                self.tell(whole.span, "the path has no goal", "write `path (0, 0, 0)->(100, 0, 0);`");
                None
            }
        }
    }

    /// `always speed lt 10m/s`
    fn goal(&mut self, text: &Text) -> Option<Goal> {
        let mut words = Vec::new();
        let mut at = 0;
        for word in text.text.split(char::is_whitespace) {
            if !word.is_empty() {
                words.push(Text { text: word.to_owned(), span: part(text, at, at + word.len()) });
            }
            at += word.len() + text.text[at + word.len()..].chars().next().map_or(0, char::len_utf8);
        }
        // A blank may stand before the unit.
        if let [_, _, _, first, rest @ ..] = &mut words[..] {
            rest.iter().for_each(|word| first.text += &word.text);
            words.truncate(4);
        }
        let Ok([operator, metric, comparator, target]) = <[Text; 4]>::try_from(words) else {
            self.tell(text.span, format!("`{}` is no goal", text.text), "write `always speed lt 10m/s`");
            return None;
        };
        Some(Goal { operator, metric, comparator, target })
    }
}

#[cfg(test)]
mod tests {
    use super::super::assembly::{Route, Value, parse};
    use super::super::assembly_world::tests::check;

    fn cars(body: &str) -> Vec<(String, Route)> {
        let (sim, problems) = parse(&format!("sim S {{ {body} }}"));
        assert_eq!(problems, []);
        let Value::Block(cars) = sim.unwrap().entries.pop().unwrap().value else { panic!() };
        let route = |value| if let Value::Route(route) = value { route } else { panic!("{value:?}") };
        cars.into_iter().map(|car| (car.key.text, route(car.value))).collect()
    }

    #[test]
    fn a_vehicle_may_name_its_car_and_its_goals() {
        let named = cars("vehicle car1(0,0,90)->(10,0) : Taxi; car2(0,5)->(10,5,0);");
        assert_eq!((named[0].0.as_str(), named[0].1.car.as_ref().unwrap().text.as_str()), ("car1", "Taxi"));
        assert_eq!((named[1].0.as_str(), named[1].1.car.clone()), ("car2", None));
        let body = "Taxi vehicle { path (0,0,0)->(10,0,0); goals [\n always speed lt 10 m/s,\n never acceleration gt 3m/s^2 ]; };";
        let (name, route) = &cars(body)[0];
        let goals: Vec<String> = route
            .goals
            .iter()
            .map(|g| [&g.operator, &g.metric, &g.comparator, &g.target].map(|t| t.text.as_str()).join(" "))
            .collect();
        assert_eq!(name, "Taxi");
        assert_eq!(goals, ["always speed lt 10m/s", "never acceleration gt 3m/s^2"]);
    }

    #[test]
    fn cars_without_names_and_people_are_counted() {
        let (sim, problems) = parse("sim S { vehicle 40; vehicle 2; pedestrian(1,2)->(3,9,0); }");
        assert_eq!(problems, []);
        let entries = sim.unwrap().entries;
        let Value::List(counts) = &entries[1].value else { panic!("{entries:?}") };
        assert_eq!(counts.iter().map(|count| count.text.as_str()).collect::<Vec<_>>(), ["40", "2"]);
        let Value::Block(people) = &entries[2].value else { panic!("{entries:?}") };
        assert_eq!((people.len(), people[0].key.text.as_str()), (1, "pedestrian-1"));
    }

    #[test]
    fn what_moves_and_cannot_be_simulated_is_told_with_its_place() {
        let circle = "cars that begin anywhere in a circle, or avoid one, are not simulated";
        check("vehicle(123, -94, 201)->(24, 60, 20);", circle, "vehicle(123, -94, 201)->(24, 60, 20)");
        check("<v>(1,2,3)->(4,5,6) 1000;", circle, "<v>(1,2,3)->(4,5,6) 1000");
        check("vehicle 12 (1, 2) -> (50, 60);", circle, "vehicle 12 (1, 2) -> (50, 60)");
        check(
            "<p>(latitude,longitude,z)->(1,2,3);",
            "`(latitude,longitude,z)` are no coordinates",
            "(latitude,longitude,z)",
        );
        check("vehicle car1 ->(9,9);", "a place is missing here", "");
        check("car1(1s, 2)->(3, 4);", "`(1s, 2)` are no coordinates", "(1s, 2)");
        check("vehicle -1000s;", "`vehicle -1000s` is no vehicle", "vehicle -1000s");
        check("car1(1,2)->(3,4) 5;", "expected `;` after the way", "5");
        check("vehicle { path (0,0,0)->(1,1,0); };", "this vehicle has no car model", "vehicle");
        check("A vehicle { path (0,0)->(9,9); platoon { size 5; }; };", "`platoon` cannot be honoured here", "platoon");
        check("A vehicle { path (0,0)->(9,9)->(8,8); };", "a way leads from one place to one other", "(9,9)");
        check("A vehicle { path (0,0)->(9,9); network LTE; };", "there is no channel LTE", "LTE");
        check("A vehicle { network2 1; path (0,0)->(9,9); };", "a vehicle has no `network2`", "network2");
        check("A vehicle { path (0,0)->(9,9); goals [fast]; };", "`fast` is no goal", "fast");
        check("A vehicle { };", "this vehicle has no path", "A vehicle");
    }
}
