//! Blocks by the names that block diagrams use.

use super::{Beyond, Block, BlockError, Edge, Method};
use crate::expression::{Binary, Draw, Unary};

/// A size beyond which a parameter is a slip.
const COUNT_MAX: f64 = 100_000.0;

impl Block {
    /// Names that [`Block::named`] knows.
    #[rustfmt::skip]
    pub const NAMES: [&str; 82] = [
        "Abs", "Acos", "Acosh", "Add", "And", "Asin", "Asinh", "Atan", "Atan2", "Atanh", "Backlash", "Bias", "Ceil",
        "Clock", "CompareToConstant", "Constant", "Cos", "Cosh", "Counter", "CounterLimited", "DeadZone", "Delay",
        "DetectChange", "DiscreteDerivative", "DiscreteFir", "DiscreteIntegrator", "DiscreteIntegratorBackward",
        "DiscreteIntegratorTrapezoidal", "DiscreteTransferFcn", "Divide", "EdgeEither", "EdgeFalling", "EdgeRising",
        "Equal", "Exp", "Fix", "Floor", "Gain", "Greater", "GreaterEqual", "Hysteresis", "IntervalTest", "Less",
        "LessEqual", "Log", "Log10", "Lookup1D", "Lookup2D", "LowPass", "Max", "Memory", "Min", "Mod",
        "MultiportSwitch", "Nand", "Nor", "Not", "NotEqual", "Or", "Pid", "Power", "Product", "Pulse", "Quantizer",
        "Ramp", "RandomNumber", "RateLimiter", "Relay", "Round", "RsFlipFlop", "Saturation", "Sign", "Sin", "Sine",
        "Sqrt", "Step", "Subtract", "Sum", "Switch", "Tan", "UnitDelay", "Xor",
    ];

    /// The block with a name and parameters. What is not given has the value it usually has; a parameter that the block
    /// does not know is refused.
    ///
    /// # Errors
    /// If there is no such block, or a parameter is missing, unknown or out of range.
    pub fn named(name: &str, parameters: &[(&str, &[f64])]) -> Result<Self, BlockError> {
        let mut given = Given { block: name, parameters, asked: Vec::new() };
        let block = match function(name).or_else(|| joined(name, 2)) {
            Some(Self::Combine { function, negated, .. }) => {
                let inputs = given.count("inputs", Some(2.0), 1.0)?;
                Self::Combine { function, inputs, negated }
            }
            Some(block) => block,
            None => match linear(name, &mut given)? {
                Some(block) => block,
                None => match shaped(name, &mut given)? {
                    Some(block) => block,
                    None => source(name, &mut given)?.ok_or_else(|| BlockError::Unknown(name.to_owned()))?,
                },
            },
        };
        given.nothing_else()?;
        Ok(block)
    }
}

/// Functions of one input, and of two in which order matters.
fn function(name: &str) -> Option<Block> {
    let unary = match name {
        "Abs" => Unary::Abs,
        "Acos" => Unary::Acos,
        "Acosh" => Unary::Acosh,
        "Asin" => Unary::Asin,
        "Asinh" => Unary::Asinh,
        "Atan" => Unary::Atan,
        "Atanh" => Unary::Atanh,
        "Ceil" => Unary::Ceil,
        "Cos" => Unary::Cos,
        "Cosh" => Unary::Cosh,
        "Exp" => Unary::Exp,
        "Fix" => Unary::Truncate,
        "Floor" => Unary::Floor,
        "Log" => Unary::Log,
        "Log10" => Unary::Log10,
        "Not" => Unary::Not,
        "Round" => Unary::Round,
        "Sign" => Unary::Sign,
        "Sin" => Unary::Sin,
        "Sqrt" => Unary::Sqrt,
        "Tan" => Unary::Tan,
        _ => return None,
    };
    Some(Block::Function(unary))
}

fn joined(name: &str, inputs: u32) -> Option<Block> {
    let (function, negated) = match name {
        "And" => (Binary::Both, false),
        "Or" => (Binary::Either, false),
        "Xor" => (Binary::Xor, false),
        "Nand" => (Binary::Both, true),
        "Nor" => (Binary::Either, true),
        "Min" => (Binary::Min, false),
        "Max" => (Binary::Max, false),
        "Atan2" => (Binary::Atan2, false),
        "Mod" => (Binary::Modulo, false),
        "Power" => (Binary::Pow, false),
        _ => (comparison(name)?, false),
    };
    Some(Block::Combine { function, inputs, negated })
}

