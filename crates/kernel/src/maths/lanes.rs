//! Several numbers side by side: portable arrays, pairs of anything, and AVX2 registers.

use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

use super::real::{Mask, Real};

/// `N` numbers in an array: portable, and the reference for the others.
#[derive(Clone, Copy, Debug)]
pub struct Lanes<const N: usize>(pub [f64; N]);

/// `N` answers.
#[derive(Clone, Copy, Debug)]
pub struct LanesMask<const N: usize>([bool; N]);

macro_rules! array_operator {
    ($trait:ident, $method:ident, $operator:tt) => {
        impl<const N: usize> $trait for Lanes<N> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(std::array::from_fn(|i| self.0[i] $operator other.0[i]))
            }
        }
        impl<R: Real> $trait for Two<R> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(self.0 $operator other.0, self.1 $operator other.1)
            }
        }
    };
}
array_operator!(Add, add, +);
array_operator!(Sub, sub, -);
array_operator!(Mul, mul, *);
array_operator!(Div, div, /);

impl<const N: usize> Neg for Lanes<N> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(self.0.map(|x| -x))
    }
}

macro_rules! mask_operator {
    ($trait:ident, $method:ident, $operator:tt) => {
        impl<const N: usize> $trait for LanesMask<N> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(std::array::from_fn(|i| self.0[i] $operator other.0[i]))
            }
        }
        impl<M: Mask> $trait for TwoMask<M> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(self.0 $operator other.0, self.1 $operator other.1)
            }
        }
    };
}
mask_operator!(BitAnd, bitand, &);
mask_operator!(BitOr, bitor, |);

impl<const N: usize> Not for LanesMask<N> {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        Self(self.0.map(|x| !x))
    }
}

impl<const N: usize> Mask for LanesMask<N> {
    const LANES: usize = N;

    #[inline(always)]
    fn all_lanes(value: bool) -> Self {
        Self([value; N])
    }
    #[inline(always)]
    fn any(self) -> bool {
        self.0.into_iter().any(|x| x)
    }
    #[inline(always)]
    fn lane(self, lane: usize) -> bool {
        self.0[lane]
    }
}

impl<const N: usize> Real for Lanes<N> {
    type Mask = LanesMask<N>;
    const LANES: usize = N;

    #[inline(always)]
    fn splat(value: f64) -> Self {
        Self([value; N])
    }
    #[inline(always)]
    fn from_lanes(lane: impl Fn(usize) -> f64) -> Self {
        Self(std::array::from_fn(lane))
    }
    #[inline(always)]
    fn lane(self, lane: usize) -> f64 {
        self.0[lane]
    }
    #[inline(always)]
    fn lt(self, other: Self) -> LanesMask<N> {
        LanesMask(std::array::from_fn(|i| self.0[i] < other.0[i]))
    }
    #[inline(always)]
    fn le(self, other: Self) -> LanesMask<N> {
        LanesMask(std::array::from_fn(|i| self.0[i] <= other.0[i]))
    }
    #[inline(always)]
    fn select(mask: LanesMask<N>, yes: Self, no: Self) -> Self {
        Self(std::array::from_fn(|i| if mask.0[i] { yes.0[i] } else { no.0[i] }))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(self.0.map(f64::sqrt))
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Self(self.0.map(f64::abs))
    }
    #[inline(always)]
    fn floor(self) -> Self {
        Self(self.0.map(f64::floor))
    }
}

/// Twice as many lanes: two independent chains of operations hide each other's latency.
#[derive(Clone, Copy, Debug)]
pub struct Two<R>(pub R, pub R);

/// Answers of both halves.
#[derive(Clone, Copy, Debug)]
pub struct TwoMask<M>(M, M);

impl<R: Real> Neg for Two<R> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(-self.0, -self.1)
    }
}
impl<M: Mask> Not for TwoMask<M> {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        Self(!self.0, !self.1)
    }
}
impl<M: Mask> Mask for TwoMask<M> {
    const LANES: usize = 2 * M::LANES;

    #[inline(always)]
    fn all_lanes(value: bool) -> Self {
        Self(M::all_lanes(value), M::all_lanes(value))
    }
    #[inline(always)]
    fn any(self) -> bool {
        (self.0 | self.1).any()
    }
    #[inline(always)]
    fn lane(self, lane: usize) -> bool {
        if lane < M::LANES { self.0.lane(lane) } else { self.1.lane(lane - M::LANES) }
    }
}
impl<R: Real> Real for Two<R> {
    type Mask = TwoMask<R::Mask>;
    const LANES: usize = 2 * R::LANES;

    #[inline(always)]
    fn splat(value: f64) -> Self {
        Self(R::splat(value), R::splat(value))
    }
    #[inline(always)]
    fn from_lanes(lane: impl Fn(usize) -> f64) -> Self {
        Self(R::from_lanes(&lane), R::from_lanes(|i| lane(i + R::LANES)))
    }
    #[inline(always)]
    fn lane(self, lane: usize) -> f64 {
        if lane < R::LANES { self.0.lane(lane) } else { self.1.lane(lane - R::LANES) }
    }
    #[inline(always)]
    fn lt(self, other: Self) -> Self::Mask {
        TwoMask(self.0.lt(other.0), self.1.lt(other.1))
    }
    #[inline(always)]
    fn le(self, other: Self) -> Self::Mask {
        TwoMask(self.0.le(other.0), self.1.le(other.1))
    }
    #[inline(always)]
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self {
        Self(R::select(mask.0, yes.0, no.0), R::select(mask.1, yes.1, no.1))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(self.0.sqrt(), self.1.sqrt())
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Self(self.0.abs(), self.1.abs())
    }
    #[inline(always)]
    fn floor(self) -> Self {
        Self(self.0.floor(), self.1.floor())
    }
}

