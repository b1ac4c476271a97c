//! Checks across a scenario that is read.

pub(super) mod given;
pub(super) mod placement;
pub(super) mod probability;
pub(super) mod shapes;
pub(super) mod timing;
