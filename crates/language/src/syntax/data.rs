//! Struct and enum files.

use super::Kind;
use super::ast::{Enum, Struct};
use super::parser::Parser;

impl Parser<'_> {
    pub(super) fn data_struct(&mut self) -> Option<Struct> {
        self.take();
        let name = self.name("the name of the struct")?;
        self.expect("{", "before the fields");
        let mut fields = Vec::new();
        while !self.at_sign("}") && !self.at_end() {
            let before = self.mark();
            match self.field() {
                Some(field) => fields.push(field),
                None => {
                    if self.mark() == before {
                        self.take();
                    }
                    self.recover(|_| false);
                }
            }
        }
        self.expect("}", "after the fields");
        Some(Struct { name, fields })
    }

    fn field(&mut self) -> Option<(super::ast::Type, super::ast::Name)> {
        let ty = self.ty()?;
        let name = self.name("the name of the field")?;
        if !self.eat(",") {
            self.expect(";", "after the field");
        }
        Some((ty, name))
    }

    pub(super) fn data_enum(&mut self) -> Option<Enum> {
        self.take();
        let name = self.name("the name of the enum")?;
        self.expect("{", "before the values");
        let mut values = Vec::new();
        while self.token().kind == Kind::Word {
            values.push(self.name("a value")?);
            if !self.eat("|") && !self.eat(",") {
                break;
            }
        }
        self.eat(";");
        self.expect("}", "after the values");
        Some(Enum { name, values })
    }
}
