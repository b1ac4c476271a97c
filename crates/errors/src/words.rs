//! Numbers as people read them in the names of modes.

/// At most four decimals, none that say nothing.
pub(crate) fn number(value: f64) -> String {
    format!("{}", (value * 1e4).round() / 1e4 + 0.0)
}
/// `0.1 m`.
pub(crate) fn metres(value_m: f64) -> String {
    format!("{} m", number(value_m))
}
/// `2°`.
pub(crate) fn degrees(value_rad: f64) -> String {
    format!("{}°", number(value_rad * (180.0 / std::f64::consts::PI)))
}
/// `0.5 s`.
pub(crate) fn seconds(ticks: u16, tick_s: f64) -> String {
    format!("{} s", number(f64::from(ticks) * tick_s))
}
/// `left 2°` or `right 2°`.
pub(crate) fn turned(value_rad: f64) -> String {
    let side = if value_rad < 0.0 { "right" } else { "left" };
    format!("{side} {}", degrees(value_rad.abs()))
}
