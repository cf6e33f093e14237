//! A server of our own: loopback only, in a temporary folder, ended with its handle.

use std::fs;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use tempfile::TempDir;

use super::credentials::Credentials;
use super::opening::Protocol;
use super::target::{Group, Version};
use super::{haproxy, httpd, lighttpd, mariadb, mosquitto, nginx, redis, unbound};
use crate::failure::Failure;
use crate::{programs, run};

/// Servers that can be measured.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum Kind {
    /// Knows of OpenSSL's asynchronous mode.
    Haproxy,
    Nginx,
    Lighttpd,
    Redis,
    Unbound,
    Mosquitto,
    /// A thread for each connection, as the next.
    Httpd,
    Mariadb,
}

/// One kind of server, and how it is set up.
pub(super) struct Row {
    name: &'static str,
    program: &'static str,
    /// Debian's packages.
    packages: &'static str,
    /// Writes its configuration, and gives its arguments.
    configure: fn(&Setup, &Site) -> io::Result<Vec<String>>,
}

/// Where a server is.
pub(super) struct Site {
    /// What it may write to; `server.pem` in it is the certificate and its key.
    pub(super) folder: PathBuf,
    pub(super) address: SocketAddr,
}

/// How a server is set up.
#[derive(Clone, Debug)]
pub(super) struct Setup {
    pub(super) kind: Kind,
    /// Its program.
    pub(super) program: PathBuf,
    /// The provider's module, or `None` for OpenSSL alone.
    pub(super) provider: Option<PathBuf>,
    /// The module's parameter, in µs; `None` is its own default.
    pub(super) deadline: Option<u64>,
    /// nginx's `multi_accept`.
    pub(super) multi_accept: bool,
    /// What it speaks.
    pub(super) version: Version,
    /// What clients exchange keys over.
    pub(super) group: Group,
    /// Handshakes that will be in flight, at most.
    pub(super) connections: usize,
}

/// A running server.
#[derive(Debug)]
pub(super) struct Server {
    kind: Kind,
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

impl Kind {
    /// Those that `lanelock tour` measures.
    pub(super) const TOUR: [Self; 5] = [
        Self::Haproxy,
        Self::Nginx,
        Self::Lighttpd,
        Self::Redis,
        Self::Httpd,
    ];

    fn row(self) -> &'static Row {
        match self {
            Self::Haproxy => &haproxy::ROW,
            Self::Nginx => &nginx::ROW,
            Self::Lighttpd => &lighttpd::ROW,
            Self::Redis => &redis::ROW,
            Self::Unbound => &unbound::ROW,
            Self::Mosquitto => &mosquitto::ROW,
            Self::Httpd => &httpd::ROW,
            Self::Mariadb => &mariadb::ROW,
        }
    }

    pub(super) fn name(self) -> &'static str {
        self.row().name
    }

    pub(super) fn protocol(self) -> Protocol {
        match self {
            Self::Mariadb => Protocol::MariaDb,
            _ => Protocol::Tls,
        }
    }

    /// Its program: Debian's packages put servers where only root's PATH leads.
    pub(super) fn find(self) -> Option<PathBuf> {
        let program = self.row().program;
        programs::find(program).or_else(|| programs::find(format!("/usr/sbin/{program}")))
    }

    /// Its program's name, to be told that there is none.
    pub(super) fn program(self) -> PathBuf {
        PathBuf::from(self.row().program)
    }

    /// What to do where there is none.
    pub(super) fn remedy(self) -> String {
        format!("install it with `apt-get install {}`", self.row().packages)
    }
}

impl Row {
    pub(super) const fn new(
        name: &'static str,
        program: &'static str,
        packages: &'static str,
        configure: fn(&Setup, &Site) -> io::Result<Vec<String>>,
    ) -> Self {
        Self {
            name,
            program,
            packages,
            configure,
        }
    }
}

impl Server {
    /// Starts one with these credentials, and waits until it listens.
    ///
    /// # Errors
    /// [`Failure::Failed`], with the remedy if the program is missing, with what it said if it
    /// ended.
    pub(super) fn start(setup: &Setup, credentials: &Credentials) -> Result<Self, Failure> {
        let kind = setup.kind;
        let broken = |error: io::Error| Failure::Failed(format!("{}: {error}", kind.name()));
        let folder = tempfile::tempdir().map_err(broken)?;
        credentials
            .write(&folder.path().join("server.pem"))
            .map_err(broken)?;
        let port = TcpListener::bind("127.0.0.1:0").and_then(|any| any.local_addr());
        let site = Site {
            folder: folder.path().to_owned(),
            address: port.map_err(broken)?,
        };
        let arguments = (kind.row().configure)(setup, &site).map_err(broken)?;
        let log = fs::File::create(folder.path().join("log")).map_err(broken)?;
        let mut command = Command::new(&setup.program);
        if let Some(module) = &setup.provider {
            run::under_provider(&mut command, module, setup.deadline)?;
        }
        let child = command
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(log.try_clone().map_err(broken)?)
            .stderr(log)
            .spawn()
            .map_err(|error| missing(setup, &error))?;
        let mut server = Self {
            kind,
            child,
            folder,
            address: site.address,
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

    /// Its counters; `None` for one that has none.
    ///
    /// # Errors
    /// [`Failure::Failed`] if it does not answer.
    pub(super) fn counters(&self) -> Result<Option<Counters>, Failure> {
        if self.kind != Kind::Haproxy {
            return Ok(None);
        }
        let counters = haproxy::counters(self.folder.path(), START);
        let broken = |error| Failure::Failed(format!("HAProxy's counters: {error}"));
        counters.map(Some).map_err(broken)
    }

    fn wait_until_it_listens(&mut self) -> io::Result<()> {
        let start = Instant::now();
        // Either may come first.
        while TcpStream::connect(self.address).is_err()
            || self.kind == Kind::Haproxy && haproxy::admin(self.folder.path()).is_err()
        {
            if let Some(status) = self.child.try_wait()? {
                let said = fs::read_to_string(self.folder.path().join("log"))?;
                return Err(io::Error::other(format!("ended with {status}: {said}")));
            }
            if start.elapsed() > START {
                return Err(io::Error::other("did not listen within 10 s"));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Nothing is left to do if it has ended by itself.
        let _ended = self.child.kill().and_then(|()| self.child.wait());
    }
}

fn missing(setup: &Setup, error: &io::Error) -> Failure {
    let program = setup.program.display();
    Failure::Failed(match error.kind() {
        io::ErrorKind::NotFound => format!(
            "{program}: no such program; {}, or name it with --program FILE",
            setup.kind.remedy()
        ),
        _ => format!("cannot start {program}: {error}"),
    })
}

/// A path in a configuration in which quotes stand around it.
pub(super) fn quoted(path: &Path) -> String {
    format!("\"{}\"", path.display())
}
