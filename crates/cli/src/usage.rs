//! What the process has used, as the operating system counts it.

use std::time::Instant;

use anabranch_explore::Clock;

/// CPU time and memory of this process.
pub trait Usage {
    /// CPU seconds of all threads; `None` where the system does not say.
    fn cpu_s(&self) -> Option<f64>;
    /// Largest resident memory; `None` where the system does not say.
    fn peak_rss_bytes(&self) -> Option<u64>;
}

/// This operating system.
#[derive(Clone, Copy, Debug)]
pub struct ThisSystem;

#[cfg(unix)]
impl Usage for ThisSystem {
    fn cpu_s(&self) -> Option<f64> {
        let usage = nix::sys::resource::getrusage(nix::sys::resource::UsageWho::RUSAGE_SELF).ok()?;
        let seconds = |t: nix::sys::time::TimeVal| t.tv_sec() as f64 + 1e-6 * t.tv_usec() as f64;
        Some(seconds(usage.user_time()) + seconds(usage.system_time()))
    }
    fn peak_rss_bytes(&self) -> Option<u64> {
        let usage = nix::sys::resource::getrusage(nix::sys::resource::UsageWho::RUSAGE_SELF).ok()?;
        // Kilobytes everywhere but on Apple's systems.
        let unit = if cfg!(target_vendor = "apple") { 1 } else { 1024 };
        u64::try_from(usage.max_rss()).ok().map(|value| value * unit)
    }
}

#[cfg(not(unix))]
impl Usage for ThisSystem {
    fn cpu_s(&self) -> Option<f64> {
        None
    }
    fn peak_rss_bytes(&self) -> Option<u64> {
        None
    }
}

/// The clock on the wall; results never depend on it.
#[derive(Clone, Copy, Debug)]
pub struct WallClock(Instant);

impl WallClock {
    /// A clock that begins now.
    #[expect(clippy::disallowed_methods, reason = "the edge: budgets, profiles and progress need a clock")]
    pub fn start() -> Self {
        Self(Instant::now())
    }
    /// Seconds since it began.
    pub fn seconds(&self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}

impl Clock for WallClock {
    fn now_ns(&self) -> u64 {
        u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
    fn resident_bytes(&self) -> Option<u64> {
        resident_bytes()
    }
}

/// Memory that this process holds now.
fn resident_bytes() -> Option<u64> {
    kilobytes("/proc/self/status", "VmRSS:").map(|held| held * 1024)
}

/// Half of the memory of this machine: what an exploration may use unless somebody says otherwise.
pub fn usual_memory_bytes() -> Option<u64> {
    kilobytes("/proc/meminfo", "MemTotal:").map(|all| all * 1024 / 2)
}

/// A number of Linux's lists of memory; nothing where there are no such lists.
fn kilobytes(list: &str, key: &str) -> Option<u64> {
    let list = std::fs::read_to_string(list).ok()?;
    let line = list.lines().find_map(|line| line.strip_prefix(key))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}
