//! Interrupted searches continue as if nothing had happened.

use anabranch_kernel::{Seed, from_bytes, to_bytes};
use anabranch_search::{
    Edge, Ended, Evaluation, Goal, Method, NoEdge, Progress, Report, Search, SearchError, Settings, Space,
};

use crate::functions::{mixed, mixed_space, ranges};

/// Keeps everything as bytes and stops after some batches.
#[derive(Default)]
struct Log {
    evaluations: Vec<Vec<u8>>,
    progress: Vec<u8>,
    batches_left: u64,
    broken: bool,
}

impl Edge for Log {
    fn batch_done(&mut self, new: &[Evaluation], progress: &Progress) -> Result<(), String> {
        if self.broken {
            return Err("disk full".into());
        }
        self.evaluations.extend(new.iter().map(to_bytes));
        self.progress = to_bytes(progress);
        self.batches_left -= 1;
        Ok(())
    }
    fn goes_on(&mut self) -> bool {
        self.batches_left > 0
    }
}

impl Log {
    fn read(&self) -> (Vec<Evaluation>, Progress) {
        let evaluations = self.evaluations.iter().map(|bytes| from_bytes(bytes).expect("written")).collect();
        (evaluations, from_bytes(&self.progress).expect("written"))
    }
}

fn prepared<'a>(method: Method, space: &'a Space, settings: &Settings) -> Search<'a> {
    let layout = space.layout().expect("something varies");
    let optimiser = method.build(&layout, settings.seed, settings.simulations).expect("the method fits");
    Search::new(space, &(mixed as fn(&[f64]) -> f64), optimiser, settings.clone()).expect("good settings")
}

fn whole(method: Method, space: &Space, settings: &Settings) -> Report {
    prepared(method, space, settings).run(&mut NoEdge)
}

#[test]
fn a_resumed_search_makes_the_same_evaluations() {
    let space = mixed_space().with_constraint("a + b < 1.2", |v| v[0] + v[1] - 1.2);
    for method in Method::ALL {
        for goal in [Goal::Worst, Goal::Different(3)] {
            let settings = Settings { goal, batch: 3, violated_below: 0.9, ..Settings::first(Seed(6), 70) };
            let expected = whole(method, &space, &settings);
            for stop_after in [1, 5, 14] {
                let mut log = Log { batches_left: stop_after, ..Log::default() };
                let first = prepared(method, &space, &settings).run(&mut log);
                let (mut evaluations, progress) = log.read();
                if first.ended == Ended::Interrupted {
                    // A torn batch behind the last saved one does not count.
                    evaluations.push(evaluations[0].clone());
                }
                let resumed =
                    prepared(method, &space, &settings).resume(evaluations, progress).expect("its own progress");
                assert_eq!(resumed.run(&mut NoEdge), expected, "{} after {stop_after} batches", method.name());
            }
        }
    }
}

#[test]
fn progress_of_another_search_is_refused() {
    let space = mixed_space();
    let settings = Settings { goal: Goal::Worst, ..Settings::first(Seed(6), 20) };
    let mut log = Log { batches_left: 4, ..Log::default() };
    prepared(Method::Random, &space, &settings).run(&mut log);
    let (evaluations, progress) = log.read();
    let other = Settings { seed: Seed(7), ..settings.clone() };
    for search in [prepared(Method::Random, &space, &other), prepared(Method::Halton, &space, &settings)] {
        assert!(matches!(search.resume(evaluations.clone(), progress.clone()), Err(SearchError::Other)));
    }
    let other_space = ranges(5, 0.0, 3.0);
    let search = prepared(Method::Random, &other_space, &settings);
    assert!(matches!(search.resume(evaluations.clone(), progress.clone()), Err(SearchError::Other)));
    let short = prepared(Method::Random, &space, &settings).resume(evaluations[..2].to_vec(), progress.clone());
    assert!(matches!(short, Err(SearchError::Damaged(_))));
    let mut torn = progress;
    torn.optimiser.truncate(1);
    assert!(matches!(
        prepared(Method::Random, &space, &settings).resume(evaluations, torn),
        Err(SearchError::State(_))
    ));
}

#[test]
fn a_search_that_cannot_save_ends_with_everything_it_has() {
    let settings = Settings { goal: Goal::Worst, batch: 5, ..Settings::first(Seed(6), 20) };
    let mut log = Log { batches_left: 9, broken: true, ..Log::default() };
    let report = prepared(Method::Random, &mixed_space(), &settings).run(&mut log);
    assert_eq!((report.ended, report.evaluations.len()), (Ended::NotSaved("disk full".into()), 5));
}
