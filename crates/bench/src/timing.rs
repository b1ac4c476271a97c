//! CPU time of this process, and medians.

use anabranch_explore::Clock;

/// CPU seconds used by all threads of this process so far.
pub(crate) fn cpu_s() -> f64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a local of the right type.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut t) };
    t.tv_sec as f64 + t.tv_nsec as f64 * 1e-9
}

/// Wall-clock seconds since some moment.
#[expect(clippy::disallowed_methods, reason = "a bench measures time")]
pub(crate) fn wall_s() -> f64 {
    use std::sync::OnceLock;
    use std::time::Instant;
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64()
}

/// The wall clock for profiles.
pub(crate) struct WallClock;

impl Clock for WallClock {
    fn now_ns(&self) -> u64 {
        (wall_s() * 1e9) as u64
    }
}

/// Median CPU seconds of each of several kinds of work. They take turns, so that a busy neighbour disturbs all alike.
pub(crate) fn medians_cpu_s<const N: usize>(repeats: usize, mut work: [&mut dyn FnMut(); N]) -> [f64; N] {
    let mut times: [Vec<f64>; N] = std::array::from_fn(|_| Vec::new());
    for repeat in 0..=repeats {
        for (work, times) in work.iter_mut().zip(&mut times) {
            let before = cpu_s();
            work();
            if repeat > 0 {
                times.push(cpu_s() - before);
            }
        }
    }
    times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    })
}
