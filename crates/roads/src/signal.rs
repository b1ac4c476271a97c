//! Traffic lights: programs whose state is a function of time and nothing else.

/// What a light shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Aspect {
    /// Stop.
    Red,
    /// Green comes next.
    RedAmber,
    /// Go.
    Green,
    /// Red comes next.
    Amber,
    /// Out of order: signs and the rule of the right apply.
    Dark,
}

/// A part of a program during which no light changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    /// How long it lasts, in microseconds, so that base cycles divide it exactly.
    pub duration_us: u64,
    /// What each group shows.
    pub aspects: Vec<Aspect>,
}

/// A program: phases that follow each other for ever.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Program {
    /// Its id.
    pub name: String,
    /// Names of the groups of lights that it switches.
    pub groups: Vec<String>,
    /// At least one, with one aspect per group.
    pub phases: Vec<Phase>,
    /// How far into the program time 0 is.
    pub offset_us: u64,
}

impl Program {
    /// Time after which everything repeats.
    pub fn period_us(&self) -> u64 {
        self.phases.iter().map(|phase| phase.duration_us).sum()
    }
    /// Number of the phase at a time, and how long it still lasts.
    pub fn phase_at(&self, time_us: u64) -> (usize, u64) {
        let mut rest = (time_us + self.offset_us) % self.period_us();
        for (i, phase) in self.phases.iter().enumerate() {
            if rest < phase.duration_us {
                return (i, phase.duration_us - rest);
            }
            rest -= phase.duration_us;
        }
        unreachable!("a time within the period lies in a phase")
    }
    /// What a group shows at a time.
    pub fn aspect(&self, group: usize, time_us: u64) -> Aspect {
        self.phases[self.phase_at(time_us).0].aspects[group]
    }
    /// How long a group still shows the same; none if it never changes.
    pub fn change_in_us(&self, group: usize, time_us: u64) -> Option<u64> {
        let (first, mut wait) = self.phase_at(time_us);
        let now = self.phases[first].aspects[group];
        for i in 1..self.phases.len() {
            let phase = &self.phases[(first + i) % self.phases.len()];
            if phase.aspects[group] != now {
                return Some(wait);
            }
            wait += phase.duration_us;
        }
        None
    }
    /// Number of a group by its name.
    pub fn group(&self, name: &str) -> Option<usize> {
        self.groups.iter().position(|group| group == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_phases() -> Program {
        let phase =
            |seconds: u64, aspects: [Aspect; 2]| Phase { duration_us: seconds * 1_000_000, aspects: aspects.to_vec() };
        Program {
            name: "cross".into(),
            groups: vec!["main".into(), "side".into()],
            phases: vec![
                phase(20, [Aspect::Green, Aspect::Red]),
                phase(3, [Aspect::Amber, Aspect::Red]),
                phase(10, [Aspect::Red, Aspect::Green]),
                phase(3, [Aspect::Red, Aspect::Amber]),
            ],
            offset_us: 5_000_000,
        }
    }

    #[test]
    fn a_light_is_a_function_of_time_and_repeats() {
        let program = two_phases();
        assert_eq!(program.period_us(), 36_000_000);
        for (seconds, main, side) in
            [(0, Aspect::Green, Aspect::Red), (15, Aspect::Amber, Aspect::Red), (18, Aspect::Red, Aspect::Green)]
        {
            for lap in [0, 1, 7] {
                let time = (seconds + 36 * lap) * 1_000_000;
                assert_eq!((program.aspect(0, time), program.aspect(1, time)), (main, side), "{seconds} s");
            }
        }
        assert_eq!(program.aspect(0, 14_999_999), Aspect::Green);
    }

    #[test]
    fn the_next_change_of_a_group_spans_phases_in_which_it_stays() {
        let program = two_phases();
        assert_eq!(program.change_in_us(0, 0), Some(15_000_000));
        assert_eq!(program.change_in_us(1, 0), Some(18_000_000));
        assert_eq!(program.change_in_us(0, 20_000_000), Some(11_000_000));
    }
}
