//! The few sums of vectors that a projector takes.

/// A point or direction in space: east, north, up; metres.
pub type Vector = [f64; 3];

pub(super) fn minus(a: Vector, b: Vector) -> Vector {
    std::array::from_fn(|i| a[i] - b[i])
}

pub(super) fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(super) fn cross(a: Vector, b: Vector) -> Vector {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub(super) fn unit(a: Vector) -> Vector {
    let length = dot(a, a).sqrt().max(1e-9);
    a.map(|x| x / length)
}
