//! Single errors: the mode of one site in one segment. A segment can hold several of them at once.

use anabranch_kernel::{Choice, ErrorSpace};

/// The error of one site in one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SingleError {
    /// Which segment.
    pub segment: usize,
    /// Position in [`ErrorSpace::sites`].
    pub site: usize,
}

/// Every error of a sequence, by segment and site.
pub fn single_errors(space: &ErrorSpace, choices: &[Choice]) -> Vec<SingleError> {
    let of = |(segment, &choice): (usize, &Choice)| {
        let active = space.modes(choice).iter().enumerate().filter(|(_, mode)| **mode != 0);
        active.map(move |(site, _)| SingleError { segment, site })
    };
    choices.iter().enumerate().flat_map(of).collect()
}

/// The sequence without some of its errors; what else happens in the same segments stays.
pub fn without_errors(space: &ErrorSpace, choices: &[Choice], left_out: &[SingleError]) -> Vec<Choice> {
    let mut choices = choices.to_vec();
    for error in left_out {
        choices[error.segment] = drop_site(space, choices[error.segment], error.site);
    }
    choices
}

/// The choice with one site free of error.
pub(super) fn drop_site(space: &ErrorSpace, choice: Choice, site: usize) -> Choice {
    let mut modes = space.modes(choice).to_vec();
    if modes[site] == 0 {
        return choice;
    }
    modes[site] = 0;
    // With fewer errors at once every limit of the space still holds.
    space.find(&modes).unwrap_or(Choice::NONE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_kernel::{Mode, Site};

    #[test]
    fn an_error_is_left_out_without_the_one_beside_it() {
        let site = |id: &str| Site {
            id: id.to_owned(),
            modes: ["none", "on"].map(|name| Mode { name: name.to_owned(), size: 1.0 }).into(),
        };
        let space = ErrorSpace::new(vec![site("a"), site("b")], 2).unwrap();
        let both = space.find(&[1, 1]).unwrap();
        let errors = single_errors(&space, &[Choice::NONE, both]);
        assert_eq!(errors, [0, 1].map(|site| SingleError { segment: 1, site }));
        let fewer = without_errors(&space, &[Choice::NONE, both], &errors[..1]);
        assert_eq!(fewer, [Choice::NONE, space.find(&[0, 1]).unwrap()]);
        assert_eq!(without_errors(&space, &[Choice::NONE, both], &errors), [Choice::NONE; 2]);
    }
}
