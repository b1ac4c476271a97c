//! Whether the bytes of a state mean the same in every process.
//!
//! Some FMUs write their memory as it is, addresses included. Equal states then differ from process to process, and with them
//! the merging. Two components that began alike must write the same bytes, and no address may be among them.

use std::sync::Arc;

use super::plan::Plan;
use crate::fmu::component::{Component, Fmu};
use crate::protocol::Begin;

/// Tries it with components of its own. What fails in the attempt only means that bytes are not used.
pub fn bytes_are_canonical(fmu: &Arc<Fmu>, plan: &Plan) -> bool {
    let bytes = |component: &Component| -> Option<Vec<u8>> {
        component.initialise(&plan.parameters, &plan.parameter_values(&Begin::default())).ok()?;
        component.serialise(&component.save().ok()?).ok()?
    };
    let Ok(first) = Component::new(fmu) else { return false };
    let Some(first_bytes) = bytes(&first) else { return false };
    if holds_addresses(&first_bytes) {
        return false;
    }
    if fmu.description().capabilities.only_once {
        return true;
    }
    // The first one is still there, so that the second one lives elsewhere.
    Component::new(fmu).is_ok_and(|second| bytes(&second) == Some(first_bytes))
}

/// Whether some word of the bytes is an address of this process; where nobody knows the addresses, it may be.
fn holds_addresses(bytes: &[u8]) -> bool {
    let Some(ranges) = ranges() else { return true };
    let words = bytes.chunks_exact(8).map(|chunk| chunk.try_into().map_or(0, u64::from_ne_bytes));
    words.into_iter().any(|word| ranges.iter().any(|range| range.contains(&word)))
}

/// The mapped addresses, as Linux lists them: `5581e000-5582f000 r-xp …`.
fn ranges() -> Option<Vec<std::ops::Range<u64>>> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let range = |line: &str| {
        let (from, to) = line.split_once(' ')?.0.split_once('-')?;
        Some(u64::from_str_radix(from, 16).ok()?..u64::from_str_radix(to, 16).ok()?)
    };
    Some(maps.lines().filter_map(range).collect())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_recognised_among_numbers() {
        let heap = Box::new(7_u64);
        let address = (&raw const *heap) as u64;
        let bytes = |words: &[u64]| words.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<u8>>();
        let numbers = [0, 1, u64::MAX, 1.0_f64.to_bits(), (-0.3_f64).to_bits(), 86_400];
        assert!(!holds_addresses(&bytes(&numbers)));
        assert!(holds_addresses(&bytes(&[1, address, 2])));
    }
}
