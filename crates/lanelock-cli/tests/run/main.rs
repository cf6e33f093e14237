//! `lanelock run`: what it refuses, and what the program sees. The module itself is the provider's
//! matter; here any file stands in for it.

#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

mod dry_run;
mod paths;
mod policy;
mod service;
mod statistics;

use std::fs;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::Stdio;

use assert_cmd::Command;
use lanelock_testkit::{copy_program, write_script};
use tempfile::TempDir;

struct Scene {
    folder: TempDir,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("lanelock.so"), "a module").unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn lanelock(&self) -> std::process::Command {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_lanelock"));
        command.arg("run");
        command.env("LANELOCK_PROVIDER", self.path("lanelock.so"));
        command.env_remove("OPENSSL_CONF");
        command.env("XDG_CACHE_HOME", self.folder.path());
        command
    }

    fn run(&self, args: &[&str]) -> Command {
        let mut command = Command::from_std(self.lanelock());
        command.args(args);
        command
    }

    fn refusal(&self, args: &[&str]) -> String {
        let output = self.run(args).assert().code(2).get_output().clone();
        assert!(output.stdout.is_empty());
        String::from_utf8(output.stderr).unwrap()
    }

    fn stdout(&self, args: &[&str]) -> String {
        let output = self.run(args).assert().success().get_output().clone();
        String::from_utf8(output.stdout).unwrap()
    }

    /// Compiles C text.
    fn cc(&self, text: &str, args: &[&str], to: &str) -> PathBuf {
        let mut cc = std::process::Command::new("cc")
            .args(["-x", "c", "-", "-x", "none", "-o"])
            .arg(self.path(to))
            .args(args)
            .current_dir(self.folder.path())
            .stdin(Stdio::piped())
            .spawn()
            .expect("a C compiler");
        cc.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        assert!(cc.wait().unwrap().success());
        self.path(to)
    }
}

/// Root's configurations are in one place, and this one's name the folder, which goes.
impl Drop for Scene {
    fn drop(&mut self) {
        let ours = self.folder.path().display().to_string();
        let files = fs::read_dir("/run/lanelock")
            .into_iter()
            .flatten()
            .flatten();
        for path in files.map(|file| file.path()) {
            if fs::read_to_string(&path).is_ok_and(|text| text.contains(&ours)) {
                let _gone = fs::remove_file(path);
            }
        }
    }
}

#[test]
fn the_exit_code_is_the_programs() {
    let scene = Scene::new();
    for code in [0, 1, 7, 255] {
        let script = format!("exit {code}");
        scene.run(&["--", "sh", "-c", &script]).assert().code(code);
        let waited = ["--stats", "--", "sh", "-c", &script];
        scene.run(&waited).assert().code(code);
    }
    for (name, number) in [("TERM", 15), ("KILL", 9)] {
        let script = format!("kill -{name} $$");
        let mut command = scene.lanelock();
        let status = command.args(["--", "sh", "-c", &script]).status().unwrap();
        assert_eq!(status.signal(), Some(number), "{status}");
        let waited = ["--stats", "--", "sh", "-c", &script];
        scene.run(&waited).assert().code(128 + number);
    }
}

