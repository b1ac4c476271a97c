//! The formatter: one way to lay out a model. Lines, words and comments stay as they are; indentation and the blanks
//! around signs are set anew.

use crate::syntax::{Kind, Token, tokens};

/// Blanks per level.
const INDENT: usize = 4;

/// Lays out a model anew. Formatting twice changes nothing more, and what the text means stays the same.
///
/// ```
/// let text = "component A{\nport in Q x,\nout Q y;\nimplementation Math{\nif x>1\ny=[x -1];\nend\n}\n}";
/// let formatted = "component A{\n    port in Q x,\n        out Q y;\n    implementation Math{\n        if x > 1\n            \
///                  y = [x -1];\n        end\n    }\n}\n";
/// assert_eq!(anabranch_language::format(text), formatted);
/// ```
pub fn format(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    let mut state = Levels::default();
    let mut blank = 0;
    for line in lines(text) {
        if line.is_empty() {
            blank += 1;
            continue;
        }
        if blank > 0 && !out.is_empty() {
            out.push('\n');
        }
        blank = 0;
        state.line(text, &line, &mut out);
        out.push('\n');
    }
    out
}

/// Tokens of each line, without blanks. A comment over several lines stands on the line where it begins.
fn lines(text: &str) -> Vec<Vec<Token>> {
    let mut lines = vec![Vec::new()];
    for token in tokens(text) {
        match token.kind {
            Kind::End => {}
            Kind::Space => {
                let breaks = text[token.span.range()].matches('\n').count();
                lines.extend((0..breaks).map(|_| Vec::new()));
            }
            _ => {
                if let Some(line) = lines.last_mut() {
                    line.push(token);
                }
            }
        }
    }
    lines
}

#[derive(Default)]
struct Levels {
    /// Open braces and blocks of statements.
    depth: usize,
    /// Open round and square brackets.
    brackets: usize,
    /// Whether the last line goes on.
    goes_on: bool,
    /// Open braces outside of the statements we are in; none outside of statements.
    math: Vec<bool>,
    /// Whether the word `Math` was the last one.
    math_next: bool,
    /// Inside `^{…}`.
    in_dims: bool,
    /// Whether `^` was the last sign.
    power: bool,
}

impl Levels {
    fn in_math(&self) -> bool {
        self.math.last().copied().unwrap_or(false)
    }

    fn line(&mut self, text: &str, line: &[Token], out: &mut String) {
        let first = &text[line[0].span.range()];
        let outdented = first == "}"
            || (self.in_math() && self.brackets == 0 && matches!(first, "end" | "else" | "elseif" | "in" | "subject"));
        let mut level = self.depth - usize::from(outdented && self.depth > 0);
        if (self.goes_on || self.brackets > 0) && !outdented && line[0].kind != Kind::Comment {
            level += 1;
        }
        out.extend(std::iter::repeat_n(' ', level * INDENT));
        let mut head = false;
        for (i, token) in line.iter().enumerate() {
            if i > 0 && self.apart(text, line, i) {
                out.push(' ');
            }
            let written = &text[token.span.range()];
            out.push_str(if token.kind == Kind::Comment { written.trim_end() } else { written });
            head |= self.in_math()
                && self.brackets == 0
                && matches!(written, "if" | "elseif" | "for" | "while" | "else" | "to" | "end");
            self.count(token.kind, written);
        }
        let last = line.iter().rev().find(|token| token.kind != Kind::Comment);
        if let Some(last) = last {
            self.goes_on = !head && !matches!(last.kind, Kind::Sign(";" | "{" | "}" | "|"));
        }
    }

    fn count(&mut self, kind: Kind, written: &str) {
        match kind {
            Kind::Sign("{") if self.power => self.in_dims = true,
            Kind::Sign("}") if self.in_dims => self.in_dims = false,
            Kind::Sign("(" | "[") => self.brackets += 1,
            Kind::Sign(")" | "]") => self.brackets = self.brackets.saturating_sub(1),
            Kind::Sign("{") => {
                self.depth += 1;
                let inside = self.math_next || self.in_math();
                self.math.push(inside);
            }
            Kind::Sign("}") => {
                self.depth = self.depth.saturating_sub(1);
                self.math.pop();
            }
            Kind::Word if self.in_math() && self.brackets == 0 => match written {
                "if" | "for" | "while" | "minimize" | "maximize" => self.depth += 1,
                "end" => self.depth = self.depth.saturating_sub(1),
                _ => {}
            },
            _ => {}
        }
        if kind != Kind::Comment {
            self.math_next = written == "Math";
            self.power = written == "^";
        }
    }

    /// Whether a blank belongs before this token. Where a blank can mean something, what is there is kept.
    fn apart(&self, text: &str, line: &[Token], i: usize) -> bool {
        let (last, token) = (line[i - 1], line[i]);
        let gap = last.span.end != token.span.start;
        let in_matrix = self.brackets > 0;
        match (last.kind, token.kind) {
            (_, Kind::Comment) | (Kind::Comment, _) => true,
            (_, Kind::Sign("," | ";")) => false,
            (Kind::Sign(","), _) => gap || !self.in_dims,
            (Kind::Sign("->"), _) | (_, Kind::Sign("->")) => true,
            (Kind::Sign("=" | "==" | "&&" | "||" | "!=" | "<=" | ">="), _)
            | (_, Kind::Sign("=" | "==" | "&&" | "||" | "!=" | "<=" | ">="))
                if !in_matrix =>
            {
                true
            }
            (Kind::Sign("<" | ">"), _) | (_, Kind::Sign("<" | ">")) if self.in_math() && !in_matrix => {
                // `minimize<n>` and types with arguments are no comparisons.
                gap || !matches!(&text[line[0].span.range()], "minimize" | "maximize" | "static")
            }
            _ => gap,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &str) {
        let formatted = format(text);
        assert_eq!(formatted, expect);
        assert_eq!(format(&formatted), expect, "formatting twice");
    }

    #[test]
    fn lines_are_indented_by_what_is_open() {
        check("enum E {\nA|\nB\n}\n", "enum E {\n    A|\n    B\n}\n");
        check(
            "component A {\n\n\nconnect a->b;//c\n  component B {\n}\n}",
            "component A {\n\n    connect a -> b; //c\n    component B {\n    }\n}\n",
        );
    }

    #[test]
    fn blanks_that_mean_something_stay() {
        let text = "component A {\n    implementation Math {\n        x = [a -b];\n        y = [a - b c'];\n    }\n}\n";
        check(text, text);
    }
}
