//! Trigonometry over [`Real`].

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

use super::real::Real;

/// π/2 in three parts whose products with whole numbers below 2²⁰ are exact (Cody and Waite; the split is fdlibm's).
const HALF_PI: [f64; 3] = [1.570_796_326_734_125_6, 6.077_100_506_303_966e-11, 2.022_266_248_795_950_6e-21];
/// Adding and subtracting 1.5 · 2⁵² rounds to the nearest whole number.
const ROUND: f64 = 6_755_399_441_055_744.0;
/// Minimax coefficients of sin(r)/r and cos(r) on ±π/4 (fdlibm's, error below 2⁻⁵⁸).
const SIN: [f64; 6] = [
    1.589_690_995_211_55e-10,
    -2.505_076_025_340_686_3e-8,
    2.755_731_370_707_006_8e-6,
    -1.984_126_982_985_795e-4,
    8.333_333_333_322_49e-3,
    -1.666_666_666_666_663_2e-1,
];
const COS: [f64; 6] = [
    -1.135_964_755_778_819_5e-11,
    2.087_572_321_298_175e-9,
    -2.755_731_435_139_066_3e-7,
    2.480_158_728_947_673e-5,
    -1.388_888_888_887_411e-3,
    4.166_666_666_666_66e-2,
];
/// Rational approximation of atan on ±0.66 (Cephes).
const ATAN_P: [f64; 5] = [
    -8.750_608_600_031_904e-1,
    -1.615_753_718_733_365e1,
    -7.500_855_792_314_705e1,
    -1.228_866_684_490_136_1e2,
    -6.485_021_904_942_025e1,
];
const ATAN_Q: [f64; 6] = [
    1.0,
    2.485_846_490_142_306_4e1,
    1.650_270_098_316_988_5e2,
    4.328_810_604_912_903e2,
    4.853_903_996_359_137e2,
    1.945_506_571_482_614e2,
];
/// tan(3π/8): beyond it atan(x) = π/2 − atan(1/x).
const TAN_3_PI_8: f64 = 2.414_213_562_373_095;
/// What π/2 misses of the true value.
const HALF_PI_REST: f64 = 6.123_233_995_736_766e-17;

#[inline(always)]
fn horner<R: Real>(coefficients: &[f64], z: R) -> R {
    let mut sum = R::splat(coefficients[0]);
    for &c in &coefficients[1..] {
        sum = sum * z + R::splat(c);
    }
    sum
}

/// Sine and cosine of an angle in radians, within 1 ulp of 1 for |angle| ≤ 10⁵.
#[inline(always)]
pub fn sin_cos<R: Real>(angle: R) -> (R, R) {
    angle.sine_cosine()
}

#[inline(always)]
pub(super) fn sin_cos_by_series<R: Real>(angle: R) -> (R, R) {
    let k = (angle * R::splat(1.0 / FRAC_PI_2) + R::splat(ROUND)) - R::splat(ROUND);
    let r = ((angle - k * R::splat(HALF_PI[0])) - k * R::splat(HALF_PI[1])) - k * R::splat(HALF_PI[2]);
    let z = r * r;
    let sine = r + r * z * horner(&SIN, z);
    let cosine = (R::splat(1.0) - R::splat(0.5) * z) + z * z * horner(&COS, z);
    let quadrant = k - R::splat(4.0) * (k * R::splat(0.25)).floor();
    let (one, two) = (R::splat(1.0), R::splat(2.0));
    let odd = (one.le(quadrant) & quadrant.le(one)) | two.lt(quadrant);
    let (s, c) = (R::select(odd, cosine, sine), R::select(odd, sine, cosine));
    let negative_sine = two.le(quadrant);
    let negative_cosine = one.le(quadrant) & quadrant.le(two);
    (R::select(negative_sine, -s, s), R::select(negative_cosine, -c, c))
}

/// Tangent of an angle in radians.
#[inline(always)]
pub fn tan<R: Real>(angle: R) -> R {
    angle.tangent()
}

/// Arc tangent, in radians.
#[inline(always)]
pub fn atan<R: Real>(x: R) -> R {
    x.arc_tangent()
}

#[inline(always)]
pub(super) fn atan_by_fraction<R: Real>(x: R) -> R {
    let a = x.abs();
    let one = R::splat(1.0);
    let far = R::splat(TAN_3_PI_8).lt(a);
    let middle = R::splat(0.66).lt(a);
    let num = R::select(far, -one, R::select(middle, a - one, a));
    let den = R::select(far, a, R::select(middle, a + one, one));
    let base = R::select(far, R::splat(FRAC_PI_2), R::select(middle, R::splat(FRAC_PI_4), R::splat(0.0)));
    let rest = R::select(far, R::splat(HALF_PI_REST), R::select(middle, R::splat(0.5 * HALF_PI_REST), R::splat(0.0)));
    let u = num / den;
    let z = u * u;
    let poly = u * (z * horner(&ATAN_P, z) / horner(&ATAN_Q, z)) + u;
    (base + (poly + rest)) * x.sign()
}