/// AVX2 registers. Values of this type may only be used inside functions compiled with
/// `#[target_feature(enable = "avx2")]` and entered after a run-time check.
#[cfg(target_arch = "x86_64")]
pub mod x86 {
    use std::arch::x86_64::{
        __m256d, _CMP_LE_OQ, _CMP_LT_OQ, _mm256_add_pd, _mm256_and_pd, _mm256_andnot_pd, _mm256_blendv_pd,
        _mm256_cmp_pd, _mm256_div_pd, _mm256_floor_pd, _mm256_movemask_pd, _mm256_mul_pd, _mm256_or_pd, _mm256_set1_pd,
        _mm256_setr_pd, _mm256_sqrt_pd, _mm256_sub_pd, _mm256_xor_pd,
    };

    use super::{Add, BitAnd, BitOr, Div, Mask, Mul, Neg, Not, Real, Sub};

    /// Four `f64` in one register.
    #[derive(Clone, Copy, Debug)]
    pub struct Avx2(__m256d);

    /// Four answers: all bits of a lane set, or none.
    #[derive(Clone, Copy, Debug)]
    pub struct Avx2Mask(__m256d);

    macro_rules! register_operator {
        ($type:ident, $trait:ident, $method:ident, $intrinsic:ident) => {
            impl $trait for $type {
                type Output = Self;
                #[inline(always)]
                fn $method(self, other: Self) -> Self {
                    // SAFETY: values of this type exist only where AVX2 was detected (see the module).
                    Self(unsafe { $intrinsic(self.0, other.0) })
                }
            }
        };
    }
    register_operator!(Avx2, Add, add, _mm256_add_pd);
    register_operator!(Avx2, Sub, sub, _mm256_sub_pd);
    register_operator!(Avx2, Mul, mul, _mm256_mul_pd);
    register_operator!(Avx2, Div, div, _mm256_div_pd);
    register_operator!(Avx2Mask, BitAnd, bitand, _mm256_and_pd);
    register_operator!(Avx2Mask, BitOr, bitor, _mm256_or_pd);

    impl Neg for Avx2 {
        type Output = Self;
        #[inline(always)]
        fn neg(self) -> Self {
            // SAFETY: as above.
            Self(unsafe { _mm256_xor_pd(self.0, _mm256_set1_pd(-0.0)) })
        }
    }
    impl Not for Avx2Mask {
        type Output = Self;
        #[inline(always)]
        fn not(self) -> Self {
            // SAFETY: as above.
            Self(unsafe { _mm256_xor_pd(self.0, _mm256_set1_pd(f64::from_bits(u64::MAX))) })
        }
    }
    impl Mask for Avx2Mask {
        const LANES: usize = 4;

        #[inline(always)]
        fn all_lanes(value: bool) -> Self {
            // SAFETY: as above.
            Self(unsafe { _mm256_set1_pd(f64::from_bits(if value { u64::MAX } else { 0 })) })
        }
        #[inline(always)]
        fn any(self) -> bool {
            // SAFETY: as above.
            unsafe { _mm256_movemask_pd(self.0) != 0 }
        }
        #[inline(always)]
        fn lane(self, lane: usize) -> bool {
            // SAFETY: as above.
            unsafe { _mm256_movemask_pd(self.0) >> lane & 1 == 1 }
        }
    }
    impl Real for Avx2 {
        type Mask = Avx2Mask;
        const LANES: usize = 4;

        #[inline(always)]
        fn splat(value: f64) -> Self {
            // SAFETY: as above.
            Self(unsafe { _mm256_set1_pd(value) })
        }
        #[inline(always)]
        fn from_lanes(lane: impl Fn(usize) -> f64) -> Self {
            // SAFETY: as above.
            Self(unsafe { _mm256_setr_pd(lane(0), lane(1), lane(2), lane(3)) })
        }
        #[inline(always)]
        fn lane(self, lane: usize) -> f64 {
            // SAFETY: a register and an array of four `f64` have the same size and any bits are a number.
            let lanes: [f64; 4] = unsafe { std::mem::transmute(self.0) };
            lanes[lane]
        }
        #[inline(always)]
        fn lt(self, other: Self) -> Avx2Mask {
            // SAFETY: as above.
            Avx2Mask(unsafe { _mm256_cmp_pd::<_CMP_LT_OQ>(self.0, other.0) })
        }
        #[inline(always)]
        fn le(self, other: Self) -> Avx2Mask {
            // SAFETY: as above.
            Avx2Mask(unsafe { _mm256_cmp_pd::<_CMP_LE_OQ>(self.0, other.0) })
        }
        #[inline(always)]
        fn select(mask: Avx2Mask, yes: Self, no: Self) -> Self {
            // SAFETY: as above.
            Self(unsafe { _mm256_blendv_pd(no.0, yes.0, mask.0) })
        }
        #[inline(always)]
        fn sqrt(self) -> Self {
            // SAFETY: as above.
            Self(unsafe { _mm256_sqrt_pd(self.0) })
        }
        #[inline(always)]
        fn abs(self) -> Self {
            // SAFETY: as above.
            Self(unsafe { _mm256_andnot_pd(_mm256_set1_pd(-0.0), self.0) })
        }
        #[inline(always)]
        fn floor(self) -> Self {
            // SAFETY: as above.
            Self(unsafe { _mm256_floor_pd(self.0) })
        }
    }
}
