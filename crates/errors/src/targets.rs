//! Which obstacles an error model is about.

/// An obstacle that the sensors can see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// What the scenario calls it.
    pub name: String,
    /// Its bit in masks of sensed obstacles, below 32.
    pub number: u8,
}

/// Whether the obstacles of a model err one at a time or all together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    /// One mode per obstacle.
    Each,
    /// One mode for all of them.
    Together,
}

/// The obstacles an error model is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Targets {
    /// The obstacles.
    pub obstacles: Vec<Obstacle>,
    /// How they err.
    pub grouping: Grouping,
}

impl Targets {
    /// Name and mask of every group that errs as one.
    pub(crate) fn groups(&self) -> Vec<(String, u32)> {
        let bit = |obstacle: &Obstacle| {
            assert!(obstacle.number < 32, "sensed obstacles are numbered below 32");
            1_u32 << obstacle.number
        };
        match self.grouping {
            Grouping::Each => self.obstacles.iter().map(|o| (o.name.clone(), bit(o))).collect(),
            Grouping::Together if self.obstacles.is_empty() => Vec::new(),
            Grouping::Together => {
                let names: Vec<&str> = self.obstacles.iter().map(|o| o.name.as_str()).collect();
                vec![(names.join(", "), self.obstacles.iter().fold(0, |all, o| all | bit(o)))]
            }
        }
    }
    /// Mask of one group, without allocation.
    pub(crate) fn mask(&self, group: usize) -> u32 {
        match self.grouping {
            Grouping::Each => 1 << self.obstacles[group].number,
            Grouping::Together => self.obstacles.iter().fold(0, |all, o| all | 1 << o.number),
        }
    }
}
