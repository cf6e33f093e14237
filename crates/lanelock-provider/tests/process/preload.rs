//! Programs that start with the module in `LD_PRELOAD`, and have nothing to do with it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::alone;
use lanelock_testkit::provider_module;

const HOST: &str = include_str!("preload/host.c");
const PLUGIN: &str = include_str!("preload/plugin.c");
const OTHER: &str = include_str!("preload/other.c");
const OTHER_PLUGIN: &str = include_str!("preload/other_plugin.c");

/// Options of the host that is linked with libssl itself.
const WITH_LIBSSL: [&str; 2] = ["-DLIBSSL", "-lssl"];

/// Programs and libraries of C, in a folder that goes with it.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// `None`, and a line that says so, where there is no C compiler.
    pub(crate) fn new() -> Option<Self> {
        if Command::new("cc").arg("--version").output().is_err() {
            eprintln!("SKIPPED: programs of C under the module; this machine has no cc");
            return None;
        }
        let name = format!("lanelock-preload-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).expect("a folder");
        Some(Self(path))
    }

    /// Compiles C text with these options of the compiler's.
    pub(crate) fn compile(&self, text: &str, to: &str, options: &[&str]) -> PathBuf {
        let to = self.0.join(to);
        let mut cc = Command::new("cc")
            .args(["-O2", "-x", "c", "-", "-x", "none", "-ldl", "-o"])
            .arg(&to)
            .args(options)
            .current_dir(&self.0)
            .stdin(Stdio::piped())
            .spawn()
            .expect("a C compiler");
        let mut input = cc.stdin.take().expect("a pipe");
        input.write_all(text.as_bytes()).expect("read");
        drop(input);
        assert!(cc.wait().expect("ended").success(), "{text}");
        to
    }

    /// Where a file of this name is, or would be.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn library(&self, text: &str, to: &str, options: &[&str]) -> PathBuf {
        let mut all = vec!["-shared", "-fPIC"];
        all.extend(options);
        self.compile(text, to, &all)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _kept = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs `program`, with and without the module preloaded: it succeeds and says the same.
fn same_with_and_without(program: &Path, plugins: &[&Path]) {
    for preloaded in [false, true] {
        let output = run(Command::new(program).args(plugins), preloaded);
        assert!(
            output.status.success(),
            "preloaded: {preloaded}, {}: {}",
            output.status,
            text(&output)
        );
        assert_eq!(text(&output), "", "preloaded: {preloaded}");
    }
}

fn run(command: &mut Command, preloaded: bool) -> Output {
    if preloaded {
        command.env("LD_PRELOAD", provider_module());
    }
    command.output().expect("started")
}

fn text(output: &Output) -> String {
    let all = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8_lossy(&all).into_owned()
}

#[test]
fn a_library_that_opens_libssl_for_itself_gets_all_of_it() {
    let _alone = alone();
    let Some(folder) = Folder::new() else { return };
    let plugin = folder.library(PLUGIN, "plugin.so", &["-lssl", "-lcrypto"]);
    same_with_and_without(&folder.compile(HOST, "host", &[]), &[&plugin]);
    let host = folder.compile(HOST, "host-libssl", &WITH_LIBSSL);
    same_with_and_without(&host, &[&plugin]);
}

/// Another copy of libssl, with objects that look different, and functions of the same version.
#[test]
fn each_connections_own_copy_of_libssl_is_called() {
    let _alone = alone();
    let Some(folder) = Folder::new() else { return };
    let version = unsafe { openssl_sys::OpenSSL_version_num() } >> 28;
    let versions = format!("OPENSSL_{version}.0.0 {{ global: *; }};");
    std::fs::write(folder.0.join("versions"), versions).expect("written");
    let here = format!("-Wl,-rpath,{}", folder.0.display());
    folder.library(OTHER, "libother.so", &["-Wl,--version-script=versions"]);
    let other = folder.library(OTHER_PLUGIN, "other.so", &["-L.", "-lother", &here]);
    let one = folder.library(PLUGIN, "one.so", &["-lssl", "-lcrypto"]);
    let host = folder.compile(HOST, "host", &[]);
    same_with_and_without(&host, &[&one, &other, &one]);
    same_with_and_without(&host, &[&other, &one, &other]);
}

#[test]
fn functions_of_another_library_with_the_same_names_are_called() {
    let _alone = alone();
    let Some(folder) = Folder::new() else { return };
    std::fs::write(folder.0.join("versions"), "OTHER_1 { global: *; };").expect("written");
    let here = format!("-Wl,-rpath,{}", folder.0.display());
    let with_other = ["-L.", "-lother", &here];
    // Bound by version, beside libssl in the scope of everything.
    folder.library(OTHER, "libother.so", &["-Wl,--version-script=versions"]);
    let plugin = folder.library(OTHER_PLUGIN, "plugin.so", &with_other);
    let host = folder.compile(HOST, "host-libssl", &WITH_LIBSSL);
    same_with_and_without(&host, &[&plugin]);
    // Without versions, where nothing else has the names.
    folder.library(OTHER, "libother.so", &[]);
    let plugin = folder.library(OTHER_PLUGIN, "plugin.so", &with_other);
    same_with_and_without(&folder.compile(HOST, "host", &[]), &[&plugin]);
}

/// Prints by how many KiB the process has grown over 2000 connections.
const PYTHON: &str = "\
import ssl
context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
def connections(count):
    for _ in range(count):
        connection = context.wrap_bio(ssl.MemoryBIO(), ssl.MemoryBIO(), server_hostname='x')
        try: connection.do_handshake()
        except ssl.SSLWantReadError: pass
def resident():
    lines = open('/proc/self/status').read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith('VmRSS'))
