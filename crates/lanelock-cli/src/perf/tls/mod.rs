//! `lanelock perf tls`: handshakes of a TLS server with and without the provider.
//!
//! ```text
//! contest → server: haproxy, nginx and the others of its kinds (server core)
//!    └→ load → handshake → opening, wire (client core)
//! ```

mod contest;
mod cores;
mod credentials;
mod cut;
mod handshake;
mod haproxy;
mod httpd;
mod lanes;
mod lighttpd;
mod load;
mod mariadb;
mod mosquitto;
mod nginx;
mod opening;
mod process;
mod redis;
mod server;
mod slow;
mod soak;
mod target;
mod unbound;
mod wire;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::bench::Bench;
use super::contest::Pace;
use super::number::{number, seconds};
use super::output::Output;
use super::publish;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::report::columns;
use crate::report::json::{self, Schema};
use crate::row::Handshakes;
use crate::run::module;
use crate::terminal::say;
use contest::{Running, Servers};
use cores::Cores;
use credentials::KeyKind;
use server::Kind;
use soak::{Outcome, Soak};
use target::{Group, Version};

/// Arguments of `lanelock perf tls`.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Runs a server on one core, and clients on the next: full handshakes over X25519 or
X25519MLKEM768, no session resumed, each answer checked, alternately with and without the provider. Loopback only.
HAProxy uses its own asynchronous mode; nginx, lighttpd, Redis, unbound and mosquitto get one, as under
`lanelock run`; httpd and MariaDB have a thread for each connection. Each is one process, and
the others have one thread.

Examples:
  lanelock perf tls
  lanelock perf tls --key rsa-2048,p256 --connections 1,8,64 --html tls.html
  lanelock perf tls --server nginx --key rsa-2048,p256 --multi-accept
  lanelock perf tls --server nginx --key p256 --group x25519,x25519mlkem768
  lanelock perf tls --deadline 100 --connections 4,8,16
  lanelock perf tls --connect 127.0.0.1:8443,127.0.0.1:9443 --certificate server.pem --pid 47,11
  lanelock perf tls --handshakes 100000 --abort 0.33 --slow 0.1    # does anything leak?")]
pub struct Args {
    /// Keys of the server's certificate.
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "KEY,…",
        default_value = "rsa-2048"
    )]
    key: Vec<KeyKind>,

    /// Versions of TLS.
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "VERSION,…",
        default_value = "1.3"
    )]
    tls: Vec<Version>,

    /// Groups of the key exchange. For x25519mlkem768 the server needs nginx or HAProxy, or OpenSSL
    /// 3.5; before 3.5 only the provider has it, and the server is not measured without.
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "GROUP,…",
        default_value = "x25519",
        conflicts_with = "handshakes"
    )]
    group: Vec<Group>,

    /// Handshakes in flight.
    #[arg(long, value_delimiter = ',', value_name = "N,…", default_value = "1,50,200",
          value_parser = number(1, 3000))]
    connections: Vec<usize>,

    /// Seconds for each server at each number of connections.
    #[arg(long, value_name = "S", default_value = "10", value_parser = seconds(0.0, 3600.0))]
    seconds: Duration,

    /// Rounds in which servers alternate; the median is reported.
    #[arg(long, value_name = "N", default_value = "5", value_parser = number(1, 1000))]
    rounds: usize,

    /// Make this many connections instead, and check that the server leaks nothing. Uses the
    /// largest of --connections. With --connect, SIGINT or SIGTERM ends it early: no more are begun.
    #[arg(long, value_name = "N", value_parser = number(1, 100_000_000))]
    handshakes: Option<usize>,

    /// With --handshakes: share of the connections that clients abandon, before, during and after
    /// the ClientHello and during the server's flight.
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = share,
          requires = "handshakes")]
    abort: f64,

    /// With --handshakes: share of the other connections whose clients take their time: everything
    /// that they send leaves in pieces, with pauses, over some hundreds of milliseconds.
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = share,
          requires = "handshakes")]
    slow: f64,

    /// The server to measure; with --connect, what to speak before TLS: something else only with
    /// mariadb.
    #[arg(long, value_name = "SERVER", default_value = "haproxy")]
    server: Kind,

    /// With --server nginx: accept all waiting connections at each turn of the loop
    /// (`multi_accept on`).
    #[arg(long, conflicts_with = "connect")]
    multi_accept: bool,

    /// Measure servers that already listen at these addresses, instead of starting one; ratios are
    /// relative to the first.
    #[arg(long, value_delimiter = ',', value_name = "ADDRESS:PORT,…", requires = "certificate",
          conflicts_with_all = ["key", "program", "provider"])]
    connect: Vec<SocketAddr>,

    /// With --connect: the servers' certificate, in PEM.
    #[arg(long, value_name = "FILE", requires = "connect")]
    certificate: Option<PathBuf>,

    /// With --connect: the servers' processes, to report the CPU time of a handshake and the lanes
    /// that the provider fills.
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "PID,…",
        requires = "connect",
        conflicts_with = "handshakes"
    )]
    pid: Vec<u32>,

    /// The server's program [default: from PATH, or in /usr/sbin].
    #[arg(long, value_name = "FILE", alias = "haproxy")]
    program: Option<PathBuf>,

    /// The provider's module; none measures the server alone [default: as for `lanelock run`].
    #[arg(long, value_name = "FILE|none")]
    provider: Option<PathBuf>,

    /// Longest time that an operation waits for others, in µs [default: the module's own, 0: until
    /// the server's event loop comes round].
    #[arg(long, value_name = "µs", value_parser = crate::run::deadline(), conflicts_with = "connect")]
    deadline: Option<u64>,

    #[command(flatten)]
    output: Output,
}

