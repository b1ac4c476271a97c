//! What people write by the habit of another language, and how it is written here.

/// Advice for whoever was expected to write something at a place and wrote this instead.
///
/// `place` is what was expected, or behind what: `after the statement`, `the target of the connector`.
pub(super) fn advice(place: &str, found: &str) -> Option<&'static str> {
    Some(match (found, place) {
        ("[", "the target of the connector") => "several targets stand without brackets: `-> a, b`",
        ("[", "the name of the field" | "after the field") => {
            "a field of several values has its size behind the type: `Q^{3} name`"
        }
        ("[", _) => "an index stands in parentheses, `a(i)`, and a size behind the type, `Q^{3} a`",
        ("?", _) => "there is no `? :`; write `if … else … end`",
        ("AND" | "and", _) => "write `&&`",
        ("OR" | "or", _) => "write `||`",
        ("NOT" | "not", _) => "write `!`",
        ("function", _) => "there are no functions; write a component with ports",
        ("autoconnect" | "autoinstantiate", _) => "every connector is written out: `connect a -> b;`",
        ("in", "after the counter of the loop") => "a loop counts: `for i = 1:10 … end`",
        ("in" | "out", _) => "ports of one `port` are separated by `,`, the last one ends with `;`",
        ("direct", _) => "a component that passes values on at once is `df`",
        ("...", _) => "a value is missing here; `-` means any",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use crate::syntax::parse;

    /// The first mistake of a text has this advice.
    #[track_caller]
    fn check(text: &str, advice: &str) {
        let problems = parse(text).problems;
        let told = problems.first().and_then(|problem| problem.help.as_deref()).unwrap_or("no advice");
        assert!(told.contains(advice), "{text}: {told}");
    }

    #[test]
    fn habits_of_other_languages_are_told_how_it_is_written_here() {
        let maths = |body: &str| format!("component A {{ port in Q x, out Q y; implementation Math {{ {body} }} }}");
        check("component A { connect a -> [b, c]; }", "without brackets");
        check("struct S { Q[] a; }", "behind the type");
        check("struct S { Q a[3]; }", "behind the type");
        check(&maths("y = x[1];"), "in parentheses");
        check(&maths("y = x > 0 ? 1 : 0;"), "if … else … end");
        check(&maths("if ((x > 0) AND (x < 1)) y = 1; end"), "&&");
        check(&maths("for i in 1:3 y = i; end"), "for i = 1:10");
        check(&maths("Q z = minimize(x);"), "in Q y");
        check(&maths("minimize<n=1:10> Q u; in y = u; end"), "an element for each step");
        check("function y = f(x) end", "no functions");
        check("component A { autoconnect port; }", "written out");
        check("component A { port in Q x; out Q y; }", "separated by `,`");
    }
}
