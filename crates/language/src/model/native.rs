//! Blocks that a component may leave without behaviour: their names say what they do.
//!
//! Older libraries declare `And`, `Memory`, `SwitchB` and the like with ports only. Inputs are taken in the order in
//! which they are declared, arrays element by element.

use anabranch_program::{self as ir, Binary, Unary};

/// What a block without behaviour does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block {
    /// Joins all inputs by a function, from the left.
    Join(Binary),
    /// A function of the one input.
    Map(Unary),
    /// Input times the parameter `gain`.
    Gain,
    /// The first input if the second is not zero, else the third.
    Switch,
    /// What came in at the tick before; at first the parameter `value`.
    Memory,
    /// The parameter `value`.
    Constant,
}

impl Block {
    /// The block with this name, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "And" => Self::Join(Binary::Both),
            "Or" => Self::Join(Binary::Either),
            "Xor" => Self::Join(Binary::Xor),
            "Not" => Self::Map(Unary::Not),
            "Abs" => Self::Map(Unary::Abs),
            "Greater" => Self::Join(Binary::Greater),
            "GreaterEquals" => Self::Join(Binary::GreaterEqual),
            "Less" => Self::Join(Binary::Less),
            "LessEquals" => Self::Join(Binary::LessEqual),
            "Equals" => Self::Join(Binary::Equal),
            "Max" => Self::Join(Binary::Max),
            "Min" => Self::Join(Binary::Min),
            "Add" | "Sum" => Self::Join(Binary::Add),
            "Subtraction" | "Sub" | "Minus" => Self::Join(Binary::Sub),
            "Mul" | "Multiplication" | "Product" => Self::Join(Binary::Mul),
            "Div" | "Division" => Self::Join(Binary::Div),
            "Gain" => Self::Gain,
            "Switch" | "SwitchB" | "SwitchM" => Self::Switch,
            "Memory" | "UnitDelay" => Self::Memory,
            "Constant" => Self::Constant,
            _ => return None,
        })
    }

    /// Whether it gives before it takes.
    pub fn is_delay(self) -> bool {
        matches!(self, Self::Memory)
    }

    /// How many inputs it needs, at least and at most.
    fn inputs(self) -> (usize, usize) {
        match self {
            Self::Join(
                Binary::Both | Binary::Either | Binary::Xor | Binary::Max | Binary::Min | Binary::Add | Binary::Mul,
            ) => (1, usize::MAX),
            Self::Join(_) => (2, 2),
            Self::Map(_) | Self::Gain | Self::Memory => (1, 1),
            Self::Switch => (3, 3),
            Self::Constant => (0, 0),
        }
    }

    /// What it does with its slots, or `None` if its ports do not fit. `parameter` is `gain` or `value`.
    pub fn body(self, inputs: &[ir::Slot], output: ir::Slot, parameter: f64, state: ir::Slot) -> Option<Vec<ir::Stmt>> {
        let (least, most) = self.inputs();
        if inputs.len() < least || inputs.len() > most {
            return None;
        }
        let input = |i: usize| ir::Expr::Slot(inputs[i]);
        Some(match self {
            Self::Join(function) => {
                let start = if inputs.len() == 1 && matches!(function, Binary::Both | Binary::Either | Binary::Xor) {
                    ir::Expr::unary(Unary::Truth, input(0))
                } else {
                    input(0)
                };
                let joined = (1..inputs.len()).fold(start, |joined, i| ir::Expr::binary(function, joined, input(i)));
                vec![ir::Stmt::set(output, joined)]
            }
            Self::Map(function) => vec![ir::Stmt::set(output, ir::Expr::unary(function, input(0)))],
            Self::Gain => vec![ir::Stmt::set(output, input(0) * parameter)],
            Self::Switch => vec![ir::Stmt::set(output, ir::Expr::select(input(1), input(0), input(2)))],
            Self::Memory => vec![ir::Stmt::set(output, state), ir::Stmt::set(state, input(0))],
            Self::Constant => vec![ir::Stmt::set(output, parameter)],
        })
    }
}
