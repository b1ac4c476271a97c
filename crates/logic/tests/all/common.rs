//! Random formulas and traces, and what they mean straight from the definition.

use anabranch_kernel::units::Dimension;
use anabranch_kernel::{Chance, Seed};
use anabranch_logic::{Bounds, Comparison, Link, Node, Reading, SignalKind, TIME_TOLERANCE_S, Term, Trace, Window};

/// Two numbers, a whole number and a truth.
pub const TABLE: &[(&str, SignalKind)] = &[
    ("x", SignalKind::Real(Dimension::Number)),
    ("y", SignalKind::Real(Dimension::Number)),
    ("gear", SignalKind::Whole),
    ("on", SignalKind::Truth),
];

/// A stream of draws.
pub struct Draw {
    chance: Chance,
    next: u64,
}

impl Draw {
    pub fn new(what: &str, number: u64) -> Self {
        Self { chance: Chance::new(Seed(7), what).at(number), next: 0 }
    }
    pub fn below(&mut self, below: u64) -> u64 {
        self.next += 1;
        self.chance.below(self.next, below)
    }
    pub fn uniform(&mut self) -> f64 {
        self.next += 1;
        self.chance.uniform(self.next)
    }
}

/// What windows of formulas may look like.
#[derive(Clone, Copy)]
pub struct Grammar {
    /// Windows begin and end at whole multiples of this.
    pub step_s: f64,
    /// Longest window, in steps.
    pub steps: u64,
    pub with_past: bool,
    /// Windows may have no end.
    pub is_endless: bool,
    pub until: Until,
    pub atoms: Atoms,
}

/// Windows of *until*, *release* and *since*.
#[derive(Clone, Copy, PartialEq)]
pub enum Until {
    /// They begin now.
    Now,
    Any,
}

/// What is compared.
#[derive(Clone, Copy, PartialEq)]
pub enum Atoms {
    All,
    /// A number with a constant.
    Plain,
    /// Whole numbers and truths.
    Jumps,
}

fn bounds(draw: &mut Draw, grammar: Grammar) -> String {
    let from = draw.below(3) * draw.below(grammar.steps) / 2;
    match if grammar.is_endless { draw.below(8) } else { 2 } {
        0 => String::new(),
        1 => format!("[{} s, inf]", from as f64 * grammar.step_s),
        _ => {
            let to = from + draw.below(grammar.steps);
            format!("[{}, {} s]", from as f64 * grammar.step_s, to as f64 * grammar.step_s)
        }
    }
}

fn link_bounds(draw: &mut Draw, grammar: Grammar) -> String {
    match grammar.until {
        Until::Any => bounds(draw, grammar),
        Until::Now if grammar.is_endless && draw.below(2) == 0 => String::new(),
        Until::Now => format!("[0, {} s]", draw.below(grammar.steps) as f64 * grammar.step_s),
    }
}

fn atom(draw: &mut Draw, grammar: Grammar) -> String {
    let sign = ["<", "<=", ">", ">="][draw.below(4) as usize];
    let constant = draw.below(9) as f64 * 0.5 - 2.0;
    let kind = match grammar.atoms {
        Atoms::All => draw.below(8),
        Atoms::Plain => draw.below(3),
        Atoms::Jumps => 5 + draw.below(3),
    };
    match kind {
        0 | 1 => format!("x {sign} {constant}"),
        2 => format!("y {sign} {constant}"),
        3 => format!("x - 2 * y {sign} {constant}"),
        4 => format!("abs(x) {sign} max(y, {constant})"),
        5 => format!("gear == {}", draw.below(3)),
        6 => format!("gear != {}", draw.below(3)),
        _ => "on".to_owned(),
    }
}

/// The text of a random formula.
pub fn formula(draw: &mut Draw, depth: u32, grammar: Grammar) -> String {
    if depth == 0 {
        return atom(draw, grammar);
    }
    let inner = |draw: &mut Draw| {
        let less = 1 + draw.below(2) as u32;
        formula(draw, depth.saturating_sub(less), grammar)
    };
    match draw.below(if grammar.with_past { 11 } else { 8 }) {
        0 => format!("not ({})", inner(draw)),
        1 => format!("({}) and ({})", inner(draw), inner(draw)),
        2 => format!("({}) or ({})", inner(draw), inner(draw)),
        3 => format!("({}) -> ({})", inner(draw), inner(draw)),
        4 => format!("always{} ({})", bounds(draw, grammar), inner(draw)),
        5 => format!("F{} ({})", bounds(draw, grammar), inner(draw)),
        6 | 7 => {
            let word = ["until", "release"][draw.below(2) as usize];
            format!("({}) {word}{} ({})", inner(draw), link_bounds(draw, grammar), inner(draw))
        }
        8 => format!("historically{} ({})", bounds(draw, grammar), inner(draw)),
        9 => format!("once{} ({})", bounds(draw, grammar), inner(draw)),
        _ => format!("({}) S{} ({})", inner(draw), link_bounds(draw, grammar), inner(draw)),
    }
}

