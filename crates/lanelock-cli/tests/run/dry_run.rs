//! `lanelock run --dry-run`: what it says of programs, and that it starts none.

use lanelock_testkit::has_lanes;

use super::Scene;

/// What it says of a program that is linked with these libraries and has this name.
fn verdict(options: &[&str], name: &str, libraries: &[&str]) -> Option<(i32, String)> {
    let scene = Scene::new();
    if !has_lanes() {
        eprintln!(
            "SKIPPED: this CPU has no lanes for public keys, of which the command tells first"
        );
        return None;
    }
    let started = scene.path("started");
    let text = format!(
        "#include <stdio.h>\nint main(void) {{ fclose(fopen(\"{}\", \"w\")); }}",
        started.display()
    );
    // Linked with what it has no use for.
    let mut args = vec!["-Wl,--no-as-needed"];
    args.extend(libraries);
    let program = scene.cc(&text, &args, name);
    let mut command = scene.run(options);
    let output = command.arg("--").arg(program).output().unwrap();
    assert!(!started.exists(), "it was started");
    let said = String::from_utf8(output.stdout).unwrap();
    let (path, said) = said.split_once(": ").expect("the program first");
    assert!(path.ends_with(name), "{path}");
    Some((output.status.code().unwrap(), said.to_owned()))
}

#[test]
fn servers_with_an_event_loop_are_given_asynchronous_handshakes() {
    for (options, name) in [
        (&["--dry-run"][..], "nginx"),
        (&["--dry-run"][..], "hitch"),
        (&["--dry-run", "--event-loop", "on"], "lighttpd"),
    ] {
        let Some((code, said)) = verdict(options, name, &["-lssl"]) else {
            return;
        };
        assert_eq!(code, 0, "{said}");
        assert!(
            said.starts_with("asynchronous handshakes from its event loop"),
            "{said}"
        );
    }
}

#[test]
fn threads_of_a_server_wait_for_each_other() {
    let Some((code, said)) = verdict(&["--dry-run"], "apache2", &["-lssl"]) else {
        return;
    };
    assert_eq!(code, 0, "{said}");
    assert!(
        said.contains("a thread for each handshake (--threads auto)"),
        "{said}"
    );
}

#[test]
fn servers_with_a_mode_of_their_own_are_told_how_to_switch_it_on() {
    let Some((code, said)) = verdict(&["--dry-run"], "haproxy", &["-lssl"]) else {
        return;
    };
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("ssl-mode-async"), "{said}");
}

#[test]
fn what_gains_nothing_is_named_with_the_reason() {
    for (options, name, libraries, why) in [
        (
            &["--dry-run", "--threads", "off"][..],
            "apache2",
            &["-lssl"][..],
            "--threads off",
        ),
        (&["--dry-run"], "server", &["-lcrypto"], "--event-loop on"),
        (&["--dry-run"], "server", &[], "not linked with OpenSSL"),
        (&["--dry-run"], "dovecot", &[], "BIO_new_bio_pair"),
        (&["--dry-run"], "memcached", &["-lssl"], "in another"),
        (
            &["--dry-run", "--event-loop", "off"],
            "nginx",
            &["-lssl"],
            "--event-loop off",
        ),
    ] {
        let Some((code, said)) = verdict(options, name, libraries) else {
            return;
        };
        assert_eq!(code, 1, "{said}");
        assert!(said.starts_with("runs as without lanelock: "), "{said}");
        assert!(said.contains(why), "{said}");
    }
}