/// Runs the command.
///
/// # Errors
/// [`Failure::Failed`] if a server cannot be started, or a handshake failed, or resumed a session,
/// or something leaked.
pub fn run(args: &Args) -> Result<(), Failure> {
    args.output.check()?;
    args.check_groups()?;
    if args.multi_accept && args.server != Kind::Nginx {
        let why = "--multi-accept: only nginx has it; use --server nginx";
        return Err(Failure::Usage(why.to_owned()));
    }
    let bench = Bench::open()?;
    let cores = Cores::choose();
    let pace = Pace {
        seconds: args.seconds,
        rounds: args.rounds,
    };
    if let Some(path) = &args.certificate {
        let (certificate, kind) = credentials::read_certificate(path)?;
        if let Some(handshakes) = args.handshakes {
            return connect(args, &certificate, handshakes as u64);
        }
        let (running, keys) = (args.running()?, [(kind, ())]);
        let cells = contest::cells(&keys, &args.tls, &args.group, &args.connections);
        let join = |cell: &_| contest::join(&running, args.server, &certificate, cell);
        let rows = contest::measure(&cores, &cells, pace, join)?;
        return publish(&bench, rows, columns::TLS, &args.output);
    }
    let kind = args.server;
    let program = args.program.clone().or_else(|| kind.find());
    let servers = Servers {
        kind,
        program: program.unwrap_or_else(|| kind.program()),
        module: provider(args.provider.as_deref())?,
        deadline: args.deadline,
        multi_accept: args.multi_accept,
        cores: &cores,
    };
    if let Some(handshakes) = args.handshakes {
        let soak = || soak(args, &servers, handshakes as u64);
        return cores.as_client(soak);
    }
    if cores.shared() {
        say("server and clients share one core: the figures are for both together");
    }
    let keys = contest::keys(&args.key)?;
    let cells = contest::cells(&keys, &args.tls, &args.group, &args.connections);
    let rows = contest::measure(&cores, &cells, pace, |cell| servers.start(cell))?;
    publish(&bench, rows, columns::TLS, &args.output)
}

/// What `lanelock tour` measures: full handshakes of TLS 1.3 with an RSA-2048 key by each of its servers
/// that is installed, with and without the provider; and what is missing.
///
/// # Errors
/// [`Failure::Failed`] if a handshake failed.
pub fn tour(say: impl Fn(&str)) -> Result<(Vec<Handshakes>, Vec<String>), Failure> {
    let module = match module::find() {
        Ok(module) => module,
        Err(failure) => return Ok((Vec::new(), vec![failure.to_string()])),
    };
    let cores = Cores::choose();
    let (mut rows, mut missing) = (Vec::new(), Vec::new());
    for kind in Kind::TOUR {
        let Some(program) = kind.find() else {
            missing.push(format!(
                "{} is not installed: {}",
                kind.name(),
                kind.remedy()
            ));
            continue;
        };
        say(&format!(
            "TLS handshakes of {}, with and without the provider",
            kind.name()
        ));
        let servers = Servers {
            kind,
            program,
            module: Some(module.clone()),
            deadline: None,
            multi_accept: false,
            cores: &cores,
        };
        match servers.tour()? {
            Ok(measured) => rows.extend(measured),
            Err(why) => missing.push(why),
        }
    }
    Ok((rows, missing))
}

