//! CPU time of this process, and medians.

/// CPU seconds used by all threads of this process so far.
pub(crate) fn cpu_s() -> f64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a local of the right type.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut t) };
    t.tv_sec as f64 + t.tv_nsec as f64 * 1e-9
}

/// Median CPU seconds of `repeats` runs, after one that is not counted.
pub(crate) fn median_cpu_s(repeats: usize, mut work: impl FnMut()) -> f64 {
    work();
    let mut times: Vec<f64> = (0..repeats)
        .map(|_| {
            let before = cpu_s();
            work();
            cpu_s() - before
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
