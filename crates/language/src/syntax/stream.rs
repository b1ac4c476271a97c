//! Stream tests: `stream T for C(L=3m) { d: [50cm 1m] tick [1m 2m]; phi: 0° tick 15.45° +/- 0.05°; y: - tick -; }`

use super::ast::{Stream, StreamEntry, StreamLine, StreamValue, StreamValueKind};
use super::parser::Parser;
use super::{Kind, Span};
use crate::diagnostic::{Code, Problem};

impl Parser<'_> {
    pub(super) fn stream(&mut self) -> Option<Stream> {
        self.take();
        let name = self.name("the name of the stream")?;
        let component = if self.eat_word("for") {
            let ty = self.named_type("the name of a component")?;
            let args = if self.at_sign("(") { self.args()? } else { vec![] };
            Some((ty, args))
        } else {
            None
        };
        self.expect("{", "before the streams");
        let mut lines = Vec::new();
        while !self.at_sign("}") && !self.at_end() {
            if self.eat(";") {
                continue;
            }
            let before = self.mark();
            match self.stream_line() {
                Some(line) => lines.push(line),
                None => {
                    self.in_stream = false;
                    self.in_matrix = false;
                    if self.mark() == before {
                        self.take();
                    }
                    self.recover(|_| false);
                }
            }
        }
        self.expect("}", "after the streams");
        Some(Stream { name, component, lines })
    }

    fn stream_line(&mut self) -> Option<StreamLine> {
        let port = self.endpoint("the name of a port")?;
        if !self.eat("=") {
            self.expect(":", "after the name of the port");
        }
        self.in_stream = true;
        let mut values = vec![self.stream_value()?];
        while self.eat_word("tick") {
            if self.at_sign(";") {
                let told = Problem::error(Code::Expected, self.last(), "a `tick` without a value after it");
                self.tell(told.help("remove it, or add a value"));
                break;
            }
            values.push(self.stream_value()?);
        }
        self.in_stream = false;
        if !self.expect(";", "after the values") {
            return Some(StreamLine { port, values });
        }
        Some(StreamLine { port, values })
    }

    fn stream_value(&mut self) -> Option<StreamValue> {
        let start = self.here();
        let kind = self.stream_value_kind(start)?;
        Some(StreamValue { span: start.to(self.last()), kind })
    }

    fn stream_value_kind(&mut self, start: Span) -> Option<StreamValueKind> {
        if self.is_dash() {
            self.take();
            return Some(StreamValueKind::Any);
        }
        if self.at_word("tick") {
            self.tell_expected("a value");
            return None;
        }
        let slack = if self.at_sign("(") { Some(self.slack()?) } else { None };
        if self.at_word("file") && self.sign_after(1, "::") {
            self.take();
            self.take();
            if self.token().kind != Kind::Text {
                self.tell_expected("the name of a file in quotes");
                return None;
            }
            let span = self.take();
            let path = self.text_of(span).trim_matches('"').to_owned();
            return Some(StreamValueKind::File { path, slack });
        }
        if self.at_sign("[") {
            let slices = self.stream_array()?;
            return Some(StreamValueKind::Array { slices, slack });
        }
        if slack.is_some() {
            self.tell_expected("`[` or `file::` after `~`");
            return None;
        }
        let value = self.stream_scalar()?;
        if let super::ast::ExprKind::Binary(op, ..) = &value.kind
            && op.is_condition()
        {
            return Some(StreamValueKind::Compare(value));
        }
        let tolerance = self.tolerance(start)?;
        Some(StreamValueKind::One(value, tolerance))
    }

    fn stream_scalar(&mut self) -> Option<super::ast::Expr> {
        self.expr()
    }

    /// `+/- 0.1`; a minus behind it is a slip that is told, since a tolerance has no sign.
    #[expect(clippy::option_option, reason = "reading can fail, and there can be nothing to read")]
    fn tolerance(&mut self, start: Span) -> Option<Option<super::ast::Expr>> {
        if !self.eat("+/-") {
            return Some(None);
        }
        if self.at_sign("-") {
            let span = start.to(self.here());
            let told = Problem::error(Code::StreamValue, span, "a tolerance has no sign");
            self.tell(told.help("write `+/- 0.05` instead of `+/- -0.05`"));
        }
        Some(Some(self.expr()?))
    }

    /// A `-` that stands alone.
    fn is_dash(&self) -> bool {
        self.at_sign("-")
            && (matches!(self.kind_after(1), Kind::Sign(";" | "]" | "," | "}")) || self.word_after(1) == Some("tick"))
    }

    /// `(e, g)~`
    fn slack(&mut self) -> Option<(super::ast::Expr, super::ast::Expr)> {
        self.take();
        let each = self.additive()?;
        self.expect(",", "between the two tolerances");
        let share = self.additive()?;
        self.expect(")", "after the tolerances");
        self.expect("~", "after the tolerances");
        Some((each, share))
    }

    fn stream_array(&mut self) -> Option<Vec<Vec<Vec<StreamEntry>>>> {
        self.take();
        let was = std::mem::replace(&mut self.in_matrix, true);
        let slices = if self.at_sign("[") {
            let mut slices = Vec::new();
            while self.eat("[") {
                slices.push(self.rows(Self::stream_entry)?);
                self.eat(",");
            }
            self.expect("]", "after the slices");
            Some(slices)
        } else {
            self.rows(Self::stream_entry).map(|rows| vec![rows])
        };
        self.in_matrix = was;
        slices
    }

    fn stream_entry(&mut self) -> Option<StreamEntry> {
        if self.is_dash() {
            self.take();
            return Some(None);
        }
        let start = self.here();
        let value = self.expr()?;
        let tolerance = self.tolerance(start)?;
        Some(Some((value, tolerance)))
    }
}
