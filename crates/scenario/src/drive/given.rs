//! Requirements that are meant for small errors only (S1-55).

use anabranch_kernel::ErrorSpace;

use crate::file::{GivenSpec, ScenarioSpec};

/// Sizes that differ by less are meant to be equal: a size may have gone through another unit.
const SAME_SIZE: f64 = 1e-9;

/// For each choice the bits of the requirements that are not meant for errors of that size.
pub(super) fn exceeding(spec: &ScenarioSpec, space: &ErrorSpace) -> Vec<u32> {
    let bits = |modes: &[u8]| {
        let is_beyond = |requirement: &crate::file::RequirementSpec| {
            requirement.given.iter().any(|given| exceeds(spec, space, modes, given))
        };
        let beyond = spec.requirements.iter().enumerate().filter(|(_, requirement)| is_beyond(requirement));
        beyond.fold(0, |all, (index, _)| all | 1 << index)
    };
    space.choices().map(|choice| bits(space.modes(choice))).collect()
}

fn exceeds(spec: &ScenarioSpec, space: &ErrorSpace, modes: &[u8], given: &GivenSpec) -> bool {
    let Some(at) = spec.errors.iter().position(|error| error.id.value == given.error.value) else { return false };
    let (error, mode) = (&spec.errors[at], usize::from(modes[at]));
    let dimension = error.mode_dimension(mode);
    let limit = given.limits.iter().map(|limit| limit.value).find(|(_, of)| *of == dimension);
    limit.is_some_and(|(limit, _)| {
        mode != 0 && space.sites()[at].modes[mode].size > limit * (1.0 + SAME_SIZE) + SAME_SIZE
    })
}
