//! Errors are input: the space of error choices a system understands.

use serde::{Deserialize, Serialize};

/// Which error combination is active during a segment. Choice 0 is always "no error".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default)]
pub struct Choice(pub u16);

impl Choice {
    /// No error.
    pub const NONE: Self = Self(0);
    /// Position in the list of combinations of the [`ErrorSpace`].
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// The choices that can matter from some state, in increasing order.
pub type Choices = Vec<Choice>;

/// One way a site can be wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mode {
    /// What a person calls it: `left 0.1 m`.
    pub name: String,
    /// How large the error is, in the site's own unit; 0 for "none".
    pub size: f64,
}

/// A place where errors enter: one error model of the scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Site {
    /// The id of the error in the scenario.
    pub id: String,
    /// Its modes; mode 0 is "none".
    pub modes: Vec<Mode>,
}

/// All error combinations that may be active in one segment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ErrorSpace {
    sites: Vec<Site>,
    /// Mode per site, for each choice.
    combinations: Vec<Vec<u8>>,
}

/// An error space that cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ErrorSpaceError {
    /// A site offers nothing but "none".
    #[error("the error `{0}` has no mode besides \"none\"")]
    Empty(String),
    /// A site has more modes than can be told apart.
    #[error("the error `{0}` has more than {max} modes", max = ErrorSpace::MODES_MAX)]
    TooManyModes(String),
    /// The product of all sites is larger than a choice can number.
    #[error("the errors combine to more than {max} choices; limit them with `at_once`", max = ErrorSpace::CHOICES_MAX)]
    TooManyChoices,
}

impl ErrorSpace {
    /// Most modes of one site: they are stored in a byte.
    pub const MODES_MAX: usize = 255;
    /// Most combinations: they are numbered by 16 bits.
    pub const CHOICES_MAX: usize = 65_535;

    /// All combinations of the sites' modes with at most `at_once` sites in error at the same time,
    /// ordered by the number of erroneous sites, then by site and mode; choice 0 is "no error".
    ///
    /// # Errors
    /// When a site is empty or there are too many combinations.
    pub fn new(sites: Vec<Site>, at_once: usize) -> Result<Self, ErrorSpaceError> {
        for site in &sites {
            if site.modes.len() < 2 {
                return Err(ErrorSpaceError::Empty(site.id.clone()));
            }
            if site.modes.len() > Self::MODES_MAX {
                return Err(ErrorSpaceError::TooManyModes(site.id.clone()));
            }
        }
        let mut combinations = vec![vec![0_u8; sites.len()]];
        let mut last_round = vec![(vec![0_u8; sites.len()], 0_usize)];
        for _ in 0..at_once.min(sites.len()) {
            let mut round = Vec::new();
            for (base, first_free) in &last_round {
                for site in *first_free..sites.len() {
                    for mode in 1..sites[site].modes.len() {
                        let mut combination = base.clone();
                        combination[site] = mode as u8;
                        if combinations.len() >= Self::CHOICES_MAX {
                            return Err(ErrorSpaceError::TooManyChoices);
                        }
                        combinations.push(combination.clone());
                        round.push((combination, site + 1));
                    }
                }
            }
            last_round = round;
        }
        Ok(Self { sites, combinations })
    }

    /// A space of one site whose modes have the given names, the first being "none".
    ///
    /// # Panics
    /// With fewer than two or more than 255 names.
    pub fn of_one_site(id: &str, modes: &[&str]) -> Self {
        let modes = modes
            .iter()
            .enumerate()
            .map(|(i, name)| Mode { name: (*name).to_owned(), size: f64::from(i != 0) })
            .collect();
        Self::new(vec![Site { id: id.to_owned(), modes }], 1).expect("a site with at least two modes")
    }

    /// A space in which nothing can go wrong: one choice, "no error".
    pub fn none() -> Self {
        Self { sites: Vec::new(), combinations: vec![Vec::new()] }
    }

    /// The sites in the order of the scenario.
    pub fn sites(&self) -> &[Site] {
        &self.sites
    }
    /// How many choices there are, "no error" included (the b of bⁿ).
    pub fn len(&self) -> usize {
        self.combinations.len()
    }
    /// Never: choice 0 always exists.
    pub fn is_empty(&self) -> bool {
        false
    }
    /// Every choice, in order.
    pub fn choices(&self) -> impl Iterator<Item = Choice> + '_ {
        (0..self.combinations.len()).map(|i| Choice(i as u16))
    }
    /// Mode of every site under a choice.
    pub fn modes(&self, choice: Choice) -> &[u8] {
        &self.combinations[choice.index()]
    }
    /// How many sites are in error under a choice.
    pub fn active(&self, choice: Choice) -> usize {
        self.modes(choice).iter().filter(|&&mode| mode != 0).count()
    }
    /// The choice with exactly these modes, if the limits allow it.
    pub fn find(&self, modes: &[u8]) -> Option<Choice> {
        self.combinations.iter().position(|c| c == modes).map(|i| Choice(i as u16))
    }
    /// What a person calls a choice: `estimate-jump: left 0.1 m + steering: 2°`.
    pub fn describe(&self, choice: Choice) -> String {
        let parts: Vec<String> = self
            .modes(choice)
            .iter()
            .zip(&self.sites)
            .filter(|&(&mode, _)| mode != 0)
            .map(|(&mode, site)| format!("{}: {}", site.id, site.modes[usize::from(mode)].name))
            .collect();
        if parts.is_empty() { "none".to_owned() } else { parts.join(" + ") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(id: &str, modes: usize) -> Site {
        Site { id: id.into(), modes: (0..modes).map(|m| Mode { name: format!("m{m}"), size: m as f64 }).collect() }
    }

    #[test]
    fn combinations_respect_at_once() {
        let all = ErrorSpace::new(vec![site("a", 3), site("b", 4)], 2).unwrap();
        assert_eq!(all.len(), 3 * 4);
        let single = ErrorSpace::new(vec![site("a", 3), site("b", 4)], 1).unwrap();
        assert_eq!(single.len(), 1 + 2 + 3);
        assert!(single.choices().all(|c| single.active(c) <= 1));
        assert_eq!(all.describe(Choice(0)), "none");
        assert_eq!(all.find(&[2, 3]).map(|c| all.describe(c)).unwrap(), "a: m2 + b: m3");
    }

    #[test]
    fn empty_sites_and_huge_products_are_refused() {
        assert_eq!(ErrorSpace::new(vec![site("a", 1)], 1), Err(ErrorSpaceError::Empty("a".into())));
        let many = (0..5).map(|i| site(&i.to_string(), 20)).collect();
        assert_eq!(ErrorSpace::new(many, 5), Err(ErrorSpaceError::TooManyChoices));
    }
}
