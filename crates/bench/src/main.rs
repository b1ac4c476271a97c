//! Speed as ratios within one run: `cargo xtask bench [name]`.

mod counters;
mod memory;
mod timing;

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let benches: &[(&str, fn())] = &[("counters", counters::run), ("memory", memory::run)];
    for (name, run) in benches {
        if wanted.is_empty() || wanted.iter().any(|w| w == name) {
            println!("== {name}");
            run();
        }
    }
}
