//! A place for a server of OpenSSL's on loopback, and its clients.

use std::fs;
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// A key, a certificate, copies of OpenSSL's libraries, and a port.
pub(crate) struct Site {
    pub(crate) directory: TempDir,
    pub(crate) port: u16,
}

impl Site {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let ldd = Command::new("ldd")
            .arg(which("openssl"))
            .output()
            .expect("ldd runs");
        for line in String::from_utf8_lossy(&ldd.stdout).lines() {
            let path = line.split(" => ").nth(1).and_then(|p| p.split(' ').next());
            if let Some(path) = path.filter(|p| p.contains("libssl") || p.contains("libcrypto")) {
                let name = Path::new(path).file_name().expect("a file");
                fs::copy(path, directory.path().join(name)).expect("copied");
            }
        }
        assert!(directory.path().join("libssl.so.3").exists(), "{ldd:?}");
        let made = Command::new("openssl")
            .args([
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
            ])
            .args([
                "-subj",
                "/CN=localhost",
                "-keyout",
                "key.pem",
                "-out",
                "cert.pem",
            ])
            .current_dir(&directory)
            .stderr(Stdio::null())
            .status();
        assert!(made.expect("openssl runs").success());
        let free = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = free.local_addr().expect("bound").port();
        Self { directory, port }
    }

    /// Arguments of a server that ends after so many connections.
    pub(crate) fn server(&self, connections: u32) -> Vec<String> {
        let words = format!(
            "openssl s_server -accept 127.0.0.1:{} -naccept {connections} -key key.pem \
             -cert cert.pem -quiet",
            self.port
        );
        words.split(' ').map(str::to_owned).collect()
    }

    /// Runs in the directory, with the copies of the libraries and an input that does not end.
    pub(crate) fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command
            .current_dir(&self.directory)
            .env("LD_LIBRARY_PATH", self.directory.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        command
    }

    /// Waits for the server, without a connection to it.
    pub(crate) fn wait_for_server(&self) {
        let wanted = format!("0100007F:{:04X}", self.port);
        let deadline = Instant::now() + Duration::from_secs(60);
        let listens = || {
            let table = fs::read_to_string("/proc/net/tcp").expect("Linux");
            table.lines().any(|line| {
                let mut words = line.split_whitespace().skip(1);
                words.next() == Some(&wanted) && words.nth(1) == Some("0A")
            })
        };
        while !listens() {
            assert!(Instant::now() < deadline, "the server does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// One whole handshake.
    pub(crate) fn connect(&self, version: &str) {
        let mut client = Command::new("openssl")
            .args(["s_client", "-connect", &format!("127.0.0.1:{}", self.port)])
            .args([version, "-quiet", "-no_ign_eof"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("openssl runs");
        let mut input = client.stdin.take().expect("piped");
        input.write_all(b"hello\n").expect("the client reads");
        drop(input);
        assert!(client.wait().expect("it ends").success(), "{version}");
    }

    /// A connection that is no TLS.
    pub(crate) fn connect_in_vain(&self) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        stream.write_all(b"GET / HTTP/1.0\r\n\r\n").expect("sent");
        let mut answer = Vec::new();
        let _alert_or_reset = std::io::Read::read_to_end(&mut stream, &mut answer);
    }
}

pub(crate) fn which(program: &str) -> PathBuf {
    let path = std::env::var_os("PATH").expect("a path");
    std::env::split_paths(&path)
        .map(|directory| directory.join(program))
        .find(|candidate| candidate.is_file())
        .expect(program)
}

pub(crate) fn lanelock() -> &'static str {
    env!("CARGO_BIN_EXE_lanelock")
}

/// Ends with the test.
pub(crate) struct Server(pub(crate) Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _gone = self.0.kill();
        let _gone = self.0.wait();
    }
}
