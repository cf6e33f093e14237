//! Programs that are not to have lanelock, or cannot: they start as without it, and are told why.

use std::fs;
use std::process::{Command, Output};

use lanelock_testkit::copy_program;

use super::Scene;

/// What asks for FIPS, or leaves the default provider out; and a word of what is said.
const CLOSED: [(&str, &str); 5] = [
    ("base = b\n[b]\nactivate = 1\n", "activates base"),
    (
        "fips = f\nbase = b\n[f]\nactivate = 1\n[b]\nactivate = 1\n",
        "FIPS",
    ),
    ("fips = f\ndefault = f\n[f]\nactivate = 1\n", "FIPS"),
    (
        "default = b\n[b]\nactivate = 1\n[a]\ndefault_properties = fips=yes\n",
        "FIPS",
    ),
    (
        "default = b\n[b]\nactivate = 1\n[a]\ndefault_properties = ?fips=yes\n",
        "FIPS",
    ),
];

fn configuration(scene: &Scene, providers: &str) -> std::path::PathBuf {
    let path = scene.path("user.cnf");
    let text = "openssl_conf = i\n[i]\nproviders = p\nalg_section = a\n[p]\n";
    fs::write(&path, text.to_owned() + providers).unwrap();
    path
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn a_policy_stays_as_it_is() {
    let scene = Scene::new();
    for (providers, reason) in CLOSED {
        let path = configuration(&scene, providers);
        let of = |mut command: Command| {
            command.env("OPENSSL_CONF", &path);
            command.env("LANELOCK_PROVIDER", scene.path("lanelock.so"));
            command.env("XDG_CACHE_HOME", scene.path(""));
            command.output().unwrap()
        };
        let under = |args: &[&str]| {
            let mut command = scene.lanelock();
            command.args(args);
            of(command)
        };
        let alone = of(Command::new("env"));
        for options in [&["--"][..], &["--stats", "--deadline", "5", "--"]] {
            let Output {
                status,
                stdout,
                stderr,
            } = under(&[options, &["env"]].concat());
            assert!(status.success());
            assert_eq!(text(&stdout), text(&alone.stdout), "{providers}");
            let said = text(&stderr);
            for part in [reason, "user.cnf", "env starts as without lanelock"] {
                assert!(said.contains(part), "{part}: {said}");
            }
        }
        let shown = under(&["--show-config", "--", "env"]);
        assert!(shown.status.success() && shown.stdout.is_empty());
    }
}

/// The base provider has no digests, and libcrypto loads no other beside it.
#[test]
fn without_the_default_provider_openssl_has_no_digests() {
    let scene = Scene::new();
    let message = scene.path("message");
    fs::write(&message, "text").unwrap();
    let path = configuration(&scene, CLOSED[0].0);
    for mut command in [Command::new("openssl"), {
        let mut command = scene.lanelock();
        command.args(["--", "openssl"]);
        command
    }] {
        command.args(["dgst", "-md5"]).arg(&message);
        let output = command.env("OPENSSL_CONF", &path).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert!(output.stdout.is_empty(), "{}", text(&output.stdout));
    }
}

/// As the provider's page has it: nothing to say, nothing to change.
#[test]
fn a_configuration_that_has_lanelock_already_is_fine() {
    let scene = Scene::new();
    let path = configuration(
        &scene,
        "default = d\nlanelock = l\n[d]\nactivate = 1\n[l]\nmodule = ./lanelock.so\n\
         activate = 1\n[a]\ndefault_properties = ?provider=lanelock\n",
    );
    let run = |args: &[&str]| {
        let mut command = scene.lanelock();
        command.args(args).env("OPENSSL_CONF", &path);
        command.output().unwrap()
    };
    assert_eq!(text(&run(&["--", "true"]).stderr), "");
    let shown = text(&run(&["--show-config", "--", "true"]).stdout);
    assert!(
        shown.ends_with("default_properties = ?provider=lanelock\n"),
        "{shown}"
    );
}

#[test]
fn an_empty_name_is_no_configuration() {
    let scene = Scene::new();
    let mut command = scene.lanelock();
    command.args(["--show-config", "--", "openssl"]);
    let output = command.env("OPENSSL_CONF", "").output().unwrap();
    let shown = text(&output.stdout);
    assert!(
        output.status.success() && !shown.contains(".include"),
        "{shown}"
    );
}

#[test]
fn a_setuid_program_is_told_what_it_does_not_read() {
    let user = Command::new("id").arg("-u").output().unwrap();
    if text(&user.stdout).trim() != "0" {
        eprintln!("SKIPPED: a program of another user takes root to make");
        return;
    }
    let scene = Scene::new();
    let path = scene.path("env");
    copy_program("/usr/bin/env", &path);
    let changed = [("chown", "65534"), ("chmod", "u+s,a+x")];
    for (command, argument) in changed {
        let status = Command::new(command).arg(argument).arg(&path).status();
        assert!(status.unwrap().success());
    }
    let output = scene
        .run(&["--", path.to_str().unwrap()])
        .assert()
        .success();
    let said = text(&output.get_output().stderr);
    assert!(
        said.contains("setuid") && said.contains("openssl.cnf"),
        "{said}"
    );
    let environment = text(&output.get_output().stdout);
    assert!(!environment.contains("OPENSSL_CONF"), "{environment}");
}