impl Servers<'_> {
    /// What [`tour`] measures of one kind of server; or why it does not start, as one without its
    /// package for TLS.
    fn tour(&self) -> Result<Result<Vec<Handshakes>, String>, Failure> {
        let pace = Pace {
            seconds: Duration::from_millis(600),
            rounds: 3,
        };
        let keys = contest::keys(&[KeyKind::Rsa2048])?;
        let cells = contest::cells(&keys, &[Version::Tls13], &[Group::X25519], &[1, 8, 64]);
        if let Some(Err(failure)) = cells.first().map(|cell| self.start(cell)) {
            return Ok(Err(format!("{failure}; {}", self.kind.remedy())));
        }
        contest::measure(self.cores, &cells, pace, |cell| self.start(cell)).map(Ok)
    }
}

/// Does so many handshakes on every server, and checks that nothing stays behind.
fn soak(args: &Args, servers: &Servers<'_>, handshakes: u64) -> Result<(), Failure> {
    let mut outcomes = Vec::new();
    for &key in &args.key {
        for &version in &args.tls {
            let soak = args.soak(version, handshakes);
            // The one with the provider, if there is one.
            let mut setups = servers.setups(version, Group::X25519, soak.connections);
            let setup = setups.pop();
            let (name, setup) = setup.expect("one at least");
            let outcome = soak::run(&name, &setup, key, soak, servers.cores)?;
            outcomes.push(args.shown(outcome)?);
        }
    }
    args.publish(&outcomes)
}

/// Does so many handshakes with servers that run already, or fewer if it is interrupted.
fn connect(args: &Args, certificate: &[u8], handshakes: u64) -> Result<(), Failure> {
    let interrupt = Interrupt::listen()?;
    let mut outcomes = Vec::new();
    for &address in &args.connect {
        for &version in &args.tls {
            let soak = args.soak(version, handshakes);
            let outcome =
                soak::connect(address, args.server, certificate.to_vec(), soak, &interrupt)?;
            outcomes.push(args.shown(outcome)?);
            if interrupt.came() {
                return args.publish(&outcomes);
            }
        }
    }
    args.publish(&outcomes)
}

impl Args {
    fn check_groups(&self) -> Result<(), Failure> {
        let is_hybrid = |group: &&Group| **group != Group::X25519;
        let Some(hybrid) = self.group.iter().find(is_hybrid) else {
            return Ok(());
        };
        if !self.tls.iter().all(|&version| version == Version::Tls13) {
            let why = "--group x25519mlkem768: TLS 1.2 does not have it; use --tls 1.3";
            return Err(Failure::Usage(why.to_owned()));
        }
        if !hybrid.is_available() {
            let why = "--group x25519mlkem768: the client needs a CPU with AVX2, ADX and BMI2";
            return Err(Failure::Failed(why.to_owned()));
        }
        Ok(())
    }

    fn publish(&self, outcomes: &[Outcome]) -> Result<(), Failure> {
        match &self.output.json {
            Some(target) => {
                target.write(&json::render(Schema::PerfTls, &soak::Report { outcomes }))
            }
            None => Ok(()),
        }
    }

    fn soak(&self, version: Version, handshakes: u64) -> Soak {
        Soak {
            version,
            connections: self.connections.iter().copied().max().unwrap_or(1),
            handshakes,
            abort: self.abort,
            slow: self.slow,
        }
    }

    /// Prints an outcome, unless standard output is for something else.
    fn shown(&self, outcome: Outcome) -> Result<Outcome, Failure> {
        if self.output.shows_table() {
            outcome.print()?;
        }
        Ok(outcome)
    }

    /// The servers of --connect.
    fn running(&self) -> Result<Vec<Running>, Failure> {
        if !self.pid.is_empty() && self.pid.len() != self.connect.len() {
            let (servers, pids) = (self.connect.len(), self.pid.len());
            return Err(Failure::Usage(format!(
                "--pid: {pids} processes for {servers} servers of --connect; name one for each"
            )));
        }
        let pids = self
            .pid
            .iter()
            .copied()
            .map(Some)
            .chain(std::iter::repeat(None));
        let running = self.connect.iter().zip(pids);
        Ok(running
            .map(|(&address, pid)| Running { address, pid })
            .collect())
    }
}

/// The provider's module, `None` if there is to be none.
fn provider(wanted: Option<&Path>) -> Result<Option<PathBuf>, Failure> {
    let Some(path) = wanted else {
        return module::find().map(Some);
    };
    // Servers change their folder.
    match path.canonicalize() {
        Ok(path) if path.is_file() => Ok(Some(path)),
        _ if path == Path::new("none") => Ok(None),
        _ => Err(Failure::Usage(format!(
            "--provider {}: no such file; build it with `make build`, name it with --provider \
             FILE, or measure without it with --provider none",
            path.display()
        ))),
    }
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err(format!("'{text}': use a share from 0 to 1")),
    }
}
