//! Rules for `Cargo.toml`.

use super::Notes;

/// The page with a row for every dependency.
pub const REASONS: &str = "docs/dependencies.md";

/// Every crate takes the lints of the workspace.
pub fn check_lints(notes: &mut Notes<'_>) {
    let lines: Vec<String> = notes.source.text.lines().map(|line| line.replace(' ', "")).collect();
    let is_crate = lines.iter().any(|line| line == "[package]");
    let table = lines.windows(2).any(|pair| pair[0] == "[lints]" && pair[1] == "workspace=true");
    if is_crate && !table && !lines.iter().any(|line| line == "lints.workspace=true") {
        notes.add(0, "the crate does not take the lints of the workspace: add `lints.workspace = true`");
    }
}

/// Every dependency from outside has a row that says why it is there.
pub fn check_reasons(notes: &mut Notes<'_>, reasons: &str) {
    let mut inside = false;
    for (at, line) in notes.source.text.lines().enumerate() {
        let header = line.trim().strip_prefix('[').and_then(|line| line.strip_suffix(']'));
        let name = if let Some(header) = header {
            inside = header.ends_with("dependencies");
            header.split_once("dependencies.").map(|(_, name)| name)
        } else {
            let name = line.split([' ', '.', '=']).next().unwrap_or("");
            (inside && !name.is_empty() && !name.starts_with('#')).then_some(name)
        };
        let is_ours = |name: &str| name == "anabranch" || name.starts_with("anabranch-");
        let known = |name: &str| is_ours(name) || reasons.contains(&format!("| `{name}` |"));
        if let Some(name) = name.filter(|name| !known(name)) {
            notes
                .add(at, format!("`{name}` has no row in {REASONS}: say there what it is for and under which licence"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::check_text;

    #[test]
    fn crates_take_the_lints_of_the_workspace() {
        check_text("crates/a/Cargo.toml", "[package]\n[lints]\nworkspace = true\n", &[]);
        check_text("crates/a/Cargo.toml", "lints.workspace = true\n[package]\n", &[]);
        check_text("crates/a/Cargo.toml", "[package]\n[lints]\n[dependencies]\n", &["1: the crate does not take"]);
        check_text("Cargo.toml", "[workspace]\n", &[]);
    }

    #[test]
    fn dependencies_have_a_reason() {
        let good =
            "[dependencies]\n# Why.\nserde.workspace = true\nanabranch-kernel.workspace = true\n[profile.dev]\nx = 1\n";
        check_text("Cargo.toml", good, &[]);
        check_text("Cargo.toml", "[workspace.dependencies]\nleft-pad = \"1\"\n", &["2: `left-pad` has no row"]);
        check_text("Cargo.toml", "[dev-dependencies]\n\na.workspace = true\n[lib]\nb = 1\n", &["3: `a` has no row"]);
        check_text("Cargo.toml", "[target.'cfg(unix)'.dependencies.left-pad]\nversion = \"1\"\n", &["1: `left-pad`"]);
    }
}
