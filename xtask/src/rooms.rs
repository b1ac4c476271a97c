//! The rooms table of `docs/ARCHITECTURE.md` against the crates as they are.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::metadata::{self, Package};

const PAGE: &str = "docs/ARCHITECTURE.md";
/// A room is the crate of this prefix and the room's name.
const PREFIX: &str = "anabranch-";
/// The room whose crate has no prefix: the one that people depend on.
const FACADE: &str = "anabranch";
/// Columns of the table; the order is part of the contract with the page.
const HEADER: [&str; 4] = ["floor", "room", "purpose", "may use"];

/// Which rooms each room may use, closed over "and, through them, theirs".
type MayUse = BTreeMap<String, BTreeSet<String>>;

/// Checks the workspace; the answer is a closing line, or every disagreement.
pub fn check_workspace() -> Result<String, String> {
    let page = fs::read_to_string(metadata::root().join(PAGE)).map_err(|error| format!("{PAGE}: {error}"))?;
    let packages = metadata::packages()?;
    let may_use = parse(&page).map_err(|message| format!("{PAGE}: {message}"))?;
    let complaints = compare(&may_use, &packages);
    if complaints.is_empty() {
        Ok(format!("rooms: {} rooms agree with {PAGE}", may_use.len()))
    } else {
        Err(format!("{}\nrooms: {} disagreements with {PAGE}", complaints.join("\n"), complaints.len()))
    }
}

fn cells(line: &str) -> Option<Vec<String>> {
    let inner = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    Some(inner.split('|').map(|cell| cell.trim().replace('`', "")).collect())
}

fn names(cell: &str) -> Vec<String> {
    cell.split(',').map(|name| name.trim().to_owned()).filter(|name| !matches!(name.as_str(), "" | "–" | "-")).collect()
}

/// Reads the table and closes it.
fn parse(page: &str) -> Result<MayUse, String> {
    let rows: Vec<Vec<String>> = page
        .lines()
        .skip_while(|line| cells(line).is_none_or(|cells| cells != HEADER))
        .skip(2)
        .map_while(cells)
        .collect();
    if rows.is_empty() {
        return Err(format!("there is no table with the columns | {} |", HEADER.join(" | ")));
    }
    let mut direct = Vec::new();
    for row in &rows {
        let [_, rooms, _, uses] = row.as_slice() else {
            return Err(format!("a row of the rooms table has {} columns instead of 4: {row:?}", row.len()));
        };
        direct.extend(names(rooms).into_iter().map(|room| (room, names(uses))));
    }
    let all: BTreeSet<String> = direct.iter().map(|(room, _)| room.clone()).collect();
    let mut may_use = MayUse::new();
    for (room, uses) in direct {
        let known: BTreeSet<String> = if uses == ["all"] { all.clone() } else { uses.into_iter().collect() };
        if let Some(unknown) = known.difference(&all).next() {
            return Err(format!("the room `{room}` may use `{unknown}`, which has no row of its own"));
        }
        if may_use.insert(room.clone(), known).is_some() {
            return Err(format!("the room `{room}` has two rows"));
        }
    }
    close(&mut may_use);
    Ok(may_use)
}

fn close(may_use: &mut MayUse) {
    loop {
        let before: usize = may_use.values().map(BTreeSet::len).sum();
        let known = may_use.clone();
        for uses in may_use.values_mut() {
            let theirs: Vec<String> = uses.iter().flat_map(|used| known[used].iter().cloned()).collect();
            uses.extend(theirs);
        }
        if may_use.values().map(BTreeSet::len).sum::<usize>() == before {
            return;
        }
    }
}

/// The room that a crate is, if it is one of ours.
fn room_of(package: &str) -> Option<&str> {
    if package == FACADE { Some(package) } else { package.strip_prefix(PREFIX) }
}

