//! What the sizes of an error measure.

use anabranch_kernel::units::Dimension;

use super::error_spec::{ErrorKind, ErrorSpec};
use super::words::ErrorPlace;

impl ErrorSpec {
    /// What the sizes of its modes measure; a jump or drift of position and heading has two.
    pub fn dimensions(&self) -> Vec<Dimension> {
        match &self.kind.value {
            ErrorKind::Jump { radius_m, heading_rad, .. } => pose(!radius_m.is_empty(), !heading_rad.is_empty()),
            ErrorKind::Drift { position_m, heading_rad, .. } => pose(position_m.is_some(), heading_rad.is_some()),
            ErrorKind::Delay { .. } | ErrorKind::Late { .. } => vec![Dimension::Time],
            ErrorKind::Offset { .. } if self.on.value == ErrorPlace::Steering => vec![Dimension::Angle],
            ErrorKind::Offset { .. } => vec![Dimension::Acceleration],
            ErrorKind::Displaced { .. } => vec![Dimension::Length],
            ErrorKind::Leak { .. } => vec![Dimension::Pressure],
            // Of a gain its distance from 1; what is there or not has the size 1.
            ErrorKind::Gain { .. }
            | ErrorKind::Lost { .. }
            | ErrorKind::Flipped { .. }
            | ErrorKind::Missed { .. }
            | ErrorKind::Ghost { .. }
            | ErrorKind::Appears { .. }
            | ErrorKind::MessagesLost { .. }
            | ErrorKind::MonitorLost => {
                vec![Dimension::Number]
            }
        }
    }

    /// What the size of one mode measures: positions come before headings.
    pub fn mode_dimension(&self, mode: usize) -> Dimension {
        let positions = match &self.kind.value {
            ErrorKind::Jump { radius_m, directions, .. } => radius_m.len() * *directions as usize,
            // The first mode of a drift is to stay where it is.
            ErrorKind::Drift { position_m, directions, .. } => {
                1 + if position_m.is_some() { *directions as usize } else { 0 }
            }
            _ => usize::MAX,
        };
        let all = self.dimensions();
        if mode <= positions { all[0] } else { all[all.len() - 1] }
    }
}

fn pose(has_position: bool, has_heading: bool) -> Vec<Dimension> {
    let position = has_position.then_some(Dimension::Length);
    position.into_iter().chain(has_heading.then_some(Dimension::Angle)).collect()
}
