//! Components: ports, instances, connectors, inner components.

use super::ast::{
    Arg, Behaviour, Component, Direction, Expr, Generic, GenericKind, Initial, Instance, Invariant, Name, Param, Port,
    Type,
};
use super::parser::Parser;
use super::types::built_in;
use super::{Kind, Span};
use crate::diagnostic::{Code, Problem};

/// Words that begin an element of a component.
fn begins_element(word: &str) -> bool {
    matches!(word, "port" | "ports" | "instance" | "connect" | "component" | "implementation" | "ocl")
}

impl Parser<'_> {
    pub(super) fn component(&mut self) -> Option<Component> {
        self.deeper(|parser| parser.component_inside(false)).map(|(component, _)| component)
    }

    /// A component and, as in `component Inner name { … }`, the name of the instance that it is at once.
    fn component_inside(&mut self, may_be_named: bool) -> Option<(Component, Option<Name>)> {
        let start = self.here();
        self.modifiers();
        if !self.eat_word("component") {
            self.tell_expected("`component`, `struct`, `enum` or `stream`");
            return None;
        }
        let interface = self.eat_word("interface");
        let name = self.name("the name of the component")?;
        let mut component = Component {
            span: start,
            name,
            interface,
            generics: vec![],
            params: vec![],
            implements: None,
            ports: vec![],
            instances: vec![],
            connectors: vec![],
            inner: vec![],
            invariants: vec![],
            behaviour: None,
        };
        self.head(&mut component);
        let named = may_be_named && self.token().kind == Kind::Word && self.sign_after(1, "{");
        let instance = if named { self.name("the name of the instance") } else { None };
        let open = self.here();
        if !self.expect("{", "before the body of the component") {
            self.recover(begins_element);
            if !self.word().is_some_and(begins_element) {
                return Some((component, instance));
            }
        }
        self.body(&mut component);
        if self.at_end() {
            let named = &component.name.text;
            let told = Problem::error(Code::Unclosed, open, format!("the body of component `{named}` is never closed"));
            self.tell(told.help("add `}` at its end"));
        } else {
            self.take();
        }
        component.span = start.to(self.last());
        Some((component, instance))
    }

    fn modifiers(&mut self) {
        loop {
            match self.word() {
                Some("dynamic") => {
                    let span = self.take();
                    self.refuse_dynamic(span, "a dynamic component");
                }
                Some("virtual" | "nonvirtual" | "df") => {
                    self.take();
                }
                Some("non") if self.sign_after(1, "-") => {
                    self.take();
                    self.take();
                    self.take();
                }
                _ => return,
            }
        }
    }

    fn refuse_dynamic(&mut self, span: Span, what: &str) {
        let message = format!("{what}: components that change while they run are not supported");
        self.refuse(Code::Dynamic, span, &message, "connect everything at the start and switch between values");
    }

    fn head(&mut self, component: &mut Component) {
        if self.at_sign("<")
            && let Some(generics) = self.generics()
        {
            component.generics = generics;
        }
        if self.at_sign("(")
            && let Some(params) = self.params()
        {
            component.params = params;
        }
        if self.eat_word("implements") || self.eat_word("extends") {
            component.implements = self.named_type("the name of the interface");
        }
    }

    fn generics(&mut self) -> Option<Vec<Generic>> {
        self.take();
        let mut generics = Vec::new();
        while !self.at_sign(">") && !self.at_end() {
            let lone = self.token().kind == Kind::Word
                && matches!(self.kind_after(1), Kind::Sign("," | ">" | "="))
                && self.word().is_none_or(|word| built_in(word).is_none() || !matches!(self.kind_after(1), Kind::Word));
            if lone {
                let name = self.name("a generic parameter")?;
                let default = if self.eat("=") { Some(self.ty()?) } else { None };
                generics.push(Generic { name, kind: GenericKind::Type(default) });
            } else {
                let ty = self.ty()?;
                let name = self.name("the name of the generic parameter")?;
                let default = if self.eat("=") { Some(self.additive()?) } else { None };
                generics.push(Generic { name, kind: GenericKind::Value(ty, default) });
            }
            if !self.eat(",") {
                break;
            }
        }
        self.expect(">", "after the generic parameters").then_some(generics)
    }

    fn params(&mut self) -> Option<Vec<Param>> {
        self.take();
        let mut params = Vec::new();
        while !self.at_sign(")") && !self.at_end() {
            self.eat_word("adaptable");
            let ty = self.ty()?;
            let name = self.name("the name of the parameter")?;
            let array = self.array()?;
            let default = if self.eat("=") { Some(self.expr()?) } else { None };
            params.push(Param { ty, name, array, default });
            if !self.eat(",") {
                break;
            }
        }
        self.expect(")", "after the parameters").then_some(params)
    }

    /// `[n]`, if it is there. The outer `None` says that it could not be read.
    #[expect(clippy::option_option, reason = "reading can fail, and there can be nothing to read")]
    fn array(&mut self) -> Option<Option<Expr>> {
        if !self.eat("[") {
            return Some(None);
        }
        let size = self.additive()?;
        if self.at_sign(":") {
            let span = self.here();
            self.refuse_dynamic(span, "an array that grows");
            self.take();
            self.additive()?;
        }
        self.expect("]", "after the number of elements").then_some(Some(size))
    }

    fn body(&mut self, component: &mut Component) {
        while !self.at_end() && !self.at_sign("}") {
            if self.eat(";") {
                continue;
            }
            let before = self.mark();
            if self.element(component).is_none() {
                if self.mark() == before && !self.word().is_some_and(begins_element) {
                    self.take();
                }
                self.recover(begins_element);
                if self.mark() == before {
                    self.take();
                }
            }
        }
    }

    fn element(&mut self, component: &mut Component) -> Option<()> {
        match self.word() {
            Some("port" | "ports") => self.ports(component),
            Some("instance") => self.instances(component),
            Some("connect") => self.connector(component),
            Some("ocl") => self.invariant(component),
            Some("implementation") => self.behaviour(component),
            Some("dynamic") if matches!(self.word_after(1), Some("port" | "ports")) => {
                let span = self.take();
                self.refuse_dynamic(span, "dynamic ports");
                self.ports(component)
            }
            Some("component" | "virtual" | "nonvirtual" | "df" | "dynamic" | "non") => self.inner(component),
            _ if self.begins_event() => {
                let span = self.here();
                self.refuse_dynamic(span, "an event");
                self.skip_event()
            }
            _ => {
                self.tell_expected("`port`, `instance`, `connect`, `component`, `implementation` or `}`");
                None
            }
        }
    }

    fn begins_event(&self) -> bool {
        self.at_word("event")
            || self.at_sign("::")
            || self.token().kind == Kind::Unknown && self.text_of(self.here()) == "@"
    }

    fn skip_event(&mut self) -> Option<()> {
        while !self.at_end() && !self.at_sign("{") && !self.at_sign("}") {
            self.take();
        }
        if self.at_sign("{") {
            self.skip_block();
        }
        Some(())
    }

    fn inner(&mut self, component: &mut Component) -> Option<()> {
        let (inner, instance) = self.deeper(|parser| parser.component_inside(true))?;
        if let Some(name) = instance {
            component.instances.push(lone_instance(&inner, name));
        } else if self.token().kind == Kind::Word && self.sign_after(1, ";") && !self.word().is_some_and(begins_element)
        {
            let name = self.name("the name of the instance")?;
            component.instances.push(lone_instance(&inner, name));
            self.take();
        }
        component.inner.push(inner);
        Some(())
    }

    fn ports(&mut self, component: &mut Component) -> Option<()> {
        self.take();
        loop {
            if component.ports.len() > 1 && self.word().is_some_and(begins_element) {
                self.tell_expected("another port after `,`");
                return None;
            }
            let port = self.port()?;
            component.ports.push(port);
            if !self.eat(",") {
                break;
            }
            if self.at_sign(";") {
                self.tell(Problem::error(Code::Stray, self.last(), "a `,` after the last port").help("remove it"));
            }
            if self.at_sign(";") {
                break;
            }
        }
        if matches!(self.word(), Some("in" | "out")) {
            let told = Problem::error(Code::Expected, self.last_end(), "expected `,` between two ports");
            self.tell(told.help("add `,`"));
            return self.ports_again(component);
        }
        self.expect(";", "after the ports");
        Some(())
    }

    /// Goes on with the next port after a missing comma.
    fn ports_again(&mut self, component: &mut Component) -> Option<()> {
        self.forget_telling();
        while matches!(self.word(), Some("in" | "out")) {
            let port = self.port()?;
            component.ports.push(port);
            self.eat(",");
        }
        self.expect(";", "after the ports");
        Some(())
    }

    pub(super) fn last_end(&self) -> Span {
        let end = self.last().end as usize;
        Span::new(end, end)
    }

    fn port(&mut self) -> Option<Port> {
        let mut config = false;
        while let Some(word @ ("adaptable" | "config" | "dynamic")) = self.word() {
            let span = self.take();
            match word {
                "dynamic" => self.refuse_dynamic(span, "a dynamic port"),
                _ => config = true,
            }
        }
        let direction = match self.word() {
            Some("in") => Direction::In,
            Some("out") => Direction::Out,
            _ => {
                self.tell_expected("`in` or `out`");
                return None;
            }
        };
        self.take();
        self.properties();
        let ty = self.ty()?;
        let name = self.name("the name of the port")?;
        let array = self.array()?;
        Some(Port { direction, config, ty, name, array })
    }

    fn instances(&mut self, component: &mut Component) -> Option<()> {
        self.take();
        let ty = self.named_type("the name of a component")?;
        let args = if self.at_sign("(") { self.args()? } else { vec![] };
        let initial = if self.at_sign("{") { self.initial_values()? } else { vec![] };
        loop {
            let name = self.name("the name of the instance")?;
            let array = self.array()?;
            let (ty, args, initial) = (ty.clone(), args.clone(), initial.clone());
            component.instances.push(Instance { ty, args, initial, name, array });
            if !self.eat(",") {
                break;
            }
        }
        self.expect(";", "after the instance");
        Some(())
    }

    /// `{ port(t=0) = 1, ports[2](t=0) ~= 7 }`
    fn initial_values(&mut self) -> Option<Vec<Initial>> {
        self.take();
        let mut values = Vec::new();
        while !self.at_sign("}") && !self.at_end() {
            let port = self.name("the name of a port")?;
            let index = if self.at_sign("[") { Some(self.index()?) } else { None };
            if self.at_sign("(") {
                self.moment();
            }
            self.eat("~");
            if !self.eat("~=") {
                self.expect("=", "before the initial value");
            }
            values.push(Initial { port, index, value: self.expr()? });
            if !self.eat(",") && !self.eat(";") {
                break;
            }
        }
        self.expect("}", "after the initial values").then_some(values)
    }

    /// `(t=0)`: a port is given a value at the start, and at no other moment.
    fn moment(&mut self) {
        self.take();
        let begin = self.here();
        let is_start = self.eat_word("t") && self.eat("=") && self.text_of(self.here()).parse() == Ok(0.0);
        if !is_start {
            let message = "a port is given a value at the start only";
            self.tell(Problem::error(Code::NotSupported, begin, message).help("write `(t=0)`"));
        }
        while !self.at_end() && !self.eat(")") {
            self.take();
        }
    }

    fn invariant(&mut self, component: &mut Component) -> Option<()> {
        self.take();
        if !self.eat_word("inv") {
            self.tell_expected("`inv` after `ocl`");
            return None;
        }
        let name = if self.token().kind == Kind::Word && self.sign_after(1, ":") { self.name("a name") } else { None };
        self.expect(":", "before the invariant");
        let condition = self.expr()?;
        self.expect(";", "after the invariant");
        component.invariants.push(Invariant { name, condition });
        Some(())
    }

    fn behaviour(&mut self, component: &mut Component) -> Option<()> {
        let start = self.take();
        match self.word() {
            Some("Math") => {
                self.take();
            }
            Some(word) => {
                let network = matches!(word, "CNN" | "MXNET" | "NN" | "DL" | "GAN");
                let (code, message) = if network {
                    (Code::NeuralNetwork, format!("`implementation {word}`: neural networks are not supported"))
                } else {
                    (Code::Behaviour, format!("`implementation {word}` is not supported"))
                };
                let span = self.take();
                self.refuse(code, span, &message, "write the behaviour as `implementation Math { … }`");
                while !self.at_end() && !self.at_sign("{") {
                    self.take();
                }
                if self.at_sign("{") {
                    self.skip_block();
                }
                return Some(());
            }
            None => self.tell_expected("`Math` after `implementation`"),
        }
        self.expect("{", "before the statements");
        let body = self.all_statements();
        self.expect("}", "after the statements");
        if component.behaviour.is_some() {
            let message = "a second `implementation` in the same component";
            self.refuse(Code::Duplicate, start, message, "join the two");
        } else {
            component.behaviour = Some(Behaviour { span: start.to(self.last()), body });
        }
        Some(())
    }

    /// Statements up to the closing brace; an `end` too many is told and passed.
    fn all_statements(&mut self) -> Vec<super::ast::Stmt> {
        let mut body = self.statements();
        while matches!(self.word(), Some("end" | "else" | "elseif")) {
            let word = self.word().unwrap_or_default().to_owned();
            let told = Problem::error(Code::Stray, self.here(), format!("`{word}` without `if`, `for` or `while`"));
            self.tell(told.help("remove it"));
            self.take();
            body.extend(self.statements());
        }
        body
    }
}

fn lone_instance(inner: &Component, name: Name) -> Instance {
    let path = super::ast::Path { parts: vec![inner.name.clone()], span: inner.name.span };
    let base = super::ast::Base::Named(path);
    let ty = Type { span: name.span, base, args: vec![], ranges: vec![], dims: vec![] };
    Instance { ty, args: Vec::<Arg>::new(), initial: vec![], name, array: None }
}
