//! What goes wrong while a handshake is paused, or goes on without its program: who is concerned learns
//! of it as from its own call, and the others come to their end.

use super::{ON, with_pairs};

const FAULTS: &str = include_str!("faults.c");

#[test]
fn a_handshake_that_fails_while_it_is_resumed_fails_in_the_programs_next_call() {
    with_pairs(FAULTS, |program| {
        program.run_all(ON, &["gone", "alert"]);
        program.run(ON, "no_secret 3");
        program.run(ON, "bad_finished 3");
    });
}

#[test]
fn messages_that_do_not_fit_into_the_socket_leave_later() {
    with_pairs(FAULTS, |program| program.run_all(ON, &["full"]));
}

#[test]
fn a_connection_that_is_given_up_while_it_is_paused_harms_no_other() {
    with_pairs(FAULTS, |program| {
        let tests = [
            "freed",
            "freed_elsewhere",
            "shut_down",
            "cleared",
            "cleared_elsewhere",
            "hurried",
        ];
        program.run_all(ON, &tests);
    });
}

#[test]
fn without_jobs_a_handshake_runs_as_without_the_module() {
    with_pairs(FAULTS, |program| program.run_all(ON, &["no_jobs"]));
}

#[test]
fn nothing_pauses_in_callbacks_and_no_handshake_more_than_twice() {
    with_pairs(FAULTS, |program| {
        program.run_all(ON, &["callbacks", "two_pauses"]);
    });
}

#[test]
fn any_call_may_begin_a_handshake_and_any_wait_end_a_pause() {
    with_pairs(FAULTS, |program| {
        program.run_all(ON, &["first_calls", "fortified"]);
    });
}
