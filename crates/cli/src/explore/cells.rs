//! When states count as alike, in one sentence.

/// Variables compared exactly that are named; of more of them only the number is told.
const EXACT_MAX: usize = 4;
/// Sizes that are all told; of more of them only those of the car itself.
const SIZES_MAX: usize = 8;

/// Sizes first, then what must be equal: `within x 0.1 m, y 0.1 m and 12 more sizes of traffic and track; exactly: 37 others
/// (named in result.json and in the report)`. Variables that differ by a number only and have one size are named once.
pub fn sentence(cells: &[String]) -> String {
    let (mut sizes, mut exact) = (Vec::<String>::new(), Vec::new());
    for cell in cells {
        match cell.strip_suffix(" exact") {
            Some(name) => exact.push(name),
            None => {
                let family = family(cell);
                if !sizes.contains(&family) {
                    sizes.push(family);
                }
            }
        }
    }
    let within = if sizes.is_empty() { String::new() } else { format!("within {}", within(&sizes)) };
    let exactly = match exact.len() {
        0 => String::new(),
        1..=EXACT_MAX => format!("exactly: {}", exact.join(", ")),
        count if sizes.is_empty() => format!("exactly: all {count} variables (named in result.json and in the report)"),
        count => format!("exactly: {count} others (named in result.json and in the report)"),
    };
    let parts: Vec<String> = [within, exactly].into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("; ")
}

/// The sizes, or those of the car itself and of which parts there are more.
fn within(sizes: &[String]) -> String {
    if sizes.len() <= SIZES_MAX {
        return sizes.join(", ");
    }
    let part_of = |size: &str| {
        let name = size.split(' ').next().unwrap_or_default();
        name.split_once(['.', '_']).map(|(part, _)| part.to_owned())
    };
    let own: Vec<&str> =
        sizes.iter().map(String::as_str).filter(|size| part_of(size).is_none()).take(SIZES_MAX).collect();
    let mut parts: Vec<String> = Vec::new();
    for part in sizes.iter().filter_map(|size| part_of(size)) {
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    let of = match parts.split_last() {
        None => String::new(),
        Some((last, [])) => format!(" of {last}"),
        Some((last, others)) => format!(" of {} and {last}", others.join(", ")),
    };
    let more = format!("{} more sizes{of}", sizes.len() - own.len());
    if own.is_empty() { format!("the {} sizes{of}", sizes.len()) } else { format!("{} and {more}", own.join(", ")) }
}

/// A cell whose variable has its numbers replaced by `*`: `other.*.speed 0.5 m/s`.
fn family(cell: &str) -> String {
    let Some((name, size)) = cell.split_once(' ') else { return cell.to_owned() };
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let parts: Vec<&str> = name.split('.').map(|part| if is_number(part) { "*" } else { part }).collect();
    format!("{} {size}", parts.join(".")).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(cells: &[&str], expect: &str) {
        let cells: Vec<String> = cells.iter().map(|cell| (*cell).to_owned()).collect();
        assert_eq!(sentence(&cells), expect);
    }

    #[test]
    fn sizes_come_first_and_a_few_exact_ones_are_named() {
        check(&["x 0.1 m", "gear exact", "y 0.1 m"], "within x 0.1 m, y 0.1 m; exactly: gear");
        check(&["x 0.1 m"], "within x 0.1 m");
        check(&["gear exact"], "exactly: gear");
    }

    #[test]
    fn many_exact_ones_are_counted() {
        let mut cells = vec!["x 0.1 m".to_owned()];
        cells.extend((0..32).map(|number| format!("sensor.in_sight.{number} exact")));
        assert_eq!(sentence(&cells), "within x 0.1 m; exactly: 32 others (named in result.json and in the report)");
        let all = "exactly: all 32 variables (named in result.json and in the report)";
        assert_eq!(sentence(&cells[1..]), all);
    }

    #[test]
    fn of_many_sizes_those_of_the_car_are_told() {
        let cells = [
            "x 0.1 m",
            "y 0.1 m",
            "driver_bend 0.005 1/m",
            "driver_slope 0.02 ",
            "traffic.station 0.5 m",
            "traffic.speed 0.25 m/s",
            "track.x 0.2 m",
            "track.y 0.2 m",
            "gear exact",
            "track.width 0.2 m",
        ];
        check(&cells, "within x 0.1 m, y 0.1 m and 7 more sizes of driver, traffic and track; exactly: gear");
        let cells: Vec<String> = cells.iter().skip(2).chain(&["a.b 1 m", "a.c 1 m"]).map(|c| (*c).to_owned()).collect();
        assert_eq!(sentence(&cells), "within the 9 sizes of driver, traffic, track and a; exactly: gear");
    }

    #[test]
    fn a_number_without_unit_has_none() {
        check(&["slope 0.02 ", "gear exact"], "within slope 0.02; exactly: gear");
    }

    #[test]
    fn variables_that_differ_by_a_number_are_named_once() {
        let cells = ["other.0.speed 0.5 m/s", "other.1.speed 0.5 m/s", "other.2.speed 1 m/s", "x2 0.1 m"];
        check(&cells, "within other.*.speed 0.5 m/s, other.*.speed 1 m/s, x2 0.1 m");
    }
}
