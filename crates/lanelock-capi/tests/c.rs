//! C, C++ and Go programs that are compiled and linked with the library as `make install-c` installs
//! it.

#![allow(missing_docs)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

/// Where the library is installed for these tests.
static INSTALLED: LazyLock<PathBuf> = LazyLock::new(|| {
    let archive = std::env::current_exe().expect("Linux");
    let archive = archive.with_file_name("liblanelock_capi.a");
    let prefix = temporary("installed");
    let _absent_at_first = std::fs::remove_dir_all(&prefix);
    let mut install = Command::new(top().join("tools/install-c"));
    install.arg(archive).env("PREFIX", &prefix);
    install.env_remove("LIBDIR").env_remove("DESTDIR");
    succeed(&mut install);
    prefix
});

/// Programs in C that test every function.
const PROGRAMS: [&str; 4] = ["symmetric", "misuse", "keys", "threads"];

fn top() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn temporary(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// A file of this crate.
fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Runs a command that finds the installed library, and succeeds.
fn succeed(command: &mut Command) -> Output {
    let output = command.output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{said}");
    output
}

/// As [`succeed`], with what the dynamic linker and pkg-config need; gives what is printed.
fn with_library(command: &mut Command) -> String {
    command.env("LD_LIBRARY_PATH", INSTALLED.join("lib"));
    command.env("PKG_CONFIG_PATH", INSTALLED.join("lib/pkgconfig"));
    String::from_utf8(succeed(command).stdout).expect("UTF-8")
}

fn is_missing(tool: &str) -> bool {
    let version = Command::new(tool).arg("--version").output();
    // An emulator may start a program that does not exist, and end it with a failure.
    let missing = !version.is_ok_and(|said| said.status.success());
    if missing {
        println!("skipped: {tool} is not installed");
    }
    missing
}

/// What pkg-config says of the installed library.
fn pkg_config(arguments: &[&str]) -> Vec<String> {
    let mut pkg_config = Command::new("pkg-config");
    let said = with_library(pkg_config.args(arguments).arg("lanelock"));
    said.split_whitespace().map(str::to_owned).collect()
}

/// Compiles a program, warnings denied, and links it with the shared library.
fn compile(source: &str, name: &str, options: &[&str]) -> PathBuf {
    let program = temporary(name);
    let is_cpp = source.ends_with(".cpp");
    let mut compiler = Command::new(if is_cpp { "c++" } else { "cc" });
    compiler.args([
        "-Wall",
        "-Wextra",
        "-Wconversion",
        "-Werror",
        "-g",
        "-O1",
        "-pthread",
    ]);
    compiler
        .args(options)
        .arg(file(source))
        .arg("-o")
        .arg(&program);
    succeed(compiler.args(pkg_config(&["--cflags", "--libs"])));
    program
}

fn run(program: &Path) -> String {
    with_library(&mut Command::new(program))
}

#[test]
fn the_example_in_c_is_built_with_pkg_config_alone() {
    let options = ["-std=c99", "-pedantic"];
    let printed = run(&compile("examples/burst.c", "burst", &options));
    assert!(printed.contains("encrypted 32 packets"), "{printed}");
    assert!(printed.contains("31 packets; number 7 was forged"));
}

#[test]
fn examples_in_cpp_are_built_with_pkg_config_alone() {
    if is_missing("c++") {
        return;
    }
    let options = ["-x", "c++", "-std=c++11"];
    let printed = run(&compile("examples/burst.c", "burst++11", &options));
    assert!(printed.contains("encrypted 32 packets"), "{printed}");
    let options = ["-std=c++20", "-pedantic"];
    let printed = run(&compile("examples/burst.cpp", "burst++", &options));
    assert!(printed.contains("f20015ad  abc"), "{printed}");
}

#[test]
fn the_example_in_go_is_built_with_pkg_config_alone() {
    let version = Command::new("go").arg("version").output();
    let version = version.map_or(Vec::new(), |said| said.stdout);
    let version = String::from_utf8_lossy(&version);
    let minor = version.split("go1.").nth(1);
    let minor = minor.and_then(|it| it.split(['.', ' ']).next()?.parse().ok());
    if minor.is_none_or(|minor: u32| minor < 21) {
        println!("skipped: Go 1.21 or later is not installed");
        return;
    }
    let mut go = Command::new("go");
    go.args(["run", "."]).current_dir(file("examples/go"));
    go.env("GOCACHE", temporary("go"))
        .env("GOFLAGS", "-buildvcs=false")
        .env("CGO_ENABLED", "1");
    let printed = with_library(&mut go);
    assert_eq!(printed, "sealed 16\nopened 15\nmessage number 15\n");
}

#[test]
fn every_function_works_and_says_what_is_wrong() {
    for name in PROGRAMS {
        let printed = run(&compile(
            &format!("tests/c/{name}.c"),
            name,
            &["-std=gnu99"],
        ));
        assert!(printed.contains("all as it should be"), "{printed}");
    }
}

#[test]
fn address_sanitizer_finds_nothing() {
    let probe = temporary("probe");
    let mut cc = Command::new("cc");
    cc.args(["-fsanitize=address,undefined", "-x", "c", "-", "-o"])
        .arg(&probe);
    cc.stdin(std::fs::File::open(file("tests/c/probe.c")).expect("a file"));
    if !cc.output().expect("a compiler").status.success() {
        println!("skipped: the compiler has no AddressSanitizer");
        return;
    }
    for name in PROGRAMS {
        let options = [
            "-std=gnu99",
            "-fsanitize=address,undefined",
            "-fno-sanitize-recover=all",
        ];
        run(&compile(
            &format!("tests/c/{name}.c"),
            &format!("{name}-asan"),
            &options,
        ));
    }
}

#[test]
fn valgrind_finds_nothing() {
    if is_missing("valgrind") {
        return;
    }
    for name in PROGRAMS {
        let program = compile(
            &format!("tests/c/{name}.c"),
            &format!("{name}-valgrind"),
            &[],
        );
        let mut valgrind = Command::new("valgrind");
        valgrind.args([
            "--quiet",
            "--error-exitcode=9",
            "--leak-check=full",
            "--fair-sched=yes",
        ]);
        valgrind.args([
            "--show-leak-kinds=definite",
            "--errors-for-leak-kinds=definite",
        ]);
        valgrind.arg(program);
        with_library(&mut valgrind);
    }
}

#[test]
fn programs_are_linked_with_the_static_library() {
    let program = temporary("burst-static");
    let mut cc = Command::new("cc");
    cc.arg(file("examples/burst.c")).arg("-o").arg(&program);
    let flags = pkg_config(&["--static", "--cflags", "--libs"]);
    let flags = flags.iter().map(|flag| match flag.as_str() {
        "-llanelock" => "-l:liblanelock.a",
        other => other,
    });
    succeed(cc.args(flags));
    let printed = succeed(&mut Command::new(program)).stdout;
    assert!(String::from_utf8_lossy(&printed).contains("encrypted 32 packets"));
}

/// What a contestant of `lanelock perf` answers, a line for each request.
fn answers(program: &Path, requests: &str) -> Vec<String> {
    let file = temporary("requests");
    std::fs::write(&file, requests).expect("written");
    let requests = std::fs::File::open(file).expect("a file");
    let answers = with_library(Command::new(program).stdin(requests));
    answers.lines().map(str::to_owned).collect()
}

#[test]
fn the_contestant_of_perf_does_the_same_work_as_the_one_over_openssl() {
    let peers = temporary("peers");
    for peer in ["evp", "capi"] {
        let mut make = Command::new("make");
        make.arg("--no-print-directory")
            .arg("-C")
            .arg(top().join("peers"));
        with_library(make.arg(format!("OUT={}", peers.display())).arg(peer));
    }
    let mut requests = String::new();
    for work in [
        "algorithm=aes-128-cbc operation=encrypt pattern=64,1024",
        "algorithm=aes-128-ctr operation=decrypt pattern=64,33 layout=separate stride=128",
        "algorithm=chacha20 operation=encrypt pattern=64,33 iv=12",
        "algorithm=hmac-sha1 operation=verify pattern=64,500 tag=12",
        "algorithm=aes-128-gmac operation=compute pattern=64",
        "algorithm=sha256 operation=compute pattern=64,7",
        "algorithm=aes-128-gcm operation=decrypt pattern=64,1000 aad=16 layout=separate",
        "algorithm=aes-128-cbc+hmac-sha1 operation=encrypt pattern=64,512",
    ] {
        for route in ["", " route=pointers"] {
            requests += &format!("prepare {work} sessions=3 pool=64{route}\ndigest\n");
        }
    }
    // OpenSSL's has no such route, and gives the same digests as without.
    let theirs = answers(
        &peers.join("lanelock-peer-evp"),
        &requests.replace(" route=pointers", ""),
    );
    let ours = answers(&peers.join("lanelock-peer-capi"), &requests);
    let digests =
        |answers: &[String]| -> Vec<_> { answers.iter().skip(1).step_by(2).cloned().collect() };
    assert_eq!(digests(&ours), digests(&theirs), "{ours:?}");
    assert!(
        digests(&ours)
            .iter()
            .all(|digest| digest.starts_with("digest fnv1a="))
    );
}

#[test]
fn cmake_finds_both_libraries() {
    if is_missing("cmake") {
        return;
    }
    let build = temporary("cmake");
    // CMake keeps the paths of its first run, which may have been another checkout's.
    let _none_yet = std::fs::remove_file(build.join("CMakeCache.txt"));
    let mut cmake = Command::new("cmake");
    cmake
        .arg("-S")
        .arg(file("tests/cmake"))
        .arg("-B")
        .arg(&build);
    cmake.arg(format!("-DCMAKE_PREFIX_PATH={}", INSTALLED.display()));
    cmake.arg(format!("-DBURST={}", file("examples/burst.c").display()));
    succeed(&mut cmake);
    succeed(Command::new("cmake").arg("--build").arg(&build));
    for name in ["shared", "static"] {
        assert!(run(&build.join(name)).contains("encrypted 32 packets"));
    }
}

#[test]
fn the_shared_library_exports_what_the_header_declares_with_its_version() {
    let library = INSTALLED.join("lib/liblanelock.so.0");
    let mut nm = Command::new("nm");
    let symbols = succeed(
        nm.args(["-D", "--defined-only", "--with-symbol-versions"])
            .arg(&library),
    );
    let symbols = String::from_utf8(symbols.stdout).expect("ASCII");
    let names = symbols
        .lines()
        .filter_map(|line| line.split(' ').next_back());
    let mut exported: Vec<_> = names.filter(|name| *name != "LANELOCK_0").collect();
    let header = std::fs::read_to_string(INSTALLED.join("include/lanelock.h")).expect("UTF-8");
    let header = header
        .split("/* What follows is compiled")
        .next()
        .unwrap_or_default();
    let code = header
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    let calls = code.filter_map(|line| line.split_once('(')?.0.split([' ', '*']).next_back());
    let calls = calls.filter(|name| name.starts_with("lanelock_"));
    let mut declared: Vec<_> = calls.map(|name| format!("{name}@@LANELOCK_0")).collect();
    exported.sort_unstable();
    declared.sort_unstable();
    assert_eq!(exported, declared);
    assert!(exported.len() > 40);
    let dynamic = succeed(Command::new("readelf").arg("-d").arg(library));
    let dynamic = String::from_utf8_lossy(&dynamic.stdout).into_owned();
    assert!(dynamic.contains("soname: [liblanelock.so.0]"), "{dynamic}");
}
