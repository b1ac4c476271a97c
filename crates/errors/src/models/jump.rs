//! The estimated pose jumps for one segment (S1-21, S1-39).

use anabranch_kernel::Site;

use crate::directions::directions;
use crate::effects::{Effects, Frame};
use crate::memory::Slot;
use crate::model::{ErrorModel, site};
use crate::words;

/// Jumps of position in every direction and size, and jumps of heading. Both at once are two models.
#[derive(Clone, Debug, PartialEq)]
pub struct Jump {
    id: String,
    frame: Frame,
    /// Name, size and offset of each mode but "none".
    jumps: Vec<(String, f64, [f64; 3])>,
}

/// What a [`Jump`] is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct JumpParts<'a> {
    /// Id in the scenario.
    pub id: &'a str,
    /// Frame of the directions.
    pub frame: Frame,
    /// How far the position jumps; one ring of directions each.
    pub radii_m: &'a [f64],
    /// How many directions each ring has; 2 are left and right.
    pub directions: u8,
    /// Jumps of the heading; positive is left.
    pub headings_rad: &'a [f64],
}

impl Jump {
    /// The rings of positions first, then the headings.
    pub fn new(parts: &JumpParts<'_>) -> Self {
        let around = directions(parts.directions, parts.frame);
        let rings = parts.radii_m.iter().flat_map(|&radius_m| {
            around.iter().map(move |direction| {
                let name = format!("{} {}", direction.name, words::metres(radius_m));
                (name, radius_m, [radius_m * direction.unit[0], radius_m * direction.unit[1], 0.0])
            })
        });
        let turns = parts.headings_rad.iter().map(|&heading_rad| {
            (format!("heading {}", words::turned(heading_rad)), heading_rad.abs(), [0.0, 0.0, heading_rad])
        });
        Self { id: parts.id.to_owned(), frame: parts.frame, jumps: rings.chain(turns).collect() }
    }
}

impl ErrorModel for Jump {
    fn site(&self) -> Site {
        site(&self.id, self.jumps.iter().map(|(name, size, _)| (name.clone(), *size)))
    }
    fn begin(&self, mode: u8, _slot: &mut Slot, effects: &mut Effects) {
        if mode != 0 {
            let (_, _, jump) = &self.jumps[usize::from(mode) - 1];
            let offset = &mut effects.pose_in(self.frame).offset;
            offset.iter_mut().zip(jump).for_each(|(sum, jump)| *sum += jump);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_directions_are_named_in_words() {
        let jump = Jump::new(&JumpParts {
            id: "estimate-jump",
            frame: Frame::Car,
            radii_m: &[0.1],
            directions: 8,
            headings_rad: &[-2.0_f64.to_radians()],
        });
        let site = jump.site();
        let names: Vec<&str> = site.modes.iter().map(|m| m.name.as_str()).collect();
        assert_eq!(names[..4], ["none", "front 0.1 m", "front-left 0.1 m", "left 0.1 m"]);
        assert_eq!(names[9], "heading right 2°");
        let mut effects = Effects::NONE;
        jump.begin(3, &mut Slot::default(), &mut effects);
        assert_eq!(effects.pose_in_car.at(0.7), [0.0, 0.1, 0.0]);
        assert_eq!(effects.pose_in_world, Effects::NONE.pose_in_world);
    }
}
