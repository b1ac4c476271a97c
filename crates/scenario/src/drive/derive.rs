//! What of the state follows from the rest of it ([`System::derive`](anabranch_kernel::System::derive)).

use super::Drive;
use super::state::DriveState;

impl Drive {
    /// Computes again what follows from other values.
    pub(super) fn derive_rest(&self, state: &mut DriveState) {
        let (tick, steering_rad) = (state.tick, state.car.car.steering);
        let Some(extras) = state.extras.as_deref_mut() else { return };
        if let Some(measured) = extras.measured.as_deref_mut() {
            measured.derive(tick, steering_rad);
        }
        if let Some(street) = extras.street.as_deref_mut() {
            street.branch.tick = tick;
        }
    }
}