#[test]
fn the_programs_environment_differs_by_the_configuration_alone() {
    let scene = Scene::new();
    let sorted = |text: &str| {
        let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let mut plain = std::process::Command::new("env");
    plain.env("LANELOCK_PROVIDER", scene.path("lanelock.so"));
    plain.env("XDG_CACHE_HOME", scene.folder.path());
    plain.env_remove("OPENSSL_CONF");
    let plain = String::from_utf8(plain.output().unwrap().stdout).unwrap();
    let mut under = sorted(&scene.stdout(&["--", "env"]));
    under.retain(|line| !line.starts_with("OPENSSL_CONF=/"));
    assert_eq!(under, sorted(&plain));
}

/// It is there for whoever reads it later, and stays one file however often it is asked for.
#[test]
fn the_configuration_includes_the_users_and_is_kept() {
    let scene = Scene::new();
    let user = scene.path("user.cnf");
    fs::write(&user, "marker = here\nopenssl_conf = mine\n[mine]\n").unwrap();
    let run = |args: &[&str]| {
        let mut command = scene.run(args);
        let output = command.env("OPENSSL_CONF", &user).assert().success();
        String::from_utf8(output.get_output().stdout.clone()).unwrap()
    };
    let options = ["--deadline", "70", "--algorithms", "rsa,x25519", "--"];
    let path = run(&[&options[..], &["sh", "-c", "echo $OPENSSL_CONF"]].concat());
    let text = fs::read_to_string(path.trim_end()).unwrap();
    let include = format!(".include {}", user.canonicalize().unwrap().display());
    for line in [
        &*include,
        "openssl_conf = mine",
        "deadline = 70",
        "algorithms = rsa,x25519",
        "default_properties = ?provider=lanelock",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
    let again = run(&[
        &options[..],
        &["sh", "-c", "echo $OPENSSL_CONF; cat $OPENSSL_CONF"],
    ]
    .concat());
    assert_eq!(again, format!("{path}{text}"));
    let shown = run(&[
        &options[..1],
        &["70", "--algorithms", "rsa", "--algorithms", "x25519"],
        &["--show-config", "--", "sh"],
    ]
    .concat());
    assert_eq!(shown, text);
}

/// What OpenSSL itself makes of the configuration: a value of the user's own file, a section that
/// both have, and the provider that is activated. The module cannot be loaded, and is left out.
#[test]
fn openssl_reads_both() {
    let scene = Scene::new();
    let user = scene.path("user.cnf");
    let oid = "1.3.6.1.4.1.99999.77";
    let text = format!(
        "openssl_conf = mine\n[mine]\noid_section = oids\nproviders = list\n\
         [oids]\nlanelockMarker = {oid}\n[list]\nlegacy = old\ndefault = usual\n\
         [old]\nactivate = 1\n[usual]\nactivate = 1\n"
    );
    fs::write(&user, text).unwrap();
    let mut show = scene.run(&["--show-config", "--", "openssl"]);
    let shown = show
        .env("OPENSSL_CONF", &user)
        .assert()
        .success()
        .get_output()
        .clone();
    let shown = String::from_utf8(shown.stdout).unwrap();
    let without = shown.replace("lanelock = lanelock_module\n", "");
    assert_ne!(shown, without);
    let generated = scene.path("generated.cnf");
    fs::write(&generated, without).unwrap();
    let openssl = |args: &[&str]| {
        let mut command = Command::new("openssl");
        let output = command
            .args(args)
            .env("OPENSSL_CONF", &generated)
            .assert()
            .success();
        String::from_utf8(output.get_output().stdout.clone()).unwrap()
    };
    let dump = openssl(&["asn1parse", "-genstr", "OID:lanelockMarker"]);
    assert!(dump.contains("lanelockMarker"), "{dump}");
    let providers = openssl(&["list", "-providers"]);
    for name in ["default", "legacy"] {
        assert!(providers.contains(name), "{providers}");
    }
}

#[test]
fn what_cannot_run_is_refused_with_the_remedy() {
    let scene = Scene::new();
    let absent = scene.refusal(&["--", "no-such-program-anywhere"]);
    assert!(
        absent.contains("no-such-program-anywhere: there is no such command"),
        "{absent}"
    );
    let data = scene.path("data");
    fs::write(&data, "text").unwrap();
    let data = scene.refusal(&["--", data.to_str().unwrap()]);
    assert!(data.contains("it is not executable"), "{data}");
    let fixed = scene.cc("int main(void) { return 0; }", &["-static"], "fixed");
    let fixed = scene.refusal(&["--", fixed.to_str().unwrap()]);
    assert!(
        fixed.contains("it is statically linked") && fixed.contains("libcrypto.so.3"),
        "{fixed}"
    );
    let nothing = scene.refusal(&[]);
    assert!(nothing.contains("COMMAND"), "{nothing}");
    let late = scene.refusal(&["--deadline", "1000001", "--", "true"]);
    assert!(
        late.contains("--deadline") && late.contains("1000000"),
        "{late}"
    );
    let unknown = scene.refusal(&["--algorithms", "rsa,dsa", "--", "true"]);
    for part in ["'dsa'", "--algorithms", "rsa, ecdsa, ed25519, ecdh, x25519"] {
        assert!(unknown.contains(part), "{part}: {unknown}");
    }
}

#[test]
fn an_old_libcrypto_is_found_through_a_library_and_a_script() {
    let scene = Scene::new();
    let rpath = format!("-Wl,-rpath,{}", scene.folder.path().display());
    let shared = |soname: &str| format!("-Wl,-soname,{soname}");
    scene.cc(
        "int old(void) { return 1; }",
        &["-shared", "-fPIC", &shared("libcrypto.so.1.1")],
        "libcrypto.so.1.1",
    );
    scene.cc(
        "int old(void); int middle(void) { return old(); }",
        &[
            "-shared",
            "-fPIC",
            &shared("libmiddle.so"),
            "libcrypto.so.1.1",
            &rpath,
        ],
        "libmiddle.so",
    );
    scene.cc(
        "int middle(void); int main(void) { return middle(); }",
        &["libmiddle.so", &rpath],
        "program",
    );
    let script = scene.path("script");
    write_script(&script, &format!("#!{}\n", scene.path("program").display()));
    let said = scene.refusal(&["--", script.to_str().unwrap()]);
    assert!(
        said.contains("libcrypto.so.1.1") && said.contains("libcrypto.so.3"),
        "{said}"
    );
}

#[test]
fn a_module_that_is_not_there_is_named_with_the_places() {
    let scene = Scene::new();
    let mut named = scene.run(&["--", "true"]);
    let named = named
        .env("LANELOCK_PROVIDER", "/no/such/lanelock.so")
        .assert()
        .code(2);
    let said = String::from_utf8(named.get_output().stderr.clone()).unwrap();
    assert!(
        said.contains("LANELOCK_PROVIDER=/no/such/lanelock.so"),
        "{said}"
    );
    // A copy elsewhere has nothing beside it.
    let copy = scene.path("bin");
    fs::create_dir(&copy).unwrap();
    let copy = copy.join("lanelock");
    copy_program(env!("CARGO_BIN_EXE_lanelock"), &copy);
    let mut command = Command::new(&copy);
    let output = command
        .args(["run", "--", "true"])
        .env_remove("LANELOCK_PROVIDER")
        .assert()
        .code(2);
    let said = String::from_utf8(output.get_output().stderr.clone()).unwrap();
    for place in [
        "bin/lanelock.so",
        "lib/lanelock/lanelock.so",
        "LANELOCK_PROVIDER",
    ] {
        assert!(said.contains(place), "{place}: {said}");
    }
}
