//! Logs of truth and estimate as MCAP files: numbers of JSON messages, by topic and field.

use anabranch_errors::fit::{Log, LogChannel};
use anabranch_import::mcap_log::{self, Series};
use anabranch_kernel::units::{Dimension, UNITS, Unit};

use super::log_file::{Column, ESTIMATE, Mistake, Pair, TRUTH, channel, column};

/// What a log looks like, for those whose log does not.
const HELP: &str = "a log has JSON messages on topics such as `/truth` and `/estimate`; other names with their units: \
                    --pair \"signals.ego.x [m]=gps.x [m]\"";

fn mistake(message: String) -> Mistake {
    Mistake { line: None, message, help: HELP }
}

/// Reads a log; `pairs` name series that are not called as usual, with units where the schemas have none.
pub(super) fn parse(bytes: &[u8], time: Option<&str>, pairs: &[String]) -> Result<Log, Mistake> {
    if let Some(time) = time {
        let message = format!("--time {time}: the time of an MCAP log is that at which messages were logged");
        return Err(mistake(message));
    }
    let all = mcap_log::series(bytes).map_err(|refused| mistake(refused.to_string()))?;
    let pairs = if pairs.is_empty() { usual_pairs(&all)? } else { named_pairs(&all, pairs)? };
    let mut channels = pairs.iter().map(channel).collect::<Result<Vec<LogChannel>, Mistake>>()?;
    let factor = |column: &Column| column.unit.map_or(1.0, |unit| unit.factor);
    let timed = |pair: &Pair| mcap_log::Pair {
        truth: &all[pair.truth.index],
        estimate: &all[pair.estimate.index],
        turn: is_angle(pair.truth.unit).then(|| std::f64::consts::TAU / factor(&pair.truth)),
    };
    let timed: Vec<mcap_log::Pair<'_>> = pairs.iter().map(timed).collect();
    let rows = mcap_log::rows(&timed).map_err(|refused| mistake(refused.to_string()))?;
    for ((pair, channel), (truth, estimate)) in
        pairs.iter().zip(&mut channels).zip(rows.truth.iter().zip(&rows.estimate))
    {
        channel.truth = truth.iter().map(|value| value * factor(&pair.truth)).collect();
        channel.estimate = estimate.iter().map(|value| value.map(|value| value * factor(&pair.estimate))).collect();
    }
    Ok(Log { time_s: rows.time_s, channels })
}

fn is_angle(unit: Option<&Unit>) -> bool {
    unit.is_some_and(|unit| unit.dimension == Dimension::Angle)
}

/// A series as a column; its unit may be said with its name instead of in the schema.
fn find(all: &[Series], wanted: &str) -> Result<Column, Mistake> {
    let wanted = column(0, wanted.trim());
    let index = all.iter().position(|series| series.name == wanted.name).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|series| series.name.as_str()).collect();
        mistake(format!("there is no number `{}`; there are {}", wanted.name, names.join(", ")))
    })?;
    let said = all[index].unit.as_deref().and_then(|said| UNITS.iter().find(|known| known.name == said));
    Ok(Column { index, name: wanted.name, unit: wanted.unit.or(said) })
}

fn usual_pairs(all: &[Series]) -> Result<Vec<Pair>, Mistake> {
    let names = all.iter().filter_map(|series| series.name.strip_prefix(TRUTH));
    // Numbers of the truth that nobody estimates, such as a counter, are left alone.
    let told = names.filter(|name| all.iter().any(|series| series.name.strip_prefix(ESTIMATE) == Some(*name)));
    let pairs: Vec<Pair> = told
        .map(|name| {
            let (truth, estimate) = (find(all, &format!("{TRUTH}{name}"))?, find(all, &format!("{ESTIMATE}{name}"))?);
            Ok(Pair { name: name.to_owned(), truth, estimate })
        })
        .collect::<Result<_, Mistake>>()?;
    // Stamps inside of messages are numbers too, but no measurements.
    let pairs: Vec<Pair> = pairs.into_iter().filter(|pair| pair.truth.unit.is_some()).collect();
    if pairs.is_empty() {
        let names: Vec<&str> = all.iter().map(|series| series.name.as_str()).collect();
        let message = "no number with a unit is on both `/truth` and `/estimate`".to_owned();
        return Err(mistake(format!("{message}; there are {}", names.join(", "))));
    }
    Ok(pairs)
}

fn named_pairs(all: &[Series], pairs: &[String]) -> Result<Vec<Pair>, Mistake> {
    let pair = |text: &String| {
        let (truth, estimate) =
            text.split_once('=').ok_or_else(|| mistake(format!("--pair {text}: write TRUTH=ESTIMATE")))?;
        let (truth, estimate) = (find(all, truth)?, find(all, estimate)?);
        let name = truth.name.strip_prefix(TRUTH).unwrap_or(&truth.name).to_owned();
        Ok(Pair { name, truth, estimate })
    };
    pairs.iter().map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_by_name_and_their_unit_may_be_said() {
        let series = |name: &str, unit: Option<&str>| Series {
            name: name.into(),
            unit: unit.map(str::to_owned),
            time_ns: vec![],
            value: vec![],
        };
        let all = [series("gps.x", None), series("truth.x", Some("m")), series("truth.stamp", None)];
        assert_eq!(find(&all, "gps.x [cm]").unwrap().unit.map(|unit| unit.name), Some("cm"));
        assert_eq!(find(&all, "truth.x").unwrap().unit.map(|unit| unit.name), Some("m"));
        assert_eq!(find(&all, "gps.x").unwrap().unit, None);
        assert!(find(&all, "gps.y").unwrap_err().message.contains("there are gps.x, truth.x"));
        assert!(usual_pairs(&all).err().is_some_and(|refused| refused.message.contains("`/truth` and `/estimate`")));
        let pairs = named_pairs(&all, &["truth.x=gps.x [cm]".to_owned()]).unwrap();
        assert_eq!((pairs[0].name.as_str(), pairs[0].estimate.index), ("x", 0));
    }
}