/// Angle of the vector (x, y), in (−π, π]; 0 for the zero vector.
#[inline(always)]
pub fn atan2<R: Real>(y: R, x: R) -> R {
    let zero = R::splat(0.0);
    let (ax, ay) = (x.abs(), y.abs());
    let steep = ax.lt(ay);
    let (num, den) = (R::select(steep, ax, ay), R::select(steep, ay, ax));
    let nothing = den.le(zero);
    let ratio = num / R::select(nothing, R::splat(1.0), den);
    let first = atan(ratio);
    let octant = R::select(steep, R::splat(FRAC_PI_2) - first, first);
    let half = R::select(x.lt(zero), R::splat(PI) - octant, octant);
    R::select(y.lt(zero), -half, half)
}

/// The same direction in [−π, π].
#[inline(always)]
pub fn wrap_angle<R: Real>(angle: R) -> R {
    angle.wrapped()
}

#[inline(always)]
pub(super) fn wrap_by_turns<R: Real>(angle: R) -> R {
    let turns = (angle * R::splat(0.5 / PI) + R::splat(ROUND)) - R::splat(ROUND);
    angle - turns * R::splat(2.0 * PI)
}

#[cfg(test)]
mod tests {
    use super::super::{Lanes, Two};
    use super::*;

    #[expect(clippy::disallowed_methods, reason = "std's functions are the reference here")]
    #[test]
    fn functions_agree_with_the_standard_library() {
        for i in -200_000..200_000_i32 {
            let x = f64::from(i) * 1e-3;
            let (s, c) = sin_cos(x);
            assert!((s - x.sin()).abs() < 3e-16 && (c - x.cos()).abs() < 3e-16, "{x}: {s} {c}");
            assert!((atan(x) - x.atan()).abs() < 5e-16, "{x}");
            let y = f64::from(i % 777) * 0.01 - 3.0;
            assert!((atan2(y, x) - y.atan2(x)).abs() < 1e-15, "{y} {x}");
            assert!((wrap_angle(x).sin() - x.sin()).abs() < 1e-13);
            assert!(wrap_angle(x).abs() <= PI + 1e-12);
        }
        assert_eq!(atan2(0.0, 0.0), 0.0);
    }

    #[test]
    fn side_by_side_equals_one_by_one() {
        for i in 0..50_000 {
            let x = |lane: usize| f64::from(i) * 0.37e-3 * (lane as f64 - 3.3);
            let lanes = Two::<Lanes<4>>::from_lanes(x);
            let (s, c) = sin_cos(lanes);
            let (a, a2) = (atan(lanes), atan2(lanes, s));
            for lane in 0..8 {
                let (sx, cx) = sin_cos(x(lane));
                assert_eq!((s.lane(lane).to_bits(), c.lane(lane).to_bits()), (sx.to_bits(), cx.to_bits()));
                assert_eq!(a.lane(lane).to_bits(), atan(x(lane)).to_bits());
                assert_eq!(a2.lane(lane).to_bits(), atan2(x(lane), sx).to_bits());
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn avx2_equals_one_by_one() {
        use super::super::Avx2;
        /// # Safety
        /// AVX2 must be there.
        #[target_feature(enable = "avx2")]
        unsafe fn wide(x: [f64; 4]) -> [[f64; 4]; 4] {
            let lanes = Avx2::from_lanes(|i| x[i]);
            let (s, c) = sin_cos(lanes);
            let (a, w) = (atan2(s, lanes), wrap_angle(lanes).clamp(Avx2::splat(-3.0), Avx2::splat(2.5)));
            [s, c, a, w].map(|v| std::array::from_fn(|i| v.lane(i)))
        }
        if !is_x86_feature_detected!("avx2") {
            return;
        }
        for i in 0..50_000 {
            let x: [f64; 4] = std::array::from_fn(|lane| f64::from(i) * 0.7e-3 * (lane as f64 - 1.3));
            // SAFETY: the feature was detected above.
            let wide = unsafe { wide(x) };
            for lane in 0..4 {
                let (s, c) = sin_cos(x[lane]);
                let one = [s, c, atan2(s, x[lane]), Real::clamp(wrap_angle(x[lane]), -3.0, 2.5)];
                for (w, o) in wide.iter().zip(one) {
                    assert_eq!(w[lane].to_bits(), o.to_bits());
                }
            }
        }
    }
}