/// Every disagreement between table and crates, each with its way out.
fn compare(may_use: &MayUse, packages: &[Package]) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut seen = BTreeSet::new();
    for package in packages.iter().filter(|package| package.name != "xtask") {
        let Some(room) = room_of(&package.name) else {
            complaints.push(format!("the crate `{}` is no room: name it `{PREFIX}…`", package.name));
            continue;
        };
        seen.insert(room);
        let Some(allowed) = may_use.get(room) else {
            complaints.push(format!("the room `{room}` has no row in {PAGE}: add one, with what it may use"));
            continue;
        };
        for used in package.uses.iter().filter_map(|name| room_of(name)) {
            if !allowed.contains(used) {
                complaints.push(format!(
                    "`{room}` uses `{used}`, which the table does not allow: move the shared type to `kernel`, \
                     turn the call around, or widen the row of `{room}` in {PAGE} and say why in docs/adr/"
                ));
            }
        }
    }
    for room in may_use.keys().filter(|room| !seen.contains(room.as_str())) {
        complaints.push(format!("the table has a row for `{room}`, but there is no crate: list it as planned instead"));
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
# Rooms

| floor | room | purpose | may use |
|---|---|---|---|
| core | `kernel` | contract | – |
| core | `geometry` | shapes | kernel |
| drive | `vehicle` | plants | geometry |
| search | `explore` | branch and merge | kernel |
| entry | `cli`, `bench` | what people start | all |

| planned | room |
|---|---|
| drive | `roads` |
";

    fn package(name: &str, uses: &[&str]) -> Package {
        Package { name: name.to_owned(), uses: uses.iter().map(|&name| name.to_owned()).collect() }
    }

    fn workspace(extra: Package) -> Vec<Package> {
        let mut packages = vec![
            package("anabranch-kernel", &["serde"]),
            package("anabranch-geometry", &["anabranch-kernel"]),
            package("anabranch-vehicle", &["anabranch-geometry", "anabranch-kernel"]),
            package("anabranch-explore", &["anabranch-kernel", "rayon"]),
            package("anabranch-cli", &["anabranch-explore", "anabranch-vehicle"]),
            package("anabranch-bench", &["anabranch-cli"]),
            package("xtask", &["serde_json"]),
        ];
        packages.retain(|package| package.name != extra.name);
        packages.push(extra);
        packages
    }

    /// One crate is replaced or added; the complaints must contain each text, or be none.
    fn check(extra: Package, expect: &[&str]) {
        let complaints = compare(&parse(TABLE).unwrap(), &workspace(extra));
        assert_eq!(complaints.len(), expect.len(), "{complaints:?}");
        for (complaint, text) in complaints.iter().zip(expect) {
            assert!(complaint.contains(text), "{complaint}");
        }
    }

    #[test]
    fn rooms_may_use_what_their_rooms_may_use() {
        check(package("xtask", &[]), &[]);
        check(package("anabranch-vehicle", &["anabranch-kernel"]), &[]);
    }

    #[test]
    fn an_edge_that_is_not_allowed_is_named() {
        check(package("anabranch-explore", &["anabranch-vehicle"]), &["`explore` uses `vehicle`"]);
        check(package("anabranch-kernel", &["anabranch-cli"]), &["`kernel` uses `cli`"]);
        check(
            package("anabranch-geometry", &["anabranch-explore", "anabranch-vehicle"]),
            &["`geometry` uses `explore`", "`geometry` uses `vehicle`"],
        );
    }

    #[test]
    fn crates_and_rows_must_match() {
        check(package("anabranch-roads", &[]), &["`roads` has no row"]);
        check(package("helpers", &[]), &["`helpers` is no room"]);
        check(package("anabranch", &[]), &["`anabranch` has no row"]);
        let mut packages = workspace(package("xtask", &[]));
        packages.retain(|package| package.name != "anabranch-bench");
        assert!(compare(&parse(TABLE).unwrap(), &packages)[0].contains("row for `bench`"));
    }

    #[test]
    fn broken_tables_are_refused_with_the_reason() {
        let check = |from: &str, to: &str, expect: &str| {
            let message = parse(&TABLE.replace(from, to)).unwrap_err();
            assert!(message.contains(expect), "{message}");
        };
        check("may use", "uses", "no table");
        check("| shapes | kernel |", "| shapes | roads |", "`roads`, which has no row");
        check("`geometry` |", "`kernel` |", "two rows");
        check("| contract | – |", "| contract |", "3 columns");
    }

    #[test]
    fn the_workspace_keeps_to_its_table() {
        if let Err(message) = check_workspace() {
            panic!("{message}");
        }
    }
}