/// A random trace of up to `samples` samples; every other one is not evenly spaced.
pub fn trace(draw: &mut Draw, samples: u64, step_s: f64) -> Trace {
    let n = 1 + draw.below(samples) as usize;
    let is_coarse = draw.below(2) == 0;
    let number = |draw: &mut Draw| if is_coarse { draw.below(7) as f64 - 3.0 } else { draw.uniform() * 6.0 - 3.0 };
    let signals = vec![
        (0..n).map(|_| number(draw)).collect(),
        (0..n).map(|_| number(draw)).collect(),
        (0..n).map(|_| draw.below(3) as f64).collect(),
        (0..n).map(|_| draw.below(2) as f64).collect(),
    ];
    if draw.below(2) == 0 {
        return Trace::even(step_s, signals).unwrap();
    }
    let mut time_s = 0.0;
    let mut times_s = Vec::new();
    for _ in 0..n {
        times_s.push(time_s);
        // Some samples are missing, some lie between.
        time_s += step_s * [1.0, 1.0, 2.0, 0.37, 1.63][draw.below(5) as usize];
    }
    Trace::new(times_s, signals).unwrap()
}

fn term(term: &Term, frame: &[f64]) -> f64 {
    match term {
        Term::Signal(index) => frame[*index],
        Term::Constant(value, _) => *value,
        Term::Negated(a) => -self::term(a, frame),
        Term::Magnitude(a) => self::term(a, frame).abs(),
        Term::Sum(a, b) => self::term(a, frame) + self::term(b, frame),
        Term::Difference(a, b) => self::term(a, frame) - self::term(b, frame),
        Term::Product(a, b) => self::term(a, frame) * self::term(b, frame),
        Term::Quotient(a, b) => self::term(a, frame) / self::term(b, frame),
        Term::Smaller(a, b) => self::term(a, frame).min(self::term(b, frame)),
        Term::Larger(a, b) => self::term(a, frame).max(self::term(b, frame)),
    }
}

fn compare(comparison: Comparison, a: f64, b: f64, reading: Reading) -> f64 {
    let (holds, margin) = match comparison {
        Comparison::Less => (a < b, b - a),
        Comparison::LessOrEqual => (a <= b, b - a),
        Comparison::Greater => (a > b, a - b),
        Comparison::GreaterOrEqual => (a >= b, a - b),
        Comparison::Equal => (a == b, if a == b { 1.0 } else { -1.0 }),
        Comparison::Unequal => (a != b, if a == b { -1.0 } else { 1.0 }),
    };
    match reading {
        Reading::Margin => margin,
        Reading::Truth if holds => 1.0,
        Reading::Truth => -1.0,
    }
}

/// Whether sample `j` lies in the window of sample `i` that looks ahead.
fn ahead(trace: &Trace, i: usize, j: usize, bounds: Bounds) -> bool {
    let since_s = trace.time_s(j) - trace.time_s(i);
    since_s >= bounds.from_s - TIME_TOLERANCE_S && since_s <= bounds.to_s + TIME_TOLERANCE_S
}

/// What a condition is worth at every sample, by the definition alone.
pub fn by_definition(node: &Node, trace: &Trace, reading: Reading) -> Vec<f64> {
    let n = trace.len();
    let below = |node: &Node| by_definition(node, trace, reading);
    let pairs =
        |a: &Node, b: &Node, f: fn(f64, f64) -> f64| below(a).into_iter().zip(below(b)).map(|(a, b)| f(a, b)).collect();
    let smallest = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::INFINITY, f64::min);
    let largest = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::NEG_INFINITY, f64::max);
    match node {
        Node::Constant(value) => vec![if *value { f64::INFINITY } else { f64::NEG_INFINITY }; n],
        Node::Truth(index) => trace.signal(*index).iter().map(|&x| if x == 1.0 { 1.0 } else { -1.0 }).collect(),
        Node::Compare(comparison, a, b) => (0..n)
            .map(|i| trace.frame(i))
            .map(|frame| compare(*comparison, term(a, &frame), term(b, &frame), reading))
            .collect(),
        Node::Not(a) => below(a).into_iter().map(|a| -a).collect(),
        Node::And(a, b) => pairs(a, b, f64::min),
        Node::Or(a, b) => pairs(a, b, f64::max),
        Node::Implies(a, b) => pairs(a, b, |a, b| (-a).max(b)),
        Node::Window(window, bounds, a) => {
            let a = below(a);
            let inside = |i: usize, j: usize| {
                if window.is_past() { ahead(trace, j, i, *bounds) } else { ahead(trace, i, j, *bounds) }
            };
            let values = |i: usize| (0..n).filter(move |&j| inside(i, j)).map(|j| a[j]).collect::<Vec<_>>();
            match window {
                Window::Always | Window::Historically => (0..n).map(|i| smallest(&mut values(i).into_iter())).collect(),
                Window::Eventually | Window::Once => (0..n).map(|i| largest(&mut values(i).into_iter())).collect(),
            }
        }
        Node::Link(link, bounds, a, b) => {
            let (a, b) = (below(a), below(b));
            (0..n)
                .map(|i| match link {
                    Link::Until => largest(
                        &mut (i..n)
                            .filter(|&j| ahead(trace, i, j, *bounds))
                            .map(|j| b[j].min(smallest(&mut a[i..j].iter().copied()))),
                    ),
                    Link::Release => smallest(
                        &mut (i..n)
                            .filter(|&j| ahead(trace, i, j, *bounds))
                            .map(|j| b[j].max(largest(&mut a[i..j].iter().copied()))),
                    ),
                    Link::Since => largest(
                        &mut (0..=i)
                            .filter(|&j| ahead(trace, j, i, *bounds))
                            .map(|j| b[j].min(smallest(&mut a[j + 1..=i].iter().copied()))),
                    ),
                })
                .collect()
        }
    }
}
