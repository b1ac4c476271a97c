//! Random programs that are well-formed, from one number each.
#![expect(dead_code, reason = "each test program uses some of them")]

use anabranch_kernel::Seed;
use anabranch_program::{
    Action, ArrayOp, Binary, Builder, Draw, Expr, Fault, Fold, Matrix, Memory, NonFinite, Now, Place, Program, Slot,
    Span, Stmt, Unary,
};

/// A small generator for tests (SplitMix64).
pub struct Dice(pub u64);

impl Dice {
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }
    pub fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
    /// Mostly plain numbers, sometimes such that break things.
    pub fn number(&mut self) -> f64 {
        const ODD: [f64; 12] =
            [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e300, -1e-300, f64::INFINITY, f64::NAN, f64::NEG_INFINITY, 1e9];
        match self.below(10) {
            0 => self.pick(&ODD),
            1..=5 => self.below(9) as f64 - 4.0,
            _ => (self.bits() >> 11) as f64 / (1_u64 << 50) as f64 - 4.0,
        }
    }
}

/// What a kind of test leaves out.
#[derive(Clone, Copy)]
pub struct Without {
    /// Random numbers and functions that libraries compute differently.
    pub library_functions: bool,
    /// Larger matrix operations.
    pub linear_algebra: bool,
}

pub struct Maker {
    dice: Dice,
    without: Without,
    readable: Vec<Span>,
    writable: Vec<Span>,
    counters: Vec<Slot>,
    place: u32,
}

/// The program of a seed.
pub fn program(seed: u64, without: Without) -> Program {
    let mut builder = Builder::new(format!("random {seed}"));
    let mut dice = Dice(seed);
    let mut numbers = |n: usize| (0..n).map(|_| dice.number()).collect::<Vec<_>>();
    let inputs = [builder.input("u", &numbers(1)), builder.input("v", &numbers(3))];
    let constants = [builder.constant("c", &numbers(4)), builder.constant("m", &numbers(9))];
    let writable = vec![
        builder.output("y", &numbers(1)),
        builder.output("z", &numbers(3)),
        builder.state("x", &numbers(1)),
        builder.state("s", &numbers(4)),
        builder.state("p", &numbers(9)),
        builder.signal("t", 1),
        builder.signal("w", 4),
        builder.signal("q", 9),
        builder.signal("large", 40),
    ];
    let counters = (0..4).map(|_| builder.scratch(1).start).collect();
    let readable = inputs.into_iter().chain(constants).chain(writable.iter().copied()).collect();
    let mut maker = Maker { dice, without, readable, writable, counters, place: 0 };
    if maker.dice.chance(70) {
        builder.non_finite(NonFinite::Keep);
    }
    builder.rounds_per_tick(60);
    // One in twenty is large, and three of four are a single statement: many small ones find more per second.
    let (most, depth) = match seed % 20 {
        0 => (3, 2),
        1..5 => (2, 1),
        _ => (1, 0),
    };
    for number in 0..1 + maker.dice.below(most) {
        let body = if depth == 0 { vec![maker.stmt(0)] } else { maker.body(depth) };
        builder.step(format!("step {number}"), body);
    }
    builder.finish().unwrap_or_else(|error| panic!("seed {seed}: {error}"))
}

/// A program of many steps in several groups. A step writes variables of its own group, and now and then reads or writes
/// those of another: so there are branches, and places where they meet.
pub fn wide(seed: u64) -> Program {
    let mut builder = Builder::new(format!("wide {seed}"));
    let mut dice = Dice(seed);
    let groups = 2 + dice.below(4);
    let steps = 4 + dice.below(12);
    let crossing = dice.pick(&[0, 0, 5, 20]);
    let mut numbers = |n: usize| (0..n).map(|_| dice.number()).collect::<Vec<_>>();
    let shared = [builder.input("u", &numbers(9)), builder.constant("c", &numbers(40))];
    let own: Vec<Vec<Span>> = (0..groups)
        .map(|group| {
            let mut state = |name: &str, n: usize| builder.state(format!("{name}{group}"), &numbers(n));
            let mut spans = vec![state("x", 1), state("s", 4), state("p", 9)];
            spans.push(builder.output(format!("y{group}"), &numbers(1)));
            spans.extend([builder.signal(format!("t{group}"), 1), builder.signal(format!("w{group}"), 40)]);
            spans
        })
        .collect();
    let counters: Vec<Vec<Slot>> = (0..groups).map(|_| (0..4).map(|_| builder.scratch(1).start).collect()).collect();
    let without = Without { library_functions: false, linear_algebra: false };
    let mut maker = Maker { dice, without, readable: vec![], writable: vec![], counters: vec![], place: 0 };
    if maker.dice.chance(70) {
        builder.non_finite(NonFinite::Keep);
    }
    // Few enough that loops of several branches together run out of them now and then.
    builder.rounds_per_tick(40);
    for number in 0..steps {
        let group = maker.dice.below(groups);
        maker.counters.clone_from(&counters[group]);
        maker.writable.clone_from(&own[group]);
        maker.readable = shared.iter().chain(&own[group]).copied().collect();
        if maker.dice.chance(crossing) {
            let other = maker.dice.below(groups);
            let (one, two) = (maker.dice.pick(&own[other]), maker.dice.pick(&own[other]));
            maker.readable.push(one);
            if maker.dice.chance(30) {
                maker.writable.push(two);
            }
        }
        let depth = maker.dice.below(2) as u32;
        let body = if depth == 0 { vec![maker.stmt(0)] } else { maker.body(depth) };
        builder.step(format!("step {number}"), body);
    }
    builder.finish().unwrap_or_else(|error| panic!("seed {seed}: {error}"))
}