fn comparison(name: &str) -> Option<Binary> {
    Some(match name {
        "Less" => Binary::Less,
        "LessEqual" => Binary::LessEqual,
        "Greater" => Binary::Greater,
        "GreaterEqual" => Binary::GreaterEqual,
        "Equal" => Binary::Equal,
        "NotEqual" => Binary::NotEqual,
        _ => return None,
    })
}

fn linear(name: &str, given: &mut Given<'_>) -> Result<Option<Block>, BlockError> {
    let integrator = |given: &mut Given<'_>, method| {
        Ok(Block::DiscreteIntegrator {
            method,
            gain: given.number("gain", Some(1.0))?,
            sample_time: given.positive("sample_time", None)?,
            initial: given.number("initial", Some(0.0))?,
            low: given.number("low", Some(f64::NEG_INFINITY))?,
            high: given.number("high", Some(f64::INFINITY))?,
        })
    };
    Ok(Some(match name {
        "Gain" => Block::Gain { gain: given.number("gain", Some(1.0))? },
        "Bias" => Block::Bias { bias: given.number("bias", Some(0.0))? },
        "Add" => Block::Sum { signs: vec![1.0, 1.0] },
        "Subtract" => Block::Sum { signs: vec![1.0, -1.0] },
        "Sum" => Block::Sum { signs: given.signs()? },
        "Divide" => Block::Product { signs: vec![1.0, -1.0] },
        "Product" => Block::Product { signs: given.signs()? },
        "UnitDelay" | "Memory" => Block::UnitDelay { initial: given.number("initial", Some(0.0))? },
        "Delay" => {
            Block::Delay { ticks: given.count("ticks", Some(2.0), 0.0)?, initial: given.number("initial", Some(0.0))? }
        }
        "DiscreteIntegrator" => integrator(given, Method::ForwardEuler)?,
        "DiscreteIntegratorBackward" => integrator(given, Method::BackwardEuler)?,
        "DiscreteIntegratorTrapezoidal" => integrator(given, Method::Trapezoidal)?,
        "DiscreteDerivative" => Block::DiscreteDerivative {
            gain: given.number("gain", Some(1.0))?,
            sample_time: given.positive("sample_time", None)?,
            initial: given.number("initial", Some(0.0))?,
        },
        "DiscreteTransferFcn" => given.transfer_function()?,
        "DiscreteFir" => Block::DiscreteFir { coefficients: given.list("coefficients", 1)? },
        "LowPass" => Block::LowPass {
            time_constant: given.positive("time_constant", None)?,
            sample_time: given.positive("sample_time", None)?,
            initial: given.number("initial", Some(0.0))?,
        },
        "Pid" => Block::Pid {
            p: given.number("p", Some(1.0))?,
            i: given.number("i", Some(0.0))?,
            d: given.number("d", Some(0.0))?,
            filter: given.number("filter", Some(100.0))?,
            sample_time: given.positive("sample_time", None)?,
            low: given.number("low", Some(f64::NEG_INFINITY))?,
            high: given.number("high", Some(f64::INFINITY))?,
        },
        "Counter" => Block::Counter { initial: given.number("initial", Some(0.0))? },
        "CounterLimited" => Block::CounterLimited { upper: given.count("upper", None, 0.0)? },
        "DetectChange" => Block::DetectChange { initial: given.number("initial", Some(0.0))? },
        "EdgeRising" => Block::DetectEdge { edge: Edge::Rising, initial: given.truth("initial")? },
        "EdgeFalling" => Block::DetectEdge { edge: Edge::Falling, initial: given.truth("initial")? },
        "EdgeEither" => Block::DetectEdge { edge: Edge::Either, initial: given.truth("initial")? },
        "RsFlipFlop" => Block::RsFlipFlop { initial: given.truth("initial")? },
        _ => return Ok(None),
    }))
}

