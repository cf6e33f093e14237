//! `lanelock run --dry-run`: what it says of programs, and that it starts none.

use std::os::unix::fs::PermissionsExt;

use lanelock_testkit::{has_lanes, write_script};

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
    for name in ["apache2", "mariadbd", "mysqld"] {
        let Some((code, said)) = verdict(&["--dry-run"], name, &["-lssl"]) else {
            return;
        };
        assert_eq!(code, 0, "{said}");
        assert!(
            said.contains("a thread for each handshake (--threads auto)"),
            "{said}"
        );
    }
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
fn what_shows_only_when_a_program_runs_is_named() {
    for (name, libraries, words) in [
        ("server", &["-lssl"][..], &["BIO_new_bio_pair", "--stats"]),
        ("python3.11", &[], &["--threads auto", "asyncio"]),
        (
            "ruby3.1",
            &[],
            &["if each handshake has a thread", "in memory"],
        ),
    ] {
        let Some((code, said)) = verdict(&["--dry-run"], name, libraries) else {
            return;
        };
        assert_eq!(code, 0, "{said}");
        for word in words {
            assert!(said.contains(word), "{word}: {said}");
        }
    }
}

#[test]
fn a_script_is_what_its_interpreter_is() {
    let scene = Scene::new();
    if !has_lanes() {
        eprintln!("SKIPPED: this CPU has no lanes for public keys");
        return;
    }
    let script = scene.path("service");
    for (name, code, word) in [("python3", 0, "asyncio"), ("sh", 1, "a script of one")] {
        let interpreter = scene.cc("int main(void) { return 0; }", &[], name);
        write_script(&script, &format!("#!{}\n", interpreter.display()));
        let output = scene
            .run(&["--dry-run", "--"])
            .arg(&script)
            .output()
            .unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains(word), "{said}");
    }
}

/// A library of this name stands for one that speaks TLS, a string for a libcrypto in the program.
#[test]
fn other_ways_to_tls_are_named_with_what_to_do() {
    let scene = Scene::new();
    if !has_lanes() {
        eprintln!("SKIPPED: this CPU has no lanes for public keys");
        return;
    }
    let soname = "-Wl,-soname,libgnutls.so.30";
    scene.cc("int tls;", &["-shared", "-fPIC", soname], "libgnutls.so.30");
    let rpath = format!("-Wl,-rpath,{}", scene.folder.path().display());
    let args = ["-Wl,--no-as-needed", "libgnutls.so.30", &rpath];
    let other = scene.cc("int main(void) { return 0; }", &args, "other");
    let text = "const char *folder = \"OPENSSLDIR: \\\"/usr/local/ssl\\\"\"; int main(void) { return !folder; }";
    let own = scene.cc(text, &[], "own");
    for (program, why) in [
        (other, "it speaks TLS by libgnutls.so.30: "),
        (
            own,
            "it contains a copy of OpenSSL, which does not load the module: ",
        ),
    ] {
        let output = scene
            .run(&["--dry-run", "--"])
            .arg(program)
            .output()
            .unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(1), "{said}");
        for word in [why, "libssl.so.3", "lanelock run -- nginx"] {
            assert!(said.contains(word), "{word}: {said}");
        }
    }
}

#[test]
fn a_static_program_and_a_setuid_one_are_told_what_to_do() {
    let scene = Scene::new();
    let text = "int main(void) { return 0; }";
    let fixed = scene.cc(text, &["-static"], "fixed");
    let said = scene.refusal(&["--dry-run", "--", fixed.to_str().unwrap()]);
    for word in ["it is statically linked", "libcrypto.so.3"] {
        assert!(said.contains(word), "{word}: {said}");
    }
    if !rustix::process::getuid().is_root() {
        eprintln!("SKIPPED: only root can give a program to another user");
        return;
    }
    let theirs = scene.cc(text, &["-lssl"], "theirs");
    std::os::unix::fs::chown(&theirs, Some(65534), None).unwrap();
    std::fs::set_permissions(&theirs, PermissionsExt::from_mode(0o4755)).unwrap();
    let output = scene
        .run(&["--dry-run", "--"])
        .arg(theirs)
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    for word in ["setuid", "the system's own openssl.cnf"] {
        assert!(said.contains(word), "{word}: {said}");
    }
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
        (&["--dry-run"], "stunnel4", &["-lssl"], "provider!=fips"),
        (&["--dry-run"], "node", &[], "a server in front of it"),
        (&["--dry-run"], "java", &[], "JSSE"),
        (&["--dry-run"], "bash", &[], "name the program that serves"),
        (
            &["--dry-run", "--threads", "off"],
            "python3",
            &[],
            "--threads off",
        ),
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
