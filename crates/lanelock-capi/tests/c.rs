//! C programs that are compiled and linked with the library as `make install-c` installs it.

#![allow(missing_docs)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

/// Where the library is installed for these tests.
static INSTALLED: LazyLock<PathBuf> = LazyLock::new(|| {
    let archive = std::env::current_exe().expect("Linux");
    let archive = archive.with_file_name("liblanelock_capi.a");
    let prefix = Path::new(env!("CARGO_TARGET_TMPDIR")).join("installed");
    let _absent_at_first = std::fs::remove_dir_all(&prefix);
    let mut install = Command::new(top().join("tools/install-c"));
    install.arg(archive).env("PREFIX", &prefix);
    install.env_remove("LIBDIR").env_remove("DESTDIR");
    succeed(&mut install);
    prefix
});

fn top() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// A file of this crate.
fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn succeed(command: &mut Command) -> Output {
    let output = command.output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{text}");
    output
}

/// What pkg-config says of the installed library, as a program's build asks it.
fn pkg_config(arguments: &[&str]) -> Vec<String> {
    let mut pkg_config = Command::new("pkg-config");
    let folder = INSTALLED.join("lib/pkgconfig");
    pkg_config.args(arguments).arg("lanelock");
    let output = succeed(pkg_config.env("PKG_CONFIG_PATH", folder));
    let text = String::from_utf8(output.stdout).expect("ASCII");
    text.split_whitespace().map(str::to_owned).collect()
}

/// Compiles a C program, warnings denied, and links it with the shared library.
fn compile(source: &str, name: &str, options: &[&str]) -> PathBuf {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let compiler = if source.ends_with(".cpp") {
        "c++"
    } else {
        "cc"
    };
    let mut cc = Command::new(compiler);
    cc.args([
        "-Wall",
        "-Wextra",
        "-Wconversion",
        "-Werror",
        "-g",
        "-O1",
        "-pthread",
    ]);
    cc.args(options).arg(file(source)).arg("-o").arg(&program);
    succeed(cc.args(pkg_config(&["--cflags", "--libs"])));
    program
}

/// Runs a program with the shared library.
fn run(program: &Path) -> String {
    let mut command = Command::new(program);
    let output = succeed(command.env("LD_LIBRARY_PATH", INSTALLED.join("lib")));
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn the_c99_example_runs() {
    let options = ["-std=c99", "-pedantic"];
    let printed = run(&compile("examples/burst.c", "burst", &options));
    assert!(printed.contains("encrypted 32 packets"), "{printed}");
    assert!(
        printed.contains("31 packets; number 7 was forged"),
        "{printed}"
    );
}

#[test]
fn every_form_of_an_operation_gives_the_same() {
    run(&compile("tests/c/symmetric.c", "symmetric", &["-std=c99"]));
}

#[test]
fn what_is_wrong_is_refused() {
    run(&compile("tests/c/misuse.c", "misuse", &["-std=c99"]));
}

#[test]
fn public_keys_from_c() {
    run(&compile("tests/c/keys.c", "keys", &["-std=gnu99"]));
}
