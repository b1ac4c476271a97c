//! What drives each port.

use super::env::Known;

/// One element of one port of one instance.
#[derive(Clone, Debug)]
pub struct Terminal {
    /// The instance.
    pub node: usize,
    /// Its port.
    pub port: usize,
    /// Where its value comes from.
    pub driver: Driver,
    /// The connector that leads to it: the instance it stands in, and its number among all connectors.
    pub by: (usize, usize),
}

/// Where the value of a terminal comes from.
#[derive(Clone, Debug)]
pub enum Driver {
    /// Nobody is connected.
    Nothing,
    /// Nothing on purpose, `#`.
    Open,
    /// Another terminal, or a field of it from a slot on.
    From(usize, u32),
    /// A constant.
    Constant(Known),
}

/// All terminals of a model.
#[derive(Debug, Default)]
pub struct Net {
    /// In the order of instances and ports.
    pub terminals: Vec<Terminal>,
}

/// Where a value begins.
#[derive(Clone, Debug)]
pub enum Origin {
    /// A terminal that no connector leads to, from a slot on.
    Terminal(usize, u32),
    /// A constant.
    Constant(Known),
}

impl Net {
    /// The connectors from where a value begins to a terminal, in the direction of the value.
    pub fn way(&self, terminal: usize) -> Vec<(usize, usize)> {
        let (mut at, mut way) = (terminal, Vec::new());
        for _ in 0..=self.terminals.len() {
            match &self.terminals[at].driver {
                Driver::From(next, _) => {
                    way.push(self.terminals[at].by);
                    at = *next;
                }
                Driver::Constant(_) => {
                    way.push(self.terminals[at].by);
                    break;
                }
                Driver::Nothing | Driver::Open => break,
            }
        }
        way.reverse();
        way
    }

    /// Follows connectors back to where a value begins.
    pub fn origin(&self, terminal: usize) -> Origin {
        let mut at = terminal;
        let mut offset = 0;
        // Connectors cannot form a ring without an instance in it, except by mistake; the bound ends that.
        for _ in 0..=self.terminals.len() {
            match &self.terminals[at].driver {
                Driver::From(next, more) => {
                    at = *next;
                    offset += more;
                }
                Driver::Constant(known) => return Origin::Constant(known.clone()),
                Driver::Nothing | Driver::Open => break,
            }
        }
        Origin::Terminal(at, offset)
    }
}
