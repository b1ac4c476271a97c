//! Links and mentions of files resolve.

use super::Notes;

/// Every `[text](file)` outside of code leads to a file.
pub fn check_markdown(notes: &mut Notes<'_>, exists: &dyn Fn(&str) -> bool) {
    let folder = notes.source.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut fenced = false;
    for (at, line) in notes.source.text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        for target in targets(&without_code(line)) {
            let file = target.split('#').next().unwrap_or("");
            let elsewhere = file.is_empty() || file.contains(':');
            if !elsewhere && !resolve(folder, file).is_some_and(|path| exists(&path)) {
                notes.add(at, format!("the link to `{target}` leads nowhere"));
            }
        }
    }
}

/// A page named in a comment (`docs/….md`) exists.
pub fn check_mentions(notes: &mut Notes<'_>, exists: &dyn Fn(&str) -> bool) {
    for (at, line) in notes.source.text.lines().enumerate() {
        let Some((_, comment)) = line.split_once("//") else { continue };
        let words = comment.split(|c: char| !c.is_alphanumeric() && !matches!(c, '/' | '.' | '-' | '_'));
        for word in words.filter(|word| word.starts_with("docs/") && word.ends_with(".md")) {
            if !exists(word) {
                notes.add(at, format!("`{word}` does not exist"));
            }
        }
    }
}

fn targets(line: &str) -> Vec<&str> {
    line.match_indices("](").filter_map(|(at, _)| line[at + 2..].split_once(')')).map(|(target, _)| target).collect()
}

/// The line with inline code blanked out.
fn without_code(line: &str) -> String {
    line.split('`').enumerate().map(|(n, part)| if n % 2 == 0 { part } else { "code" }).collect()
}

/// The path that `file` means when written in a page of `folder`; `None` if it leaves the project.
fn resolve(folder: &str, file: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in file.split('/').filter(|part| !part.is_empty()) {
        match part {
            "." => {}
            ".." => drop(parts.pop()?),
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::super::tests::check_text;
    use super::*;

    #[test]
    fn links_lead_somewhere() {
        check_text("docs/a.md", "[a](ARCHITECTURE.md#rooms), [b](../README.md), [c](#here), [d](adr/)\n", &[]);
        check_text("docs/a.md", "[a](missing.md)\n", &["1: the link to `missing.md`"]);
        check_text("docs/a.md", "[a](../../README.md)\n", &["1: the link to"]);
        check_text("README.md", "`[x](y)` and\n```text\n[x](y)\n```\n[x](y.md)\n", &["5: the link to `y.md`"]);
    }

    #[test]
    fn pages_named_in_comments_exist() {
        check_text("a.rs", "//! See `docs/ARCHITECTURE.md`.\n", &[]);
        check_text("a.rs", concat!("/", "/! See `docs/nothing.md`.\n"), &["1: `docs/nothing.md` does not exist"]);
    }

    #[test]
    fn paths_resolve_inside_of_the_project_only() {
        assert_eq!(resolve("docs/adr", "../a.md").as_deref(), Some("docs/a.md"));
        assert_eq!(resolve("", "./a/b.md").as_deref(), Some("a/b.md"));
        assert_eq!(resolve("docs", "../../a.md"), None);
    }
}
