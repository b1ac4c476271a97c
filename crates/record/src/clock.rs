//! Wall-clock time as people write it; the only place of this crate that looks at a clock.

use std::time::{SystemTime, UNIX_EPOCH};

/// The time now.
#[expect(
    clippy::disallowed_methods,
    reason = "run folders carry the time they were made; nothing computed depends on it"
)]
pub fn now() -> SystemTime {
    SystemTime::now()
}

/// `2026-11-15T19-02-20`: UTC, sortable, allowed in file names everywhere.
pub fn stamp(time: SystemTime) -> String {
    let [year, month, day, hour, minute, second] = civil(time);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}-{minute:02}-{second:02}")
}

/// `2026-11-15T19:02:20Z`, for JSON files.
pub fn rfc3339(time: SystemTime) -> String {
    let [year, month, day, hour, minute, second] = civil(time);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Year, month, day, hour, minute, second in UTC; times before 1970 are 1970.
fn civil(time: SystemTime) -> [u64; 6] {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    // Days to civil date by eras of 400 years that begin on 1 March (Hinnant, "chrono-compatible date algorithms").
    let days = seconds / 86_400 + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let of_day = seconds % 86_400;
    [year, month, day, of_day / 3_600, of_day / 60 % 60, of_day % 60]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn stamps_are_utc() {
        let check = |seconds, expect| assert_eq!(stamp(UNIX_EPOCH + Duration::from_secs(seconds)), expect);
        check(0, "1970-01-01T00-00-00");
        check(951_782_399, "2000-02-28T23-59-59");
        check(951_782_400, "2000-02-29T00-00-00");
        check(1_794_769_340, "2026-11-15T19-02-20");
        check(4_107_542_400, "2100-03-01T00-00-00");
    }
}
