//! Threads that wait for each other, in every order of their steps: the line of the module, built of
//! loom's parts.

#![allow(unsafe_code, missing_docs)]
#![allow(clippy::undocumented_unsafe_blocks, clippy::unwrap_used)]

#[path = "../../src/combine/line.rs"]
mod line;
mod primitives;

use line::{Claimed, Line, Waiter};
use loom::thread;
use primitives::{Arc, Patience};

/// Tries every order of the steps of `threads` threads that each bring a number to a line in which
/// `full` fill a batch. The first waits for others, or not, as it likes.
fn meet(threads: usize, full: usize, patience: Patience, preemptions: usize) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.check(move || {
        let line = Arc::new(Line::new());
        let others: Vec<_> = (1..threads)
            .map(|number| {
                let line = Arc::clone(&line);
                thread::spawn(move || bring(&line, number, full, patience))
            })
            .collect();
        bring(&line, 0, full, patience);
        for other in others {
            other.join().unwrap();
        }
        assert_eq!(line.len(), 0, "somebody was left standing");
    });
}

/// A thread's part. Its result is its own number's, or it has none: it came alone, or lost patience.
fn bring(line: &Line<Box<usize>>, number: usize, full: usize, patience: Patience) {
    let collect = |first: &Waiter<_>| {
        if first.is_waiting() {
            thread::yield_now();
        }
    };
    let serve = |claimed: Vec<Claimed<Box<usize>>>| {
        let is_alone = claimed.len() == 1;
        for (waiter, work) in claimed {
            waiter.finish((!is_alone).then(|| Box::new(*work + 100)));
        }
    };
    let result = line.meet(Box::new(number), full, collect, serve, |_| patience);
    assert!(result.is_none_or(|result| *result == number + 100));
}

#[test]
fn two_threads_never_sleep_for_ever_and_get_their_own_results() {
    meet(2, 2, Patience::Endless, 5);
    meet(2, 8, Patience::Endless, 5);
}

#[test]
fn three_threads_never_sleep_for_ever_and_get_their_own_results() {
    meet(3, 2, Patience::Endless, 2);
    meet(3, 3, Patience::Endless, 2);
}

#[test]
fn who_leaves_harms_nobody_and_leaves_nothing() {
    meet(2, 2, Patience::Over, 5);
    meet(3, 2, Patience::Over, 2);
}
