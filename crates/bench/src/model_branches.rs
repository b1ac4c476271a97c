//! `model-branches`: a large model whose independent branches run on several cores, and one for which that would not pay.

use std::sync::Arc;

use anabranch_language::{Library, Model, Options};
use anabranch_program::{Branched, Executor, Memory, Now};

use crate::timing::wall_s;
use crate::{Figure, Goal};

const BRANCHES: usize = 4;
const ATOMS_PER_BRANCH: usize = 1_000;
/// Every tenth component of a branch multiplies matrices.
const CHEAP_BEFORE_DEAR: usize = 9;
const REPEATS: usize = 9;

/// Chains side by side, after one component they share and before one that adds them up.
fn model(dear: bool) -> Model {
    let mut text = "component Large { ports in Q x, out Q y;
        component Split { ports in Q x, out Q v; implementation Math { v = 0.5 * x; } }
        component Link { ports in Q u, out Q v; implementation Math {
            static Q last = 0;
            v = 0.5 * last + 0.25 * u;
            if v > 10 v = 10; end
            last = v;
        } }
        component Filter { ports in Q u, out Q v; implementation Math {
            static Q^{12,12} p = 0.01 * eye(12);
            Q^{12,12} f = 0.5 * eye(12);
            f(1,2) = 0.1 * saturate(u, -1, 1);
            p = f * p * f' + 0.01 * eye(12);
            v = u + p(1,1);
        } }
        component Meet { ports in Q v[4], out Q y; implementation Math { y = v(1) + v(2) + v(3) + v(4); } }
        instance Split split; instance Meet meet; connect x -> split.x; connect meet.y -> y;\n"
        .to_owned();
    for branch in 0..BRANCHES {
        for i in 0..ATOMS_PER_BRANCH {
            let kind = if dear && i % (CHEAP_BEFORE_DEAR + 1) == CHEAP_BEFORE_DEAR { "Filter" } else { "Link" };
            text += &format!("instance {kind} b{branch}n{i};\n");
            match i {
                0 => text += &format!("connect split.v -> b{branch}n0.u;\n"),
                _ => text += &format!("connect b{branch}n{}.v -> b{branch}n{i}.u;\n", i - 1),
            }
        }
        text += &format!("connect b{branch}n{}.v -> meet.v[{}];\n", ATOMS_PER_BRANCH - 1, branch + 1);
    }
    text += "}";
    let library = Library::of([("Large.emam".into(), text)]);
    Model::build(&library, "Large", &Options::default()).unwrap_or_else(|told| panic!("{}", told[0]))
}

/// The least wall-clock time per tick of each way; they take turns. A busy neighbour only ever makes it longer.
fn least_s<const N: usize>(ticks: u64, mut ways: [&mut dyn FnMut(u64); N]) -> [f64; N] {
    let mut least = [f64::INFINITY; N];
    for repeat in 0..=REPEATS as u64 {
        for (way, least) in ways.iter_mut().zip(&mut least) {
            let before = wall_s();
            (0..ticks).for_each(|tick| way(repeat * ticks + tick));
            *least = least.min((wall_s() - before) / ticks as f64);
        }
    }
    least
}

/// Micro seconds per tick in order and with all branches, and what the plan thinks of it.
fn measured(dear: bool, ticks: u64) -> (f64, f64, bool) {
    let model = model(dear);
    assert_eq!(model.order().len(), BRANCHES * ATOMS_PER_BRANCH + 2);
    let program = model.program();
    let pays = Branched::compile(program.clone(), 2).expect("compiles").is_some();
    let executor = Executor::new(Arc::clone(program));
    // Without asking whether it pays.
    let mut branched = Branched::compile_if(program.clone(), 2, 0.0).expect("compiles").expect("has branches");
    assert_eq!(branched.branches(), BRANCHES);
    let (mut one, mut two): (Memory, Memory) = (program.memory(), program.memory());
    let input = |memory: &mut Memory, tick: u64| memory.inputs()[0] = (tick % 7) as f64;
    let [one_s, two_s] = least_s(
        ticks,
        [
            &mut |tick| {
                input(&mut one, tick);
                executor.tick(&mut one, Now { tick, ..Now::default() }).expect("no fault");
            },
            &mut |tick| {
                input(&mut two, tick);
                branched.tick(&mut two, Now { tick, ..Now::default() }).expect("no fault");
            },
        ],
    );
    assert!(one.saved().iter().zip(two.saved()).all(|(a, b)| a.to_bits() == b.to_bits()), "other bits");
    (one_s * 1e6, two_s * 1e6, pays)
}

pub(crate) fn run() -> Vec<Figure> {
    let (one, two, pays) = measured(true, 200);
    let (cheap_one, cheap_two, cheap_pays) = measured(false, 2_000);
    let word = |pays: bool| if pays { "branches are used" } else { "branches are not used" };
    vec![
        Figure::new("µs per tick, 4 002 components, 400 with matrices: one thread", one, Goal::None),
        Figure::new(format!("the same on two threads ({})", word(pays)), two, Goal::None),
        Figure::new("one thread / two threads", one / two, Goal::AtLeast(1.5)),
        Figure::new("µs per tick, 4 002 cheap components: one thread", cheap_one, Goal::None),
        Figure::new(format!("the same on two threads ({})", word(cheap_pays)), cheap_two, Goal::None),
        Figure::new("one thread / two threads", cheap_one / cheap_two, Goal::None),
    ]
}
