//! When paused handshakes go on: as soon as their batch has run, when the loop has nothing else to do, or
//! when they have waited for long enough.

use super::{ON, Setting, batches_are_of_eight, with_pairs};

const TURNS: &str = include_str!("turns.c");

#[test]
fn a_full_batch_goes_on_before_the_call_that_filled_it_returns() {
    if !batches_are_of_eight() {
        return;
    }
    with_pairs(TURNS, |program| {
        program.run_all(ON, &["full", "full_by_read", "full_and_failed"]);
        program.run(ON, "full_by_early_data 3");
        // A deadline is for those that are not full.
        program.run(
            Setting {
                deadline: 1_000_000,
                ..ON
            },
            "full 3",
        );
    });
}

#[test]
fn a_loop_that_does_not_come_round_sends_a_limited_number_of_answers() {
    with_pairs(TURNS, |program| {
        let numbers = program.run(ON, "endless 3").numbers;
        let &[at_first, then] = &numbers[..] else {
            panic!("two numbers: {numbers:?}");
        };
        // Up to 64 go on, and each of those that fill a batch itself is answered besides.
        assert!((16..=72).contains(&at_first), "{at_first} answers");
        assert_eq!(then, 96, "answers when the loop has come round");
    });
}

#[test]
fn fewer_run_together_when_the_loop_is_idle_if_that_is_faster() {
    if !batches_are_of_eight() {
        return;
    }
    with_pairs(TURNS, |program| {
        for deadline in [0, 1_000_000] {
            let setting = Setting { deadline, ..ON };
            let outcome = program.run(setting, "partial 3");
            assert_eq!((outcome.signed, outcome.derived), (5, 5), "{deadline}");
            let outcome = program.run(setting, "partial 2");
            assert_eq!(outcome.signed, 5, "{deadline}");
            // RSA needs three.
            let outcome = program.run(setting, "two 2");
            assert_eq!(outcome.signed, 0, "{deadline}");
        }
    });
}

#[test]
fn in_a_loop_that_is_never_idle_they_wait_for_a_time_and_not_for_turns() {
    with_pairs(TURNS, |program| {
        for deadline in [0, 1_000_000] {
            program.run_all(Setting { deadline, ..ON }, &["busy"]);
        }
        program.run(Setting { deadline: 1, ..ON }, "due 2");
    });
}
