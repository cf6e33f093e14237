//! A HAProxy of our own: loopback only, in a temporary folder, ended with its handle.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::credentials::Credentials;
use super::target::Version;
use crate::failure::Failure;
use crate::{programs, run};

/// How a server is set up.
#[derive(Clone, Debug)]
pub(super) struct Setup {
    /// HAProxy's program.
    pub(super) program: PathBuf,
    /// The provider's module, or `None` for OpenSSL alone.
    pub(super) provider: Option<PathBuf>,
    /// The module's parameter, in µs; `None` is its own default.
    pub(super) deadline: Option<u64>,
    /// What it speaks.
    pub(super) version: Version,
    /// Handshakes that will be in flight, at most.
    pub(super) connections: usize,
}

/// A running server.
#[derive(Debug)]
pub(super) struct Haproxy {
    child: Child,
    folder: TempDir,
    address: SocketAddr,
}

/// What a server counts, since its start.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Counters {
    /// Handshakes that completed.
    pub(super) handshakes: u64,
    /// Those among them that resumed a session, without a private-key operation.
    pub(super) resumed: u64,
    /// Connections now.
    pub(super) connections: u64,
    /// Connections and other things that a stop would wait for, now.
    pub(super) jobs: u64,
}

const START: Duration = Duration::from_secs(10);

impl Haproxy {
    /// Starts one with these credentials, and waits until it listens.
    ///
    /// # Errors
    /// [`Failure::Failed`], with the remedy if the program is missing, with what it said if it
    /// ended.
    pub(super) fn start(setup: &Setup, credentials: &Credentials) -> Result<Self, Failure> {
        let broken = |error: io::Error| Failure::Failed(format!("HAProxy: {error}"));
        let folder = tempfile::tempdir().map_err(broken)?;
        credentials
            .write(&folder.path().join("server.pem"))
            .map_err(broken)?;
        let port = TcpListener::bind("127.0.0.1:0").and_then(|any| any.local_addr());
        let address = port.map_err(broken)?;
        let path = folder.path().join("haproxy.cfg");
        fs::write(&path, configuration(setup, folder.path(), address)).map_err(broken)?;
        let log = fs::File::create(folder.path().join("log")).map_err(broken)?;
        let mut command = Command::new(&setup.program);
        if let Some(module) = &setup.provider {
            run::under_provider(&mut command, module, setup.deadline)?;
        }
        let child = command
            .arg("-db")
            .arg("-f")
            .arg(&path)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .map_err(|error| missing(&setup.program, &error))?;
        let mut server = Self {
            child,
            folder,
            address,
        };
        server.wait_until_it_listens().map_err(broken)?;
        Ok(server)
    }

    /// Where it listens.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its process.
    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Reads its counters.
    ///
    /// # Errors
    /// [`Failure::Failed`] if it does not answer.
    pub(super) fn counters(&self) -> Result<Counters, Failure> {
        self.read_counters()
            .map_err(|error| Failure::Failed(format!("HAProxy's counters: {error}")))
    }

    fn read_counters(&self) -> io::Result<Counters> {
        let info = self.ask("show info")?;
        let info: HashMap<&str, &str> = info.lines().filter_map(|l| l.split_once(": ")).collect();
        let stat = self.ask("show stat")?;
        let mut lines = stat.lines();
        let titles = lines.next().unwrap_or_default();
        let titles = titles.trim_start_matches("# ").split(',');
        let values = lines.find(|line| line.starts_with("tls,FRONTEND,"));
        let stat: HashMap<&str, &str> = titles.zip(values.unwrap_or_default().split(',')).collect();
        let number = |from: &HashMap<&str, &str>, name: &str| {
            let value = from.get(name).and_then(|value| value.parse().ok());
            value.ok_or_else(|| io::Error::other(format!("no number called {name}")))
        };
        Ok(Counters {
            handshakes: number(&stat, "ssl_sess")?,
            resumed: number(&stat, "ssl_reused_sess")?,
            connections: number(&info, "CurrConns")?,
            jobs: number(&info, "Jobs")?,
        })
    }

    /// Its answer to a command on its socket.
    fn ask(&self, command: &str) -> io::Result<String> {
        let mut socket = self.admin()?;
        socket.set_read_timeout(Some(START))?;
        writeln!(socket, "{command}")?;
        let mut answer = String::new();
        socket.read_to_string(&mut answer)?;
        Ok(answer)
    }

    fn admin(&self) -> io::Result<UnixStream> {
        UnixStream::connect(self.folder.path().join("admin.sock"))
    }

    fn wait_until_it_listens(&mut self) -> io::Result<()> {
        let start = Instant::now();
        // Either may come first.
        while TcpStream::connect(self.address).is_err() || self.admin().is_err() {
            if let Some(status) = self.child.try_wait()? {
                let said = fs::read_to_string(self.folder.path().join("log"))?;
                return Err(io::Error::other(format!("ended with {status}: {said}")));
            }
            if start.elapsed() > START {
                return Err(io::Error::other("does not listen within 10 s"));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }
}

impl Drop for Haproxy {
    fn drop(&mut self) {
        // Nothing is left to do if it has ended by itself.
        let _ended = self.child.kill().and_then(|()| self.child.wait());
    }
}

fn configuration(setup: &Setup, folder: &Path, address: SocketAddr) -> String {
    let folder = folder.display();
    let version = setup.version.name();
    // As many again may be closing. A paused handshake has a descriptor more, which HAProxy does
    // not count on.
    let maxconn = 2 * setup.connections + 64;
    let descriptors = 2 * maxconn + 2 * setup.connections + 256;
    let mut text = format!(
        "global\n    nbthread 1\n    maxconn {maxconn}\n    ulimit-n {descriptors}\n    \
         stats socket \"{folder}/admin.sock\" mode 600 level admin\n    \
         tune.ssl.cachesize 0\n    \
         ssl-default-bind-options ssl-min-ver TLSv{version} ssl-max-ver TLSv{version} \
         no-tls-tickets\n"
    );
    if setup.provider.is_some() {
        text.push_str("    ssl-mode-async\n");
    }
    // Writing to a string succeeds.
    let _ = write!(
        text,
        "defaults\n    mode http\n    timeout client 30s\n    timeout server 30s\n    \
         timeout connect 5s\n\
         frontend tls\n    bind {address} ssl crt \"{folder}/server.pem\"\n    \
         http-request return status 200\n"
    );
    text
}

/// HAProxy's program: Debian's packages put it where only root's PATH leads.
pub(super) fn find() -> Option<PathBuf> {
    programs::find("haproxy").or_else(|| programs::find("/usr/sbin/haproxy"))
}

/// What to do where there is none.
pub(super) const REMEDY: &str = "install it with `apt-get install haproxy`";

fn missing(program: &Path, error: &io::Error) -> Failure {
    let program = program.display();
    Failure::Failed(match error.kind() {
        io::ErrorKind::NotFound => {
            format!("no program {program}: {REMEDY}, or name it with --haproxy FILE")
        }
        _ => format!("cannot start {program}: {error}"),
    })
}
