//! Large pieces of operations travel as frames of their own, for those who want it: they need not be copied into the message and
//! out of it again.

use serde_bytes::ByteBuf;

use crate::misbehaviour::{Kind, Misbehaviour};
use crate::protocol::{Card, Occupancy, Op};

/// Word in a card's `wants`.
pub(crate) const WORD: &str = "blobs";
/// Most frames beside a message; what is left stays inside. Kits read a thousand or so.
const BLOBS_MAX: usize = 1_000;

/// Whether somebody takes blobs.
pub(crate) fn wanted(card: &Card) -> bool {
    card.wants.iter().any(|word| word == WORD)
}

fn grid(op: &mut Op) -> Option<&mut Occupancy> {
    if let Op::Step { seen, .. } = op { seen.occupancy.as_deref_mut() } else { None }
}

/// The operations without their large pieces, and these; nothing if there are none.
pub(crate) fn apart(ops: &[Op]) -> Option<(Vec<Op>, Vec<ByteBuf>)> {
    let is_large = |op: &Op| matches!(op, Op::Step { seen, .. } if seen.occupancy.is_some());
    if !ops.iter().any(is_large) {
        return None;
    }
    let (mut rest, mut blobs) = (ops.to_vec(), Vec::new());
    for grid in rest.iter_mut().filter_map(grid).take(BLOBS_MAX) {
        grid.blob = Some(blobs.len() as u32);
        blobs.push(std::mem::take(&mut grid.cells));
    }
    Some((rest, blobs))
}

/// Puts large pieces back where they belong.
///
/// # Errors
/// [`Kind::Malformed`] for one that did not come.
pub(crate) fn together(ops: &mut [Op], blobs: &[Vec<u8>]) -> Result<(), Misbehaviour> {
    for grid in ops.iter_mut().filter_map(grid) {
        let Some(number) = grid.blob.take() else { continue };
        let cells = blobs.get(number as usize).ok_or_else(|| {
            let text = format!("`occupancy` is in frame {number} beside the message, which has {}", blobs.len());
            Misbehaviour::new(Kind::Malformed, text)
        })?;
        grid.cells = cells.clone().into();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Seen;

    fn step(cells: Option<&[u8]>) -> Op {
        let grid = |cells: &[u8]| Box::new(Occupancy { cells: cells.to_vec().into(), ..Occupancy::default() });
        Op::Step { branch: 0, seen: Box::new(Seen { occupancy: cells.map(grid), ..Seen::default() }) }
    }

    #[test]
    fn what_is_taken_apart_comes_together_again_and_what_is_missing_is_told() {
        assert!(apart(&[step(None), Op::Bye {}]).is_none());
        let ops = [step(Some(b"first")), step(None), step(Some(b"second"))];
        let (mut rest, blobs) = apart(&ops).expect("two grids");
        assert_eq!(blobs, [b"first".to_vec(), b"second".to_vec()]);
        assert_ne!(rest, ops);
        let blobs: Vec<Vec<u8>> = blobs.into_iter().map(ByteBuf::into_vec).collect();
        let mut lost = rest.clone();
        together(&mut rest, &blobs).expect("all came");
        assert_eq!(rest, ops);
        let wrong = together(&mut lost, &blobs[..1]).expect_err("one is missing");
        assert_eq!((wrong.kind, wrong.text.contains("frame 1")), (Kind::Malformed, true), "{wrong}");
    }
}
