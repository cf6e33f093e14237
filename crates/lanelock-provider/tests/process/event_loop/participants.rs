//! Which connections take part. All others are answered at once, as without the module.

use super::{ON, Setting, with_pairs};

const PARTICIPANTS: &str = include_str!("participants.c");

const AUTO: Setting = Setting { mode: "auto", ..ON };

#[test]
fn servers_on_non_blocking_tcp_sockets_take_part_and_nobody_else() {
    with_pairs(PARTICIPANTS, |program| {
        for setting in [ON, AUTO] {
            program.run_all(setting, &["usual"]);
        }
        let others = [
            "client",
            "blocking",
            "unix_socket",
            "filter",
            "memory",
            "own",
        ];
        program.run_all(ON, &others);
    });
}

#[test]
fn switched_off_or_without_lanes_nobody_takes_part() {
    with_pairs(PARTICIPANTS, |program| {
        let off = Setting { mode: "off", ..ON };
        let no_lanes = Setting {
            tier: Some("portable"),
            ..ON
        };
        for setting in [off, no_lanes] {
            program.run_all(setting, &["none"]);
        }
    });
}

#[test]
fn a_connection_without_company_takes_no_part() {
    with_pairs(PARTICIPANTS, |program| program.run_all(ON, &["lone"]));
}

#[test]
fn threads_take_part_that_wait_for_events_and_keep_their_connections() {
    with_pairs(PARTICIPANTS, |program| {
        program.run_all(ON, &["new_thread", "handed_over"]);
    });
}

#[test]
fn a_process_with_an_interpreter_takes_part_only_if_it_is_told_to() {
    with_pairs(PARTICIPANTS, |program| {
        let library = program.folder.library("", "libluajit-5.1.so.2", &[]);
        let library = library.display();
        program.run(AUTO, &format!("interpreter 3 {library}"));
        program.run(ON, &format!("interpreter_allowed 3 {library}"));
    });
}
