//! Fair shares: what each player adds on average over all orders in which the players can join (Shapley 1953).

use std::collections::BTreeMap;

use anabranch_kernel::Chance;

/// Most players for which every coalition is valued: 2⁸ runs.
const EXACT_MAX: usize = 8;

/// What one player adds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// Mean of what it adds.
    pub value: f64,
    /// Standard error of the mean; 0 where it is exact.
    pub standard_error: f64,
}

/// How shares were computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// From every coalition.
    Exact {
        /// How many there are.
        coalitions: usize,
    },
    /// From random orders.
    Sampled {
        /// How many.
        permutations: u32,
    },
}

/// Who is in.
pub(super) type Coalition = Vec<bool>;

/// The share of every player. `value` is asked once for all coalitions that are needed.
pub(super) fn shapley<E>(
    players: usize,
    samples: u32,
    chance: Chance,
    value: impl FnOnce(&[Coalition]) -> Result<Vec<f64>, E>,
) -> Result<(Vec<Share>, Method), E> {
    if players <= EXACT_MAX {
        let coalitions: Vec<Coalition> =
            (0..1_usize << players).map(|set| (0..players).map(|player| set >> player & 1 == 1).collect()).collect();
        let values = value(&coalitions)?;
        let shares = (0..players).map(|player| exact(player, players, &values)).collect();
        return Ok((shares, Method::Exact { coalitions: coalitions.len() }));
    }
    let permutations = samples.max(2);
    let orders: Vec<Vec<usize>> = (0..permutations).map(|n| shuffled(players, chance.at(u64::from(n)))).collect();
    let mut numbers: BTreeMap<Coalition, usize> = BTreeMap::new();
    for order in &orders {
        for coalition in joining(order) {
            let next = numbers.len();
            numbers.entry(coalition).or_insert(next);
        }
    }
    let mut coalitions = vec![Coalition::new(); numbers.len()];
    numbers.iter().for_each(|(coalition, &number)| coalitions[number].clone_from(coalition));
    let values = value(&coalitions)?;
    let worth = |coalition: &Coalition| values[numbers[coalition]];
    let mut added = vec![Vec::with_capacity(orders.len()); players];
    for order in &orders {
        let grown: Vec<f64> = joining(order).map(|coalition| worth(&coalition)).collect();
        order.iter().zip(grown.windows(2)).for_each(|(&player, pair)| added[player].push(pair[1] - pair[0]));
    }
    Ok((added.iter().map(|added| mean(added)).collect(), Method::Sampled { permutations }))
}

/// The coalitions while players join one after another, from nobody to everybody.
fn joining(order: &[usize]) -> impl Iterator<Item = Coalition> + '_ {
    (0..=order.len()).map(|count| {
        let mut coalition = vec![false; order.len()];
        order[..count].iter().for_each(|&player| coalition[player] = true);
        coalition
    })
}

/// Σ |S|! (n − |S| − 1)! / n! · (v(S ∪ {i}) − v(S)) over the coalitions S without the player; bits of the index are
/// members.
fn exact(player: usize, players: usize, values: &[f64]) -> Share {
    let mut value = 0.0;
    for set in (0..values.len()).filter(|set| set >> player & 1 == 0) {
        let members = set.count_ones() as usize;
        // 1 / (n · C(n − 1, |S|)) is the same weight without factorials.
        let choose = (0..members).fold(1.0, |c, k| c * (players - 1 - k) as f64 / (k + 1) as f64);
        value += (values[set | 1 << player] - values[set]) / (players as f64 * choose);
    }
    Share { value, standard_error: 0.0 }
}

fn mean(added: &[f64]) -> Share {
    let n = added.len() as f64;
    let value = added.iter().sum::<f64>() / n;
    let variance = added.iter().map(|a| (a - value) * (a - value)).sum::<f64>() / (n - 1.0);
    Share { value, standard_error: (variance / n).sqrt() }
}

/// Fisher and Yates.
fn shuffled(players: usize, chance: Chance) -> Vec<usize> {
    let mut order: Vec<usize> = (0..players).collect();
    for last in (1..players).rev() {
        order.swap(last, chance.below(last as u64, last as u64 + 1) as usize);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_kernel::Seed;
    use std::convert::Infallible;

    fn shares(players: usize, samples: u32, value: impl Fn(&Coalition) -> f64) -> (Vec<Share>, Method) {
        let chance = Chance::new(Seed(1), "test");
        let all = |coalitions: &[Coalition]| Ok::<_, Infallible>(coalitions.iter().map(&value).collect());
        shapley(players, samples, chance, all).unwrap()
    }

    #[test]
    fn the_glove_game_has_its_published_shares() {
        // One left glove and two right ones: only a pair is worth something (4/6, 1/6, 1/6).
        let (shares, method) = shares(3, 0, |c| f64::from(u8::from(c[0] && (c[1] || c[2]))));
        let expected = [4.0 / 6.0, 1.0 / 6.0, 1.0 / 6.0];
        assert!(
            shares.iter().zip(expected).all(|(share, expected)| (share.value - expected).abs() < 1e-12),
            "{shares:?}"
        );
        assert_eq!(method, Method::Exact { coalitions: 8 });
    }

    #[test]
    fn sampled_shares_add_up_and_lie_within_their_errors() {
        // A weighted vote of twelve: player i has i votes, 40 of 66 win; compared with a larger sample.
        let wins = |c: &Coalition| f64::from(u8::from((0..12).filter(|&i| c[i]).sum::<usize>() >= 40));
        let (few, method) = shares(12, 400, wins);
        let (many, _) = shares(12, 40_000, wins);
        assert_eq!(method, Method::Sampled { permutations: 400 });
        assert!((few.iter().map(|share| share.value).sum::<f64>() - 1.0).abs() < 1e-9, "the shares are the whole");
        for (few, many) in few.iter().zip(&many) {
            assert!((few.value - many.value).abs() <= 4.0 * few.standard_error + 1e-9, "{few:?} {many:?}");
        }
        assert_eq!(few[0].value, 0.0, "nobody needs the player without a vote");
    }
}
