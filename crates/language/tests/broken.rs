//! Broken models: each mistake is told with its code at its place.

use std::path::PathBuf;

use anabranch_language::{Code, Library, Options, check_library};

/// Inner components that bodies of the kind `C` can use.
const INNER: &str = "component One { port in Q in1, out Q out1; implementation Math { out1 = in1; } } \
    component Odd { port in Q a, out Q b; implementation Math { b = a; } } \
    component Many { port in Q in1[3], out Q out1; implementation Math { out1 = in1(1); } } \
    component Needs(Q a) { port in Q in1, out Q out1; implementation Math { out1 = a; } } \
    component Size<N1 n> { port in Q in1, out Q out1; implementation Math { out1 = n; } } \
    component Two<N1 n = 1, N1 o = 1> { port in Q in1, out Q out1; implementation Math { out1 = n + o; } } \
    component Generic<N1 n> { port in Q in1, out Q out1; implementation Math { out1 = n; } } \
    component Whole { port in Z in1, out Z out1; implementation Math { out1 = in1; } } \
    component Metre(Q(0 m : 9 m) a) { port in Q in1, out Q out1; implementation Math { out1 = in1; } } \
    component Length { port in Q(0 m : 9 m) in1, out Q out1; implementation Math { out1 = 1; } } \
    component Matrix { port in Q^{2,2} in1, out Q out1; implementation Math { out1 = in1(1, 1); } } \
    component Small { port in Q(0:10) in1, out Q out1; implementation Math { out1 = in1; } } \
    component Limited(Q(0:1) a) { port in Q in1, out Q out1; implementation Math { out1 = a; } } \
    component Fir(Q^2 h) { port in Q in1, out Q out1; ocl inv one: sum(h) == 1; implementation Math { out1 = h(1); } } ";

fn whole(kind: &str, text: &str) -> (String, &'static str) {
    match kind {
        "M" => {
            let head = "component A { ports in Q x, in Q(0 m : 9 m) len, in Q(0 kg : 9 kg) mass, in Q^{2,3} m, in Z n, in B b, \
                        in Pair t, out Q y, out Z k, out B c, out Q^{2,2} s; implementation Math {\n";
            (format!("{head}{text}\n}} }}"), "A.emam")
        }
        "C" => {
            let head = "component A { ports in Q x, in Q x2, in Q xs[3], in Q(0 m : 9 m) len, in Q(0:100) big, in Pair t, out Q y, out Q y2, \
                        out Q(0 kg : 9 kg) mass; ";
            (format!("{head}{INNER}\n{text}\n}}"), "A.emam")
        }
        "E" => {
            let head = "component A { ports in Q x, in Col c, out Q y, out B d, out Col e; implementation Math { y = 0; d = c == Col.R; e = c;\n";
            (format!("{head}{text}\n}} }}"), "A.emam")
        }
        "S" => (format!("stream T for Tested {{\n{text}\n}}"), "T.stream"),
        "D" => (text.to_owned(), "A.struct"),
        _ => (text.to_owned(), "A.emam"),
    }
}

#[test]
fn every_mistake_is_told_at_its_place() {
    let mut wrong = Vec::new();
    let mut number = 0;
    let mut seen = std::collections::BTreeSet::new();
    for row in include_str!("broken.txt").lines().filter(|row| !row.is_empty() && !row.starts_with('#')) {
        let (code, rest) = row.split_once(' ').unwrap();
        let (kind, marked) = rest.split_once(' ').unwrap();
        number += 1;
        let (text, name) = whole(kind, marked);
        let at = text.find('«');
        let text = text.replace('«', "");
        let library = Library::of([
            (PathBuf::from("m").join(name), text.clone()),
            (PathBuf::from("m/Pair.struct"), "struct Pair { Q a; Q b; }".to_owned()),
            (
                PathBuf::from("m/Tested.emam"),
                "component Tested { port in Q x, in Q(0 m : 9 m) len, out Q y; implementation Math { y = x; } }"
                    .to_owned(),
            ),
            (PathBuf::from("m/Col.enum"), "enum Col { R | G | B }".to_owned()),
            (PathBuf::from("m/Dol.enum"), "enum Dol { R | X }".to_owned()),
            (PathBuf::from("m/User.emam"), "component User { port in A x; }".to_owned()),
        ]);
        let library = if kind == "D" { library } else { without_user(&library) };
        let told = check_library(&library, &Options::default());
        seen.extend(told.iter().map(|d| d.code));
        let place = |d: &anabranch_language::Diagnostic| {
            d.file.ends_with(name) && at.is_none_or(|at| d.span.start as usize == at)
        };
        if !told.iter().any(|d| d.code.text() == code && place(d)) {
            let said: Vec<String> = told.iter().map(|d| format!("{}@{} {}", d.code, d.span.start, d.message)).collect();
            wrong.push(format!("{row}\n    wanted {code}@{at:?}, told {said:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {number}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(number >= 150, "only {number}");
    println!("{number} broken models, {} of {} codes", seen.len(), Code::ALL.len());
}

/// The same library without the component that uses the struct under test.
fn without_user(library: &Library) -> Library {
    Library::of(
        library.files().filter(|(_, f)| !f.path.ends_with("User.emam")).map(|(_, f)| (f.path.clone(), f.text.clone())),
    )
}

#[test]
fn one_file_can_have_many_mistakes() {
    let text = "component A {\n  port in Q x\n  out Q y;\n  connect x y;\n  instance B;\n  implementation Math {\n    y = ;\n    if x\n  }\n}";
    let told = anabranch_language::syntax::parse(text).problems;
    assert!(told.len() >= 5, "{told:#?}");
}
