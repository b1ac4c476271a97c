//! Cells of any size keep their promise for any two numbers.

use anabranch_kernel::{CELL_SLACK, CellKey, CellSize, Grid, KeyWriter};
use proptest::prelude::*;

fn key(grid: &Grid, value: f64) -> Option<CellKey> {
    let mut writer = KeyWriter::new(grid);
    writer.real(0, value);
    writer.finish()
}

/// Sizes over the whole range of numbers, and the usual ones.
fn sizes() -> impl Strategy<Value = f64> {
    prop_oneof![prop::num::f64::POSITIVE, (-30.0..30.0_f64).prop_map(f64::exp2), Just(0.1), Just(1e-25), Just(5e-324)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Whatever the size: values of one cell are no further apart than one cell, and equal values are in one cell.
    #[test]
    fn values_further_apart_than_a_cell_are_in_different_cells(
        size in sizes(),
        near in prop_oneof![prop::num::f64::NORMAL, -1e3..1e3_f64],
        cells in -3.0..3.0_f64,
    ) {
        let grid = Grid::from_sizes(vec![CellSize::Size(size)]);
        let far = near + cells * size;
        prop_assume!(far.is_finite());
        prop_assert_eq!(key(&grid, near), key(&grid, near));
        prop_assert!(key(&grid, near).is_some());
        if (far - near).abs() > size * CELL_SLACK {
            prop_assert_ne!(key(&grid, near), key(&grid, far), "{:e} and {:e} in cells of {:e}", near, far, size);
        }
    }

    /// The same near the largest number of cells that is counted.
    #[test]
    fn cells_far_from_zero_are_no_wider(size in 1e-6..10.0_f64, number in 30.0..40.0_f64, cells in 1.0..1.5_f64) {
        let grid = Grid::from_sizes(vec![CellSize::Size(size)]);
        let near = number.exp2() * size;
        for far in [near + cells * size, near - cells * size] {
            if (far - near).abs() > size * CELL_SLACK {
                prop_assert_ne!(key(&grid, near), key(&grid, far), "{:e} and {:e} in cells of {:e}", near, far, size);
                prop_assert_ne!(key(&grid, -near), key(&grid, -far));
            }
        }
    }

    /// Where cells can be counted, neighbours within a cell still merge.
    #[test]
    fn values_near_the_middle_of_a_cell_merge(number in -1e6..1e6_f64, size in 1e-3..10.0_f64, off in -0.4..0.4_f64) {
        let grid = Grid::from_sizes(vec![CellSize::Size(size)]);
        let middle = number.round() * size;
        prop_assert_eq!(key(&grid, middle), key(&grid, middle + off * size));
    }
}
