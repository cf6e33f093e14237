//! Which connections take part. All others are answered at once, as without the module.

use super::{ON, Setting, run_pairs, with_pairs};

const PARTICIPANTS: &str = include_str!("participants.c");

const AUTO: Setting = Setting { mode: "auto", ..ON };

#[test]
fn servers_on_non_blocking_sockets_take_part_and_nobody_else() {
    with_pairs(PARTICIPANTS, |program| {
        for setting in [ON, AUTO] {
            program.run_all(setting, &["usual", "unix_socket"]);
        }
        let others = ["client", "blocking", "pipes", "filter", "memory", "own"];
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
    run_pairs(PARTICIPANTS, &["lone"]);
}

#[test]
fn threads_take_part_that_wait_for_events_and_keep_their_connections() {
    run_pairs(PARTICIPANTS, &["new_thread", "handed_over"]);
}

#[test]
fn a_process_with_an_interpreter_takes_part_if_it_has_the_stack_or_is_told_to() {
    with_pairs(PARTICIPANTS, |program| {
        let library = |name| {
            let path = program.folder.library("", name, &[]);
            path.display().to_string()
        };
        let (lua, ruby) = (library("libluajit-5.1.so.2"), library("libruby-3.1.so.3.1"));
        // From 3.2 on jobs have stacks that are large enough, for one that takes any stack.
        let version = unsafe { openssl_sys::OpenSSL_version_num() };
        let with_lua = match version >= 0x3020_0000 {
            true => "interpreter_allowed",
            false => "interpreter",
        };
        program.run(AUTO, &format!("{with_lua} 3 {lua}"));
        program.run(AUTO, &format!("interpreter_late 3 {lua}"));
        program.run(AUTO, &format!("interpreter 3 {ruby}"));
        for path in [lua, ruby] {
            program.run(ON, &format!("interpreter_allowed 3 {path}"));
        }
    });
}