fn shaped(name: &str, given: &mut Given<'_>) -> Result<Option<Block>, BlockError> {
    Ok(Some(match name {
        "Saturation" => {
            let [low, high] = given.ordered(["low", "high"], [-0.5, 0.5])?;
            Block::Saturation { low, high }
        }
        "DeadZone" => {
            let [start, end] = given.ordered(["start", "end"], [-0.5, 0.5])?;
            Block::DeadZone { start, end }
        }
        "IntervalTest" => {
            let [low, high] = given.ordered(["low", "high"], [-0.5, 0.5])?;
            Block::IntervalTest { low, high }
        }
        "RateLimiter" => {
            let [falling, rising] = given.ordered(["falling", "rising"], [-1.0, 1.0])?;
            let sample_time = given.positive("sample_time", None)?;
            Block::RateLimiter { rising, falling, sample_time, initial: given.number("initial", Some(0.0))? }
        }
        "Quantizer" => Block::Quantizer { interval: given.positive("interval", Some(0.5))? },
        "Relay" | "Hysteresis" => {
            let [off_point, on_point] = given.ordered(["off_point", "on_point"], [f64::EPSILON, f64::EPSILON])?;
            let (on_value, off_value) = (given.number("on_value", Some(1.0))?, given.number("off_value", Some(0.0))?);
            Block::Relay { on_point, off_point, on_value, off_value }
        }
        "Backlash" => {
            Block::Backlash { width: given.positive("width", Some(1.0))?, initial: given.number("initial", Some(0.0))? }
        }
        "Switch" => Block::Switch { threshold: given.number("threshold", Some(0.0))? },
        "MultiportSwitch" => Block::MultiportSwitch { inputs: given.count("inputs", Some(3.0), 1.0)? },
        "CompareToConstant" => {
            // Numbered as listed: == != < <= >= >.
            const FUNCTIONS: [Binary; 6] = [
                Binary::Equal,
                Binary::NotEqual,
                Binary::Less,
                Binary::LessEqual,
                Binary::GreaterEqual,
                Binary::Greater,
            ];
            let number = given.count("comparison", Some(3.0), 0.0)?;
            let function = FUNCTIONS.get(number as usize).copied();
            let function = function.ok_or_else(|| given.wrong("comparison", "is none of 0 to 5"))?;
            Block::CompareToConstant { function, constant: given.number("constant", Some(3.0))? }
        }
        "Lookup1D" => {
            let (points, beyond) = (given.ascending("points")?, given.beyond()?);
            let values = given.list("values", 2)?;
            if values.len() != points.len() {
                return Err(given.wrong("values", "has another length than `points`"));
            }
            Block::Lookup1 { points, values, beyond }
        }
        "Lookup2D" => {
            let (rows, columns) = (given.ascending("rows")?, given.ascending("columns")?);
            let (values, beyond) = (given.list("values", 4)?, given.beyond()?);
            if values.len() != rows.len() * columns.len() {
                return Err(given.wrong("values", "does not have one number per row and column"));
            }
            Block::Lookup2 { rows, columns, values, beyond }
        }
        _ => return Ok(None),
    }))
}

fn source(name: &str, given: &mut Given<'_>) -> Result<Option<Block>, BlockError> {
    Ok(Some(match name {
        "Constant" => Block::Constant { value: given.number("value", Some(1.0))? },
        "Clock" => Block::Clock { sample_time: given.positive("sample_time", None)? },
        "Step" => Block::Step {
            time: given.number("time", Some(1.0))?,
            before: given.number("before", Some(0.0))?,
            after: given.number("after", Some(1.0))?,
            sample_time: given.positive("sample_time", None)?,
        },
        "Ramp" => Block::Ramp {
            slope: given.number("slope", Some(1.0))?,
            start: given.number("start", Some(0.0))?,
            initial: given.number("initial", Some(0.0))?,
            sample_time: given.positive("sample_time", None)?,
        },
        "Sine" => Block::Sine {
            amplitude: given.number("amplitude", Some(1.0))?,
            frequency: given.number("frequency", Some(1.0))?,
            phase: given.number("phase", Some(0.0))?,
            bias: given.number("bias", Some(0.0))?,
            sample_time: given.positive("sample_time", None)?,
        },
        "Pulse" => Block::Pulse {
            amplitude: given.number("amplitude", Some(1.0))?,
            period: given.count("period", Some(10.0), 1.0)?,
            width: given.count("width", Some(5.0), 0.0)?,
            delay: given.count("delay", Some(0.0), 0.0)?,
        },
        "RandomNumber" => Block::Random {
            draw: Draw::Normal,
            mean: given.number("mean", Some(0.0))?,
            deviation: given.number("deviation", Some(1.0))?,
        },
        _ => return Ok(None),
    }))
}

