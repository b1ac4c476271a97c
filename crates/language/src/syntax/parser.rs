//! The reader's hands: looking at tokens, taking them, telling what was expected, and finding the way back after a
//! mistake.

use super::ast::{File, Import, Item, Name, Path};
use super::habits;
use super::{Kind, Parsed, Span, TEXT_BYTES_MAX, Token, tokens};
use crate::diagnostic::{Code, Problem};

/// Deepest nesting of expressions, statements and components; beyond it the stack could overflow.
pub(super) const DEPTH_MAX: usize = 120;

/// Highest tree of one expression; sums lean to the left as far as they are long.
pub(super) const HEIGHT_MAX: usize = 1000;

/// Most mistakes that are told of one file.
const PROBLEMS_MAX: usize = 200;

/// A significant token with what stands before it.
#[derive(Clone, Copy)]
struct Piece {
    token: Token,
    /// Blanks or comments before it.
    spaced: bool,
    /// A line end before it.
    fresh_line: bool,
}

pub(super) struct Parser<'a> {
    text: &'a str,
    pieces: Vec<Piece>,
    at: usize,
    pub(super) problems: Vec<Problem>,
    pub(super) depth: usize,
    /// Inside `[ … ]`, where blanks separate.
    pub(super) in_matrix: bool,
    /// In a value of a stream, where `:` is no range.
    pub(super) in_stream: bool,
    /// How many calls we are in; `end` is an index there.
    pub(super) calls: usize,
    /// How many `subject to` we are in; a comparison is a statement there.
    pub(super) constraints: usize,
    /// Height of the expression read last.
    pub(super) height: usize,
    /// Where a mistake was told last; a second one at the same place helps nobody.
    told_at: Option<usize>,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let whole = if text.len() > TEXT_BYTES_MAX { "" } else { text };
        let mut pieces = Vec::new();
        let (mut spaced, mut fresh_line) = (false, false);
        let mut problems = Vec::new();
        if whole.len() != text.len() {
            problems.push(Problem::error(Code::Unreadable, Span::default(), "the file is larger than 64 MB"));
        }
        for token in tokens(whole) {
            let written = &whole[token.span.range()];
            match token.kind {
                Kind::Space => {}
                Kind::Comment => {
                    if written.starts_with("/*") && (written.len() < 4 || !written.ends_with("*/")) {
                        let told = Problem::error(Code::Unclosed, token.span, "this comment is never closed");
                        problems.push(told.help("write `*/` where it ends"));
                    }
                }
                _ => {
                    pieces.push(Piece { token, spaced, fresh_line });
                    (spaced, fresh_line) = (false, false);
                    continue;
                }
            }
            spaced = true;
            fresh_line |= written.contains('\n');
        }
        Self {
            text: whole,
            pieces,
            at: 0,
            problems,
            depth: 0,
            in_matrix: false,
            in_stream: false,
            calls: 0,
            constraints: 0,
            height: 0,
            told_at: None,
        }
    }

    pub(super) fn run(mut self) -> Parsed {
        let mut file = File::default();
        if self.at_word("package") {
            self.take();
            file.package = self.path();
            self.expect(";", "after the package");
        }
        while self.at_word("import") {
            self.take();
            if let Some(path) = self.path() {
                let all = self.eat(".*") || (self.at_sign(".") && self.sign_after(1, "*") && self.take_two());
                file.imports.push(Import { path, all });
            }
            self.expect(";", "after the import");
        }
        while !self.at_end() {
            let before = self.at;
            match self.item() {
                Some(item) => file.items.push(item),
                None => self.skip_to_item(before),
            }
        }
        if file.items.is_empty() && self.problems.is_empty() {
            self.tell_expected("a component, struct, enum or stream");
        }
        self.problems.sort_by_key(|problem| problem.span.start);
        Parsed { file, problems: self.problems }
    }

    fn take_two(&mut self) -> bool {
        self.take();
        self.take();
        true
    }

    fn item(&mut self) -> Option<Item> {
        match self.word()? {
            "struct" => self.data_struct().map(Item::Struct),
            "enum" => self.data_enum().map(Item::Enum),
            "stream" => self.stream().map(Item::Stream),
            _ => self.component().map(Item::Component),
        }
    }

    /// After something that is no item: on to the next word that begins one.
    fn skip_to_item(&mut self, before: usize) {
        if self.at == before {
            if !self.is_told() {
                self.tell_expected("a component, struct, enum or stream");
            }
            self.take();
        }
        while !self.at_end() && !self.begins_item() {
            self.take();
        }
    }

    pub(super) fn begins_item(&self) -> bool {
        matches!(self.word(), Some("component" | "struct" | "enum" | "stream"))
    }

    // Looking.

    pub(super) fn token(&self) -> Token {
        self.pieces[self.at].token
    }

    fn token_after(&self, n: usize) -> Token {
        self.pieces[(self.at + n).min(self.pieces.len() - 1)].token
    }

    pub(super) fn kind_after(&self, n: usize) -> Kind {
        self.token_after(n).kind
    }

    pub(super) fn text_of(&self, span: Span) -> &'a str {
        &self.text[span.range()]
    }

    pub(super) fn word_after(&self, n: usize) -> Option<&'a str> {
        let token = self.token_after(n);
        (token.kind == Kind::Word).then(|| self.text_of(token.span))
    }

    /// The word here, if it is one.
    pub(super) fn word(&self) -> Option<&'a str> {
        self.word_after(0)
    }

    pub(super) fn at_word(&self, word: &str) -> bool {
        self.word() == Some(word)
    }

    pub(super) fn sign_after(&self, n: usize, sign: &str) -> bool {
        matches!(self.kind_after(n), Kind::Sign(s) if s == sign)
    }

    pub(super) fn at_sign(&self, sign: &str) -> bool {
        self.sign_after(0, sign)
    }

    pub(super) fn at_end(&self) -> bool {
        self.token().kind == Kind::End
    }

    pub(super) fn spaced_after(&self, n: usize) -> bool {
        self.pieces[(self.at + n).min(self.pieces.len() - 1)].spaced
    }

    pub(super) fn spaced(&self) -> bool {
        self.spaced_after(0)
    }

    pub(super) fn fresh_line(&self) -> bool {
        self.pieces[self.at].fresh_line
    }

    pub(super) fn here(&self) -> Span {
        self.token().span
    }

    /// Where the last token taken ends.
    pub(super) fn last(&self) -> Span {
        self.pieces[self.at.saturating_sub(1)].token.span
    }

    pub(super) fn mark(&self) -> usize {
        self.at
    }

    /// Back to a mark; for looking ahead only.
    pub(super) fn reset(&mut self, mark: usize) {
        self.at = mark;
    }

    // Taking.

    pub(super) fn take(&mut self) -> Span {
        let span = self.here();
        if self.at + 1 < self.pieces.len() {
            self.at += 1;
        }
        span
    }

    pub(super) fn eat(&mut self, sign: &str) -> bool {
        let found = self.at_sign(sign);
        if found {
            self.take();
        }
        found
    }

    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.take();
        }
        found
    }

    /// Takes a sign or tells that it is missing; a missing `;` or bracket is told where it should have stood.
    pub(super) fn expect(&mut self, sign: &str, place: &str) -> bool {
        if self.eat(sign) {
            return true;
        }
        let found = self.found();
        let span =
            if sign == ";" { Span::new(self.last().end as usize, self.last().end as usize) } else { self.here() };
        let mut told = Problem::error(Code::Expected, span, format!("expected `{sign}` {place}, found {found}"));
        if let Some(advice) = habits::advice(place, self.text_of(self.here())) {
            told = told.help(advice);
        } else if matches!(sign, ";" | "}" | ")" | "]") {
            told = told.help(format!("add `{sign}`"));
        }
        self.tell(told);
        false
    }

    pub(super) fn name(&mut self, what: &str) -> Option<Name> {
        if self.token().kind != Kind::Word {
            self.tell_expected(what);
            return None;
        }
        let span = self.take();
        Some(Name { text: self.text_of(span).to_owned(), span })
    }

    pub(super) fn path(&mut self) -> Option<Path> {
        let first = self.name("a name")?;
        let mut span = first.span;
        let mut parts = vec![first];
        while self.at_sign(".") && matches!(self.kind_after(1), Kind::Word) {
            self.take();
            if let Some(part) = self.name("a name") {
                span = span.to(part.span);
                parts.push(part);
            }
        }
        Some(Path { parts, span })
    }

    // Telling.

    pub(super) fn found(&self) -> String {
        match self.token().kind {
            Kind::End => "the end of the file".to_owned(),
            _ => format!("`{}`", self.text_of(self.here()).chars().take(40).collect::<String>()),
        }
    }

    pub(super) fn is_told(&self) -> bool {
        self.told_at == Some(self.at)
    }

    pub(super) fn tell(&mut self, problem: Problem) {
        if !self.is_told() && self.problems.len() < PROBLEMS_MAX {
            self.problems.push(problem);
        }
        self.told_at = Some(self.at);
    }

    pub(super) fn tell_expected(&mut self, what: &str) {
        let code = if self.token().kind == Kind::Unknown { Code::Stray } else { Code::Expected };
        let told = Problem::error(code, self.here(), format!("expected {what}, found {}", self.found()));
        self.tell(match habits::advice(what, self.text_of(self.here())) {
            Some(advice) => told.help(advice),
            None => told,
        });
    }

    /// After looking ahead: nothing was told.
    pub(super) fn forget_telling(&mut self) {
        self.told_at = None;
    }

    // Finding the way back.

    /// Skips to after the next `;` on this level, or before a `}` or a word that begins something new.
    pub(super) fn recover(&mut self, stop: impl Fn(&str) -> bool) {
        let mut depth = 0usize;
        while !self.at_end() {
            match self.token().kind {
                Kind::Sign("{" | "(" | "[") => depth += 1,
                Kind::Sign("}") if depth == 0 => return,
                Kind::Sign("}" | ")" | "]") => depth = depth.saturating_sub(1),
                Kind::Sign(";") if depth == 0 => {
                    self.take();
                    return;
                }
                Kind::Word if self.word().is_some_and(&stop) && (depth == 0 || self.fresh_line()) => return,
                _ => {}
            }
            self.take();
        }
    }

    /// Skips a `{ … }` with everything inside; stands on `{`.
    pub(super) fn skip_block(&mut self) {
        let open = self.here();
        let mut depth = 0usize;
        loop {
            match self.token().kind {
                Kind::Sign("{") => depth += 1,
                Kind::Sign("}") => depth -= 1,
                Kind::End => {
                    let told = Problem::error(Code::Unclosed, open, "this `{` is never closed");
                    self.tell(told.help("add `}` where the block ends"));
                    return;
                }
                _ => {}
            }
            self.take();
            if depth == 0 {
                return;
            }
        }
    }

    /// One level deeper, or a told problem.
    pub(super) fn deeper<T>(&mut self, inside: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.depth >= DEPTH_MAX {
            let told = Problem::error(Code::TooDeep, self.here(), format!("nested deeper than {DEPTH_MAX} levels"));
            self.tell(told.help("split this into several components or statements"));
            return None;
        }
        self.depth += 1;
        let result = inside(self);
        self.depth -= 1;
        result
    }
}
