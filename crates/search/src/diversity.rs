//! Several different accidents, not one accident several times.

use serde::{Deserialize, Serialize};

use crate::report::{Accident, Evaluation};
use crate::space::{Kind, Layout};

/// By what accidents are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum By {
    /// By their parameters: root mean square of the differences in the unit cube.
    Parameters,
    /// By the signature that the objective gives them: plain distance.
    Signature,
}

/// How far apart two evaluations are.
pub fn distance(by: By, layout: &Layout, a: &Evaluation, b: &Evaluation) -> f64 {
    if let (By::Signature, Ok(x), Ok(y)) = (by, &a.result, &b.result)
        && !x.signature.is_empty()
        && x.signature.len() == y.signature.len()
    {
        let parts = x.signature.iter().zip(&y.signature).map(|(p, q)| (p - q) * (p - q));
        return parts.sum::<f64>().sqrt();
    }
    let parts = layout.kinds.iter().enumerate().map(|(n, kind)| match kind {
        Kind::OneOf(_) => f64::from(u8::from(a.values[n] != b.values[n])),
        _ => (a.unit[n] - b.unit[n]) * (a.unit[n] - b.unit[n]),
    });
    (parts.sum::<f64>() / layout.len() as f64).sqrt()
}

/// Adds an evaluation that violates a requirement to the accidents. True if it is unlike all of them.
pub fn note(
    accidents: &mut Vec<Accident>,
    all: &[Evaluation],
    new: &Evaluation,
    alike: impl Fn(&Evaluation) -> bool,
) -> bool {
    let known = accidents.iter_mut().find(|accident| alike(&all[accident.first as usize]));
    let Some(known) = known else {
        accidents.push(Accident { first: new.number, worst: new.number, seen: 1 });
        return true;
    };
    known.seen += 1;
    if new.value() < all[known.worst as usize].value() {
        known.worst = new.number;
    }
    false
}
