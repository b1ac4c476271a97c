//! How many samples per second a formula is judged at.
//!
//! `cargo run --release -p anabranch-logic --example formula_speed -- <formula> <step in s> <file>`: the file has one line per
//! sample with the values of `x` and `y`. Prints the robustness and the samples per second, offline and online.

use anabranch_kernel::units::Dimension;
use anabranch_logic::{Formula, Monitor, Reading, Scratch, SignalKind, Trace};

#[expect(clippy::disallowed_methods, reason = "a measurement needs a clock")]
fn seconds(mut work: impl FnMut()) -> f64 {
    // The best of five: what the machine can do, not what else it had to do.
    let once = |work: &mut dyn FnMut()| {
        let start = std::time::Instant::now();
        work();
        start.elapsed().as_secs_f64()
    };
    (0..5).map(|_| once(&mut work)).fold(f64::INFINITY, f64::min)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(text), Some(step), Some(file)) = (arguments.next(), arguments.next(), arguments.next()) else {
        return Err("usage: formula_speed <formula> <step in s> <file>".into());
    };
    let number = SignalKind::Real(Dimension::Number);
    let formula = Formula::parse(&text, &[("x", number), ("y", number)])?;
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for line in std::fs::read_to_string(file)?.lines() {
        let mut words = line.split_whitespace();
        x.push(words.next().ok_or("a line is empty")?.parse::<f64>()?);
        y.push(words.next().ok_or("a line has one number")?.parse::<f64>()?);
    }
    let n = x.len();
    let trace = Trace::even(step.parse()?, vec![x, y])?;
    let mut values = Vec::new();
    let offline_s = seconds(|| values = formula.values(&trace, Reading::Margin).unwrap_or_default());
    let mut dense = 0.0;
    let dense_s = seconds(|| dense = formula.dense_robustness(&trace).unwrap_or(f64::NAN));
    let monitor = Monitor::new(formula.clone(), Reading::Margin);
    let mut answer = None;
    let online_s = seconds(|| {
        let (mut memory, mut scratch) = (monitor.start(), Scratch::default());
        for i in 0..n {
            let frame = [trace.signal(0)[i], trace.signal(1)[i]];
            if monitor.see_with(&mut memory, trace.time_s(i), &frame, &mut scratch).is_err() {
                return;
            }
        }
        answer = monitor.finish(&mut memory);
    });
    println!("formula   {formula}");
    println!("sampled   {:.4} {:.0} samples/s (every sample judged)", values[0], n as f64 / offline_s);
    println!("dense     {dense:.4} {:.0} samples/s", n as f64 / dense_s);
    println!("online    {:.4} {:.0} samples/s", answer.unwrap_or(f64::NAN), n as f64 / online_s);
    Ok(())
}
