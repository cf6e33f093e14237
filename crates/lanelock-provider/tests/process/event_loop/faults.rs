//! What goes wrong while a handshake is paused, or goes on without its program: who is concerned learns
//! of it as from its own call, and the others come to their end.

use super::{ON, batches_are_of_eight, run_pairs, with_pairs};

const FAULTS: &str = include_str!("faults.c");

#[test]
fn a_handshake_that_fails_while_it_is_resumed_fails_in_the_programs_next_call() {
    if !batches_are_of_eight() {
        return;
    }
    with_pairs(FAULTS, |program| {
        program.run_all(ON, &["gone", "alert"]);
        program.run(ON, "no_secret 3");
        program.run(ON, "bad_finished 3");
    });
}

#[test]
fn a_loop_that_hears_of_changes_alone_misses_nothing_that_clients_have_sent() {
    with_pairs(FAULTS, |program| {
        program.run(ON, "more_to_read 3");
        program.run(ON, "turned_away 3");
    });
}

#[test]
fn messages_that_do_not_fit_into_the_socket_leave_later() {
    run_pairs(FAULTS, &["full"]);
}

#[test]
fn a_connection_that_is_given_up_while_it_is_paused_harms_no_other() {
    if !batches_are_of_eight() {
        return;
    }
    run_pairs(
        FAULTS,
        &[
            "freed",
            "freed_elsewhere",
            "shut_down",
            "cleared",
            "cleared_elsewhere",
            "hurried",
        ],
    );
}

#[test]
fn without_jobs_a_handshake_runs_as_without_the_module() {
    run_pairs(FAULTS, &["no_jobs"]);
}

#[test]
fn nothing_pauses_in_callbacks_and_no_handshake_more_than_twice() {
    if !batches_are_of_eight() {
        return;
    }
    run_pairs(FAULTS, &["callbacks", "two_pauses"]);
}

/// From 3.2 on libcrypto lets a program allocate the stacks of jobs.
#[test]
fn callbacks_have_as_much_stack_as_on_a_thread_of_their_own() {
    with_pairs(FAULTS, |program| {
        let version = unsafe { openssl_sys::OpenSSL_version_num() };
        let expected = u64::from(version >= 0x3020_0000);
        assert_eq!(program.run(ON, "deep 3").numbers, [expected]);
    });
}

#[test]
fn any_call_may_begin_a_handshake_and_any_wait_end_a_pause() {
    if !batches_are_of_eight() {
        return;
    }
    run_pairs(FAULTS, &["first_calls", "fortified"]);
}
