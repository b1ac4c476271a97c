//! Rules for every text file.

use super::Notes;

/// Beginnings of paths that exist on one machine only. (Put together here, so that this file keeps its own rule.)
const MACHINE_PATHS: [&str; 5] = [
    concat!("/ho", "me/"),
    concat!("/wo", "rk/"),
    concat!("/ro", "ot/"),
    concat!("/Us", "ers/"),
    concat!("\\Us", "ers\\"),
];
/// People who exist in examples only: tests about such paths have to write some.
const INVENTED: [&str; 3] = ["me", "some", "someone"];
/// Endings by which a word is taken for a host name.
const HOST_ENDINGS: [&str; 10] = ["com", "org", "net", "io", "edu", "gov", "internal", "local", "lan", "corp"];

/// No blanks at the end of a line, one newline at the end of the file.
pub fn check_endings(notes: &mut Notes<'_>) {
    let text = &notes.source.text;
    for (at, line) in text.lines().enumerate() {
        if line.ends_with([' ', '\t']) {
            notes.add(at, "blanks at the end of the line");
        }
    }
    if !text.is_empty() && (!text.ends_with('\n') || text.ends_with("\n\n")) {
        notes.add(text.lines().count().saturating_sub(1), "the file must end with exactly one newline");
    }
}

/// No path of one person's machine.
pub fn check_paths(notes: &mut Notes<'_>) {
    for (at, line) in notes.source.text.lines().enumerate() {
        for path in MACHINE_PATHS {
            let starts = |(start, _): (usize, &str)| {
                let before = line[..start].chars().next_back();
                let rest = line[start + path.len()..].trim_start_matches('\\');
                let person = rest.split(|c: char| !c.is_alphanumeric()).next();
                let invented = person.is_some_and(|person| INVENTED.contains(&person));
                !invented && before.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '.' | '_' | '-' | '}' | '>'))
            };
            if line.match_indices(path).any(starts) {
                notes.add(at, format!("`{path}` begins a path of one machine; use a path relative to the project"));
            }
        }
    }
}

/// No host names or addresses, except this machine's own.
pub fn check_hosts(notes: &mut Notes<'_>) {
    for (at, line) in notes.source.text.lines().enumerate() {
        for (start, _) in line.match_indices("://") {
            let rest = &line[start + 3..];
            if !["127.", "localhost", "[::1]"].iter().any(|own| rest.starts_with(own)) {
                notes.add(at, "an address on the network; name the thing instead of its place");
            }
        }
        let words = line.split(|c: char| !c.is_ascii_alphanumeric() && c != '.' && c != '-');
        for word in words.map(|word| word.trim_matches('.')).filter(|word| is_host(word)) {
            notes.add(at, format!("`{word}` looks like a host; name the thing instead of its place"));
        }
    }
}

fn is_host(word: &str) -> bool {
    let labels: Vec<&str> = word.split('.').collect();
    if labels.len() < 2 || labels.iter().any(|label| label.is_empty()) {
        return false;
    }
    let address = labels.len() == 4 && labels.iter().all(|label| label.parse::<u8>().is_ok());
    (address && labels[0] != "127") || HOST_ENDINGS.contains(labels.last().unwrap_or(&""))
}

#[cfg(test)]
mod tests {
    use super::super::tests::check_text;
    use super::*;

    #[test]
    fn endings() {
        check_text("a.txt", "good\n", &[]);
        check_text("a.txt", "", &[]);
        check_text("a.txt", "blank \nand\ttab\t\n", &["1: blanks", "2: blanks"]);
        check_text("a.txt", "no newline", &["1: the file must end"]);
        check_text("a.txt", "two\n\n", &["2: the file must end"]);
        check_text("crates/scenario/tests/broken/a.toml", "broken on purpose ", &[]);
    }

    #[test]
    fn paths_of_one_machine() {
        let home = MACHINE_PATHS[0];
        check_text("a.py", &format!("open('{home}jo/x')\n"), &["1: `"]);
        check_text("a.py", &format!("open('{home}someone/x')\n"), &[]);
        check_text("a.py", &format!("open('..{home}x'), '{{dir}}{home}', 'a{home}'\n"), &[]);
    }

    #[test]
    fn hosts() {
        check_text("a.md", "`zmq = \"tcp://127.0.0.1:5555\"`, see e.g. `ego.start.y` and [profile.dev].\n", &[]);
        check_text("a.toml", concat!("x = \"https:", "//pages\"\n"), &["1: an address"]);
        check_text("a.md", concat!("See docs.project.", "org.\n"), &["1: `docs.project.o"]);
        check_text("a.md", concat!("Start 10.0.", "0.7 now\n"), &["1: `10.0."]);
        check_text("a.rs", concat!("//! See docs.project.", "org.\n"), &[]);
    }
}