/// The parameters given, and those asked for.
struct Given<'a> {
    block: &'a str,
    parameters: &'a [(&'a str, &'a [f64])],
    asked: Vec<&'static str>,
}

impl Given<'_> {
    fn wrong(&self, parameter: &str, reason: &str) -> BlockError {
        BlockError::Parameter {
            block: self.block.to_owned(),
            parameter: parameter.to_owned(),
            reason: reason.to_owned(),
        }
    }
    fn find(&mut self, name: &'static str) -> Option<&[f64]> {
        self.asked.push(name);
        self.parameters.iter().find(|(given, _)| *given == name).map(|(_, values)| *values)
    }
    fn number(&mut self, name: &'static str, usual: Option<f64>) -> Result<f64, BlockError> {
        match (self.find(name), usual) {
            (Some([value]), _) if !value.is_nan() => Ok(*value),
            (Some(_), _) => Err(self.wrong(name, "is not one number")),
            (None, Some(usual)) => Ok(usual),
            (None, None) => Err(self.wrong(name, "is missing")),
        }
    }
    fn positive(&mut self, name: &'static str, usual: Option<f64>) -> Result<f64, BlockError> {
        let value = self.number(name, usual)?;
        if value > 0.0 && value.is_finite() { Ok(value) } else { Err(self.wrong(name, "is not positive")) }
    }
    fn truth(&mut self, name: &'static str) -> Result<bool, BlockError> {
        Ok(self.number(name, Some(0.0))? != 0.0)
    }
    fn count(&mut self, name: &'static str, usual: Option<f64>, least: f64) -> Result<u32, BlockError> {
        let value = self.number(name, usual)?;
        if value.fract() == 0.0 && (least..=COUNT_MAX).contains(&value) {
            Ok(value as u32)
        } else {
            Err(self.wrong(name, &format!("is no whole number from {least} to {COUNT_MAX}")))
        }
    }
    fn list(&mut self, name: &'static str, least: usize) -> Result<Vec<f64>, BlockError> {
        match self.find(name).map(<[f64]>::to_vec) {
            None => Err(self.wrong(name, "is missing")),
            Some(values) if values.len() < least => Err(self.wrong(name, &format!("has less than {least} numbers"))),
            Some(values) if !values.iter().all(|value| value.is_finite()) => Err(self.wrong(name, "is not finite")),
            Some(values) => Ok(values),
        }
    }
    fn ascending(&mut self, name: &'static str) -> Result<Vec<f64>, BlockError> {
        let values = self.list(name, 2)?;
        let rises = values.windows(2).all(|pair| pair[0] < pair[1]);
        if rises { Ok(values) } else { Err(self.wrong(name, "does not rise from number to number")) }
    }
    fn ordered(&mut self, names: [&'static str; 2], usual: [f64; 2]) -> Result<[f64; 2], BlockError> {
        let values = [self.number(names[0], Some(usual[0]))?, self.number(names[1], Some(usual[1]))?];
        if values[0] <= values[1] { Ok(values) } else { Err(self.wrong(names[0], &format!("is above `{}`", names[1]))) }
    }
    fn signs(&mut self) -> Result<Vec<f64>, BlockError> {
        let signs = match self.find("signs") {
            None => return Ok(vec![1.0, 1.0]),
            Some(signs) => signs.to_vec(),
        };
        let fine = !signs.is_empty() && signs.iter().all(|sign| sign.abs() == 1.0);
        if fine { Ok(signs) } else { Err(self.wrong("signs", "has numbers other than 1 and -1")) }
    }
    fn beyond(&mut self) -> Result<Beyond, BlockError> {
        Ok(if self.truth("clip")? { Beyond::Clip } else { Beyond::Extend })
    }
    fn transfer_function(&mut self) -> Result<Block, BlockError> {
        let (numerator, denominator) = (self.list("numerator", 1)?, self.list("denominator", 1)?);
        if denominator[0] == 0.0 {
            return Err(self.wrong("denominator", "begins with zero"));
        }
        if numerator.len() > denominator.len() {
            return Err(self.wrong("numerator", "has a higher power than `denominator`"));
        }
        Ok(Block::DiscreteTransferFcn { numerator, denominator })
    }
    fn nothing_else(&self) -> Result<(), BlockError> {
        match self.parameters.iter().find(|(given, _)| !self.asked.contains(given)) {
            Some((given, _)) => Err(self.wrong(given, "is not known")),
            None => Ok(()),
        }
    }
}
