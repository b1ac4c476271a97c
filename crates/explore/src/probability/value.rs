//! Backwards through the graph: the probability of failure after every segment.
//!
//! The state of the flow is (cell, previous choice), and that is what a segment is: it ends in a cell, by its choice. Its
//! value is shared among the states that continue it. The sum over all paths is the one that a forward pass over
//! (cell, previous choice) gives, and the value of every segment comes with it.

use anabranch_kernel::{Choice, Likelihood};

use super::flow::{End, Flow, Members};

/// Probability of failure after each step of the flow.
pub(super) fn failure_values(flow: &Flow, likelihood: &Likelihood) -> Vec<f64> {
    let outlook = Outlook { flow, likelihood };
    fill(flow, |end, choice, values, scratch| match end {
        End::Violated => 1.0,
        End::Over => 0.0,
        End::Open(members) => outlook.mean(members, choice, values, scratch),
    })
}

/// Probability of failure from each start.
pub(super) fn start_values(flow: &Flow, values: &[f64], likelihood: &Likelihood) -> Vec<f64> {
    let (outlook, mut scratch) = (Outlook { flow, likelihood }, Vec::new());
    let starts = flow.starts().map(|node| node..node + 1);
    starts.map(|start| outlook.mean(&start, Likelihood::BEFORE, values, &mut scratch)).collect()
}

/// Computes a value for each step from those of later steps: level by level backwards where the graph has levels; where
/// it has loops, as often as the longest run has segments, each time from the values of one segment less.
pub(super) fn fill(flow: &Flow, of: impl Fn(&End, Choice, &[f64], &mut Vec<f64>) -> f64) -> Vec<f64> {
    let (mut values, mut scratch) =
        (vec![of(&End::Over, Choice::NONE, &[], &mut Vec::new()); flow.steps.len()], Vec::new());
    if flow.is_layered {
        let mut order: Vec<usize> = (0..flow.steps.len()).collect();
        order.sort_by_key(|&at| std::cmp::Reverse(flow.steps[at].level));
        for at in order {
            let step = &flow.steps[at];
            values[at] = of(&step.end, step.choice, &values, &mut scratch);
        }
        return values;
    }
    for _ in 0..flow.levels {
        let next: Vec<f64> = flow.steps.iter().map(|step| of(&step.end, step.choice, &values, &mut scratch)).collect();
        if next == values {
            break;
        }
        values = next;
    }
    values
}

/// What lies ahead of states.
struct Outlook<'a> {
    flow: &'a Flow,
    likelihood: &'a Likelihood,
}

impl Outlook<'_> {
    /// The value ahead of some states after a choice, shared among them.
    fn mean(&self, members: &Members, previous: Choice, values: &[f64], scratch: &mut Vec<f64>) -> f64 {
        let nodes = self.flow.nodes(members);
        let mut sum = 0.0;
        for &node in nodes {
            let steps = self.flow.steps_of(node);
            if steps.is_empty() {
                continue;
            }
            self.likelihood.probabilities(previous, self.flow.live(node), scratch);
            sum += scratch.iter().zip(&values[steps]).map(|(p, value)| p * value).sum::<f64>();
        }
        sum / nodes.len() as f64
    }
}
