//! Connectors: where values come from, and where they go.

use super::Kind;
use super::ast::{Component, Connector, Endpoint, Index, Source};
use super::parser::Parser;
use crate::diagnostic::{Code, Problem};

impl Parser<'_> {
    pub(super) fn connector(&mut self, component: &mut Component) -> Option<()> {
        let start = self.take();
        let source = match self.token().kind {
            Kind::Sign("#") => Source::Nothing(self.take()),
            Kind::Number | Kind::Text | Kind::Sign("-" | "[" | "(") => Source::Constant(self.expr()?),
            Kind::Word if matches!(self.word(), Some("true" | "false")) => Source::Constant(self.expr()?),
            _ => Source::Port(self.endpoint("the source of the connector")?),
        };
        if !self.at_sign("->") {
            let found = self.found();
            let told =
                Problem::error(Code::Expected, self.here(), format!("expected `->` in the connector, found {found}"));
            self.tell(told.help("write `connect source -> target;`"));
            return None;
        }
        self.take();
        let mut targets = Vec::new();
        if self.at_sign("#") {
            self.take();
        } else {
            loop {
                targets.push(self.endpoint("the target of the connector")?);
                if !self.eat(",") {
                    break;
                }
                if self.at_sign(";") {
                    self.tell(
                        Problem::error(Code::Stray, self.last(), "a `,` after the last target").help("remove it"),
                    );
                    break;
                }
            }
        }
        self.expect(";", "after the connector");
        component.connectors.push(Connector { span: start.to(self.last()), source, targets });
        Some(())
    }

    pub(super) fn endpoint(&mut self, what: &str) -> Option<Endpoint> {
        let start = self.here();
        let mut steps = Vec::new();
        let mut all = false;
        loop {
            let name = self.name(what)?;
            let index = if self.at_sign("[") { Some(self.index()?) } else { None };
            steps.push((name, index));
            if self.eat(".*") {
                all = true;
                break;
            }
            if !self.eat(".") {
                break;
            }
            if self.eat("*") {
                all = true;
                break;
            }
        }
        Some(Endpoint { span: start.to(self.last()), steps, all })
    }

    pub(super) fn index(&mut self) -> Option<Index> {
        self.take();
        let index = if self.at_sign(":") {
            Index::All(self.take())
        } else {
            let first = self.additive()?;
            if self.eat(":") { Index::Slice(first, self.additive()?) } else { Index::One(first) }
        };
        self.expect("]", "after the index").then_some(index)
    }
}
