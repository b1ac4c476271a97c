//! Running into misbehaviour on purpose, for every link alike: each deed is told by its kind, a new instance works up to
//! the same point, and nothing is left behind.

use anabranch_bridge::{Answer, Begin, Decision, Fleet, Kind, Misbehaviour, Op, Seat, Seen};

/// Environment variable that marks the processes of one test.
pub const MARK: &str = "ANABRANCH_TEST_MARK";

/// Tests run side by side in one process or in several: each has its own.
pub fn mark() -> String {
    format!("rogue-{}-{:?}", std::process::id(), std::thread::current().id())
}

/// Processes of this test that still run.
pub fn left_behind() -> usize {
    let wanted = format!("{MARK}={}", mark());
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let environments = entries.filter_map(|entry| std::fs::read(entry.path().join("environ")).ok());
    environments
        .filter(|environment| environment.split(|&byte| byte == 0).any(|entry| entry == wanted.as_bytes()))
        .count()
}

/// A branch begins and is saved as number 1.
pub fn begin(seat: &mut Seat<'_>) -> Result<(), Misbehaviour> {
    let begin = Begin { cycle_s: 0.1, ..Begin::default() };
    let ops = [Op::Reset { branch: 1, begin: Box::new(begin) }, Op::Save { branch: 1, token: 1 }];
    seat.ask(&ops)?.into_iter().collect::<Result<Vec<_>, _>>().map(|_| ())
}

/// One step from a saved state at this tick, saved again under the next number.
pub fn step(seat: &mut Seat<'_>, token: u32, tick: u64) -> Result<Decision, Misbehaviour> {
    let seen = Box::new(Seen { tick, ..Seen::default() });
    let ops = [Op::Load { token, branch: 1 }, Op::Step { branch: 1, seen }, Op::Save { branch: 1, token: token + 1 }];
    let answers = seat.ask(&ops)?.into_iter().collect::<Result<Vec<_>, _>>()?;
    match &answers[1] {
        Answer::Decision(decision) => Ok(decision.clone()),
        other => panic!("{other:?}"),
    }
}

/// Runs into the misbehaviour twice, the second time with a new instance, which works up to the same point. The driver
/// counts its steps in its key and misbehaves in the second, which is that of tick 10.
pub fn provoke(fleet: &Fleet) -> Option<Misbehaviour> {
    let mut seat = fleet.seat(0);
    let mut wrong = None;
    for _ in 0..2 {
        begin(&mut seat).unwrap();
        assert_eq!(step(&mut seat, 1, 5).unwrap().key, [1.0]);
        wrong = step(&mut seat, 2, 10).err();
        seat.end();
    }
    wrong
}

/// Goes through a table of deeds and the kinds they are told as; [`Kind::NoStart`] stands for one that behaves, to see that
/// the table can tell.
pub fn check<'t>(link: &str, rows: impl IntoIterator<Item = (&'t str, Kind)>, fleet: impl Fn(&str) -> Fleet) {
    let mut different = Vec::new();
    for (way, expected) in rows {
        let wrong = provoke(&fleet(way));
        let found = wrong.as_ref().map_or(Kind::NoStart, |wrong| wrong.kind);
        if found != expected {
            different.push(format!("{way} by {link} is {found:?}: {wrong:?}"));
        }
        assert_eq!(left_behind(), 0, "{way} by {link} left processes behind");
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}