impl Maker {
    fn next_place(&mut self) -> Place {
        self.place += 1;
        Place(self.place)
    }
    fn span(&mut self) -> Span {
        let index = self.dice.below(self.readable.len());
        self.readable[index]
    }
    fn target(&mut self) -> Span {
        let index = self.dice.below(self.writable.len());
        self.writable[index]
    }
    fn slot_of(&mut self, span: Span) -> Slot {
        span.at(self.dice.below(span.length as usize) as u32)
    }
    fn body(&mut self, depth: u32) -> Vec<Stmt> {
        (0..1 + self.dice.below(2 + depth as usize)).map(|_| self.stmt(depth)).collect()
    }
    fn stmt(&mut self, depth: u32) -> Stmt {
        let stmt = match self.dice.below(if depth == 0 { 10 } else { 16 }) {
            0..=4 => {
                let target = self.target();
                Stmt::set(self.slot_of(target), self.expr(2 + depth.min(1)))
            }
            5 | 6 => {
                let span = self.target();
                let index = self.index(span);
                Stmt::set_element(span, index, self.expr(2))
            }
            7..=9 => self.array(),
            10 | 11 => {
                let otherwise = if self.dice.chance(50) { self.body(depth - 1) } else { Vec::new() };
                Stmt::if_else(self.expr(2), self.body(depth - 1), otherwise)
            }
            12 | 13 => {
                let counter = self.counters[depth as usize];
                let (from, step) = (self.dice.below(4) as f64 - 1.0, self.dice.pick(&[1.0, 1.0, -1.0, 0.5, 0.0]));
                let to: Expr =
                    if self.dice.chance(70) { Expr::Const(self.dice.below(6) as f64) } else { self.expr(1).min(8.0) };
                Stmt::for_each(counter, from, step, to, self.body(depth - 1))
            }
            14 => {
                // Ends by itself, mostly.
                let counter = self.counters[depth as usize];
                let mut body = self.body(depth - 1);
                body.push(Stmt::set(counter, counter + 1.0));
                let bound = self.expr(1);
                Stmt::while_true(Expr::and(Expr::from(counter).less(6.0), bound), body)
            }
            _ => {
                let condition = self.expr(1);
                Stmt::require(Expr::or(condition, self.expr(1)), "both are zero")
            }
        };
        let place = self.next_place();
        stmt.at(place)
    }
    /// An index that mostly fits.
    fn index(&mut self, span: Span) -> Expr {
        match self.dice.below(20) {
            0 => self.expr(1),
            1..=9 => Expr::Const(self.dice.below(span.length as usize) as f64),
            _ => {
                let whole = Expr::unary(Unary::Truncate, self.expr(1)).min(1e6).max(-1e6);
                Expr::binary(Binary::Modulo, whole, f64::from(span.length))
            }
        }
    }
    fn expr(&mut self, depth: u32) -> Expr {
        if depth == 0 || self.dice.chance(15) {
            return self.leaf();
        }
        match self.dice.below(12) {
            0 => {
                let span = self.span();
                let index = self.index(span);
                let place = self.next_place();
                Expr::element(span, index, place)
            }
            1 | 2 => {
                let function = self.unary();
                Expr::unary(function, self.expr(depth - 1))
            }
            3..=8 => {
                let function = self.binary();
                Expr::binary(function, self.expr(depth - 1), self.expr(depth - 1))
            }
            9 => Expr::and(self.expr(depth - 1), self.expr(depth - 1)),
            10 => Expr::or(self.expr(depth - 1), self.expr(depth - 1)),
            _ => Expr::select(self.expr(depth - 1), self.expr(depth - 1), self.expr(depth - 1)),
        }
    }
    fn leaf(&mut self) -> Expr {
        match self.dice.below(12) {
            0..=3 => Expr::Const(self.dice.number()),
            4 => Expr::Tick,
            5 if !self.without.library_functions => Expr::Draw(self.dice.pick(&[Draw::Uniform, Draw::Normal])),
            6 => Expr::Slot(self.dice.pick(&self.counters.clone())),
            _ => {
                let span = self.span();
                self.slot_of(span).into()
            }
        }
    }
    fn unary(&mut self) -> Unary {
        const EXACT: [Unary; 11] = [
            Unary::Negate,
            Unary::Not,
            Unary::Truth,
            Unary::Abs,
            Unary::Sign,
            Unary::Sqrt,
            Unary::Floor,
            Unary::Ceil,
            Unary::Truncate,
            Unary::Round,
            Unary::IsFinite,
        ];
        if self.without.library_functions { self.dice.pick(&EXACT) } else { self.dice.pick(&Unary::ALL) }
    }
    fn binary(&mut self) -> Binary {
        loop {
            let function = self.dice.pick(&Binary::ALL);
            if !(self.without.library_functions && matches!(function, Binary::Pow | Binary::Atan2)) {
                return function;
            }
        }
    }
    fn array(&mut self) -> Stmt {
        let to = self.target();
        let fitting = |maker: &mut Self, length: u32| loop {
            let span = maker.span();
            if span.length >= length {
                return span.part(maker.dice.below((span.length - length + 1) as usize) as u32, length);
            }
        };
        let operation = match self.dice.below(if self.without.linear_algebra { 10 } else { 14 }) {
            0 => ArrayOp::Copy { to, from: fitting(self, to.length) },
            1 => ArrayOp::Fill { to, value: self.expr(1) },
            2 => ArrayOp::Map { to, function: self.unary(), from: fitting(self, to.length) },
            3 | 4 => {
                let lengths = [self.dice.pick(&[1, to.length]), self.dice.pick(&[1, to.length])];
                let function = self.binary();
                ArrayOp::Zip { to, function, left: fitting(self, lengths[0]), right: fitting(self, lengths[1]) }
            }
            5 => {
                const FOLDS: [Fold; 12] = [
                    Fold::Sum,
                    Fold::Product,
                    Fold::Min,
                    Fold::Max,
                    Fold::Mean,
                    Fold::Norm,
                    Fold::NormOne,
                    Fold::NormMax,
                    Fold::ArgMin,
                    Fold::ArgMax,
                    Fold::Any,
                    Fold::All,
                ];
                ArrayOp::Fold { to: to.start, function: self.dice.pick(&FOLDS), from: self.span() }
            }
            6 => {
                let left = self.span();
                ArrayOp::Dot { to: to.start, left, right: fitting(self, left.length) }
            }
            7 => {
                let from = fitting(self, to.length);
                if self.dice.chance(50) { ArrayOp::RunningSum { to, from } } else { ArrayOp::Sort { to, from } }
            }
            8 => ArrayOp::Differences { to: to.part(0, to.length.min(39)), from: fitting(self, to.length.min(39) + 1) },
            _ => self.matrix_operation(),
        };
        Action::Array(operation).into()
    }
    /// Operations on matrices of 3×3 or 2×2, at random places that may overlap.
    fn matrix_operation(&mut self) -> ArrayOp {
        let n = self.dice.pick(&[2, 3]);
        let square = |maker: &mut Self, spans: &[Span]| -> Matrix {
            loop {
                let index = maker.dice.below(spans.len());
                let span = spans[index];
                if span.length >= n * n {
                    let first = maker.dice.below((span.length - n * n + 1) as usize) as u32;
                    return span.part(first, n * n).matrix(n, n);
                }
            }
        };
        let (readable, writable) = (self.readable.clone(), self.writable.clone());
        let to = square(self, &writable);
        let from = square(self, &readable);
        let other = square(self, &readable);
        match self.dice.below(if self.without.linear_algebra { 3 } else { 8 }) {
            0 => ArrayOp::Product { to, left: from, right: other },
            1 => ArrayOp::Transpose { to, from },
            2 => ArrayOp::Diagonal { to, from: self.dice.chance(50).then(|| other.span().part(0, n)) },
            3 => ArrayOp::Determinant { to: to.start, from },
            4 => ArrayOp::Inverse { to, from },
            5 => ArrayOp::Solve { to, left: from, right: other },
            6 => ArrayOp::Eigen { values: to.span().part(0, n), vectors: None, from },
            _ => ArrayOp::SquareRoot { to, from },
        }
    }
}

