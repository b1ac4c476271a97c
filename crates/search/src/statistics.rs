//! Exact statements about shares: how often chance alone would do as well.

use anabranch_kernel::maths;

/// Exact interval (Clopper and Pearson) for a share of `hits` in `n` trials that covers with probability at least
/// 1 − `alpha`.
pub fn share_interval(hits: u64, n: u64, alpha: f64) -> (f64, f64) {
    if n == 0 {
        return (0.0, 1.0);
    }
    let hits = hits.min(n);
    let low = if hits == 0 { 0.0 } else { solve(|p| at_least(hits, n, p) < alpha / 2.0) };
    let high = if hits == n { 1.0 } else { solve(|p| at_least(n - hits, n, 1.0 - p) > alpha / 2.0) };
    (low, high)
}

/// The p in [0, 1] up to which `below` holds.
fn solve(below: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if below(middle) { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

fn ln_choose(n: u64, k: u64) -> f64 {
    let (n, k) = (n as f64, k as f64);
    maths::ln_gamma(n + 1.0) - maths::ln_gamma(k + 1.0) - maths::ln_gamma(n - k + 1.0)
}

/// Probability of at least `hits` successes in `n` trials of probability `p`.
fn at_least(hits: u64, n: u64, p: f64) -> f64 {
    if p <= 0.0 {
        return if hits == 0 { 1.0 } else { 0.0 };
    }
    if p >= 1.0 {
        return 1.0;
    }
    let term = |k: u64| maths::exp(ln_choose(n, k) + k as f64 * maths::ln(p) + (n - k) as f64 * maths::ln(1.0 - p));
    if hits <= n / 2 { 1.0 - (0..hits).map(term).sum::<f64>() } else { (hits..=n).map(term).sum() }
}

/// Fisher's exact test, one-sided: the probability that chance alone gives the first group at least so many of the
/// successes, if both groups were alike.
pub fn fisher(hits_a: u64, n_a: u64, hits_b: u64, n_b: u64) -> f64 {
    let (hits, n) = (hits_a + hits_b, n_a + n_b);
    let term = |k: u64| maths::exp(ln_choose(n_a, k) + ln_choose(n_b, hits - k) - ln_choose(n, hits));
    let most = hits.min(n_a);
    let from = hits_a.max(hits.saturating_sub(n_b));
    (from..=most).map(term).sum::<f64>().min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_agree_with_published_tables() {
        for (hits, n, low, high) in
            [(0, 10, 0.0, 0.3085), (5, 10, 0.1871, 0.8129), (10, 10, 0.6915, 1.0), (95, 100, 0.8872, 0.9836)]
        {
            let (l, h) = share_interval(hits, n, 0.05);
            assert!((l - low).abs() < 1e-4 && (h - high).abs() < 1e-4, "{hits}/{n}: {l} {h}");
        }
        assert_eq!(share_interval(0, 0, 0.05), (0.0, 1.0));
    }

    #[test]
    fn fishers_test_on_the_lady_tasting_tea() {
        // All four of four right: 1/70; three or more: 17/70.
        assert!((fisher(4, 4, 0, 4) - 1.0 / 70.0).abs() < 1e-9);
        assert!((fisher(3, 4, 1, 4) - 17.0 / 70.0).abs() < 1e-9);
        assert!((fisher(0, 4, 4, 4) - 1.0).abs() < 1e-9);
    }
}
