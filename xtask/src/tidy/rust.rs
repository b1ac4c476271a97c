//! Rules for Rust files.

use super::Notes;

/// A file is one idea.
const FILE_LINES_MAX: usize = 500;
/// A function fits a screen.
const FUNCTION_LINES_MAX: usize = 70;
/// What must not land, and what to do instead. (Put together here, so that this file keeps its own rule.)
const FORBIDDEN: [(&str, &str); 6] = [
    (concat!("to", "do!("), "finish it, or leave it out"),
    (concat!("unimple", "mented!("), "finish it, or leave it out"),
    (concat!("FIX", "ME"), "mend it now"),
    (concat!("db", "g!("), "remove it"),
    (concat!("#[ig", "nore"), "make the test fast, or give it a task of its own"),
    (concat!("[al", "low("), "use `#[expect(lint, reason = \"…\")]`"),
];

/// All rules for one file.
pub fn check(notes: &mut Notes<'_>) {
    let lines: Vec<&str> = notes.source.text.lines().collect();
    if lines.len() > FILE_LINES_MAX {
        notes.add(0, format!("{} lines; a file is one idea and ends at {FILE_LINES_MAX}: split it", lines.len()));
    }
    for (at, line) in lines.iter().enumerate() {
        for (word, instead) in FORBIDDEN {
            if line.contains(word) {
                notes.add(at, format!("`{word}` must not land: {instead}"));
            }
        }
        if is_unsafe(line) && !has_safety_comment(&lines, at) && !is_method_of_unsafe_impl(&lines, at) {
            notes.add(at, "`unsafe` without a `// SAFETY:` comment above it that says why it is sound");
        }
        if let Some(length) = function_length(&lines, at).filter(|&length| length > FUNCTION_LINES_MAX) {
            notes.add(at, format!("a function of {length} lines; it ends at {FUNCTION_LINES_MAX}: split it"));
        }
    }
}

/// Whether the keyword stands in the code of this line, outside of comments and texts.
fn is_unsafe(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or("");
    code.match_indices("unsafe").any(|(at, word)| {
        let joins = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let (before, after) = (&code[..at], &code[at + word.len()..]);
        let quoted = before.matches('"').count() % 2 == 1 || before.ends_with('`');
        !joins(before.chars().next_back()) && !joins(after.chars().next()) && !quoted
    })
}

/// Looks upwards through comments and attributes, and through at most two lines of the same statement.
fn has_safety_comment(lines: &[&str], at: usize) -> bool {
    let says = |line: &str| line.contains("// SAFETY:") || line.contains("/// # Safety");
    let mut code_lines = 0;
    for line in lines[..at].iter().rev().map(|line| line.trim_start()) {
        if says(line) {
            return true;
        }
        if !line.starts_with("//") && !line.starts_with("#[") {
            code_lines += 1;
            if code_lines > 2 || line.is_empty() || line.ends_with([';', '}']) {
                return false;
            }
        }
    }
    false
}

/// What such a method may assume is told by the trait; why it is sound, above the `impl`.
fn is_method_of_unsafe_impl(lines: &[&str], at: usize) -> bool {
    let indentation = |line: &str| line.len() - line.trim_start().len();
    let outer = |line: &str| !line.is_empty() && indentation(line) < indentation(lines[at]);
    let block = lines[..at].iter().rposition(|line| outer(line));
    lines[at].trim_start().starts_with("unsafe fn")
        && block.is_some_and(|block| lines[block].starts_with("unsafe impl") && has_safety_comment(lines, block))
}

/// Lines of the function that begins here, if one does. Formatted code closes it at the same indentation.
fn function_length(lines: &[&str], at: usize) -> Option<usize> {
    let line = lines[at];
    let code = line.trim_start();
    let is_modifier = |word: &str| {
        matches!(word, "pub" | "const" | "async" | "unsafe" | "extern")
            || word.starts_with("pub(")
            || word.starts_with('"')
    };
    if code.split(' ').find(|word| !is_modifier(word)) != Some("fn") || code.ends_with(['}', ';']) {
        return None;
    }
    let indentation = &line[..line.len() - code.len()];
    let end = lines[at..].iter().position(|line| {
        let rest = line.strip_prefix(indentation);
        rest.is_some_and(|rest| rest == "}" || (rest.starts_with(')') && rest.ends_with(';')))
    });
    end.map(|end| end + 1)
}

#[cfg(test)]
mod tests {
    use super::super::tests::check_text;
    use super::*;

    fn function(lines: usize) -> String {
        format!("pub(crate) const fn long(\n    x: u8,\n) {{\n{}}}\n", "    call();\n".repeat(lines - 4))
    }

    #[test]
    fn long_files_and_functions_are_named() {
        check_text("a.rs", &"// Line.\n".repeat(FILE_LINES_MAX), &[]);
        check_text("a.rs", &"// Line.\n".repeat(FILE_LINES_MAX + 1), &["1: 501 lines"]);
        check_text("a.rs", &function(FUNCTION_LINES_MAX), &[]);
        check_text("a.rs", &format!("\n{}", function(FUNCTION_LINES_MAX + 1)), &["2: a function of 71 lines"]);
    }

    #[test]
    fn signatures_without_a_body_are_no_functions() {
        let text = format!("trait A {{\n    fn a(\n        &self,\n    );\n{}}}\n", "    const B: u8;\n".repeat(80));
        check_text("a.rs", &text, &[]);
        check_text("a.rs", &format!("fn a() {{}}\n{}", "// Line.\n".repeat(80)), &[]);
    }

    #[test]
    fn words_that_must_not_land() {
        for (word, _) in FORBIDDEN {
            check_text("a.rs", &format!("fn a() {{ {word}) }}\n"), &["1: `"]);
        }
        check_text("a.rs", "// Never `#[allow]`.\n#[expect(dead_code, reason = \"shown\")]\n", &[]);
    }

    #[test]
    fn unsafe_says_why_it_is_sound() {
        check_text("a.rs", "// SAFETY: checked.\nlet a = unsafe { b() };\n", &[]);
        check_text("a.rs", "// SAFETY: checked.\nlet a =\n    unsafe { b() };\n", &[]);
        check_text("a.rs", "/// # Safety\n/// AVX2.\n#[inline]\nunsafe fn a() {}\n", &[]);
        let method = "unsafe impl A for B {\n    unsafe fn a() {}\n\n    unsafe fn b() {}\n}\n";
        check_text("a.rs", &format!("// SAFETY: as the system's.\n{method}"), &[]);
        check_text("a.rs", method, &["1: `unsafe`", "2: `unsafe`", "4: `unsafe`"]);
        check_text("a.rs", "let a = unsafe { b() };\n", &["1: `unsafe`"]);
        check_text("a.rs", "// SAFETY: for b.\nunsafe { b() };\nunsafe { c() };\n", &["3: `unsafe`"]);
        check_text("a.rs", "// No unsafe here.\nlet a = \"unsafe\"; let unsafe_b = 1;\n", &[]);
    }
}