/// Runs a program for some ticks beside the interpreter: bits, faults and saved states must be equal. `tick` computes one tick
/// the other way, and `way` names it. Returns whether all ticks could be computed.
pub fn same_as_interpreter(
    seed: u64,
    program: &Program,
    way: &str,
    mut tick: impl FnMut(&mut Memory, Now) -> Result<(), Fault>,
) -> bool {
    const TICKS: u64 = 4;
    let mut dice = Dice(!seed);
    let (mut reference, mut memory) = (program.memory(), program.memory());
    for number in 0..TICKS {
        for k in 0..reference.inputs().len() {
            let value = dice.number();
            reference.inputs()[k] = value;
            memory.inputs()[k] = value;
        }
        let now = Now { seed: Seed(seed), tick: number };
        let expected = program.tick(&mut reference, now);
        let result = tick(&mut memory, now);
        let place = || format!("seed {seed}, tick {number}, {way}: {program:#?}");
        assert_eq!(format!("{result:?}"), format!("{expected:?}"), "{}", place());
        let same = |a: &f64, b: &f64| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
        assert!(memory.all().iter().zip(reference.all()).all(|(a, b)| same(a, b)), "{}", place());
        if expected.is_err() {
            return false;
        }
        let exact = memory.saved().iter().zip(reference.saved()).all(|(a, b)| a.to_bits() == b.to_bits());
        assert!(exact, "{}: saved states differ", place());
    }
    true
}