connections(100)
before = resident()
connections(2000)
print(resident() - before)
";

#[test]
fn pythons_connections_leave_as_little_as_without() {
    let _alone = alone();
    // The command may be a script that finds the interpreter.
    let find = "import ssl, sys; print(sys.executable)";
    let found = Command::new("python3").args(["-c", find]).output();
    let interpreter = match found {
        Ok(output) if output.status.success() => text(&output).trim().to_owned(),
        _ => {
            eprintln!("SKIPPED: Python's ssl; this machine has no python3 with it");
            return;
        }
    };
    let grown = |preloaded: bool| -> i64 {
        let output = run(Command::new(&interpreter).args(["-c", PYTHON]), preloaded);
        let text = text(&output);
        let number = text.trim().parse();
        number.unwrap_or_else(|_| panic!("preloaded: {preloaded}: {text}"))
    };
    let (without, with) = (grown(false), grown(true));
    eprintln!("KiB over 2000 connections: {without}, preloaded {with}");
    // A connection takes 8 KiB and more.
    assert!(with < without + 2048, "{with} KiB, without {without}");
}

#[test]
fn only_programs_with_libssl_hand_the_module_on() {
    if !cfg!(target_arch = "x86_64") {
        eprintln!("SKIPPED: the module stands before libssl's functions on x86-64 only");
        return;
    }
    let _alone = alone();
    let Some(folder) = Folder::new() else { return };
    let other = folder.library(OTHER, "libother.so", &[]);
    let with_libssl = folder.compile(HOST, "host-libssl", &WITH_LIBSSL);
    let without = folder.compile(HOST, "host", &[]);
    let module = provider_module();
    let (module, other) = (module.display(), other.display());
    let seen = |program: &Path, preload: String| {
        let mut command = Command::new(program);
        let output = command.env("LD_PRELOAD", preload).output();
        text(&output.expect("started")).trim().to_owned()
    };
    assert_eq!(seen(&without, module.to_string()), "");
    assert_eq!(
        seen(&without, format!("{module}:{other}")),
        other.to_string()
    );
    assert_eq!(
        seen(&without, format!("{other} {module}")),
        other.to_string()
    );
    assert_eq!(seen(&without, other.to_string()), other.to_string());
    // A server may start itself anew, as HAProxy does to reload.
    assert_eq!(seen(&with_libssl, module.to_string()), module.to_string());
}
