//! Programs that do the same work without lanelock, as contestants.
//!
//! A peer is a child process that answers one line for each line it is sent (`peers/README.md`
//! has the protocol). It makes keys and messages from the same seeds, so its checksum has to be
//! the engines'. Several threads are several children.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::Duration;

use clap::ValueEnum;
use lanelock_native::Tier;

use super::contestant::{Contestant, Entry, Lap};
use super::crew;
use super::shape::{Layout, Shape};
use crate::failure::Failure;

/// The peers there are.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum Peer {
    /// OpenSSL's EVP interface in a hand-written loop: contexts kept, nothing set but the IV.
    Evp,
    /// The same with OpenSSL 3.5, that of Debian 13.
    #[value(name = "evp-3.5")]
    Evp35,
    /// The burst interface of libipsec-mb.
    IpsecMb,
    /// The same with libipsec-mb 2.0, that of Debian 13.
    #[value(name = "ipsec-mb-2")]
    IpsecMb2,
    /// lanelock's own C library.
    Capi,
}

/// What a peer is held to beside the work.
#[derive(Clone, Copy, Debug, Default)]
pub struct Terms {
    /// The tier whose instructions it may use; `None`: all that the CPU has.
    pub tier: Option<Tier>,
    /// How long it tries each of its routes to choose one; `None`: what it thinks best.
    pub trial: Option<Duration>,
}

/// Children of one peer, prepared for the work of one cell.
#[derive(Debug)]
pub struct PeerContestant {
    peer: Peer,
    terms: Terms,
    route: String,
    children: Vec<Conversation>,
}

/// A child and the pipes to it.
#[derive(Debug)]
pub(super) struct Conversation {
    name: &'static str,
    child: Child,
    says: ChildStdin,
    hears: BufReader<ChildStdout>,
}

impl Peer {
    /// Its name on the command line and in rows.
    pub fn name(self) -> &'static str {
        match self {
            Self::Evp => "evp",
            Self::Evp35 => "evp-3.5",
            Self::IpsecMb => "ipsec-mb",
            Self::IpsecMb2 => "ipsec-mb-2",
            Self::Capi => "capi",
        }
    }

    /// Whether it can be held to `tier`.
    pub fn has(self, tier: Tier) -> bool {
        match self {
            Self::Evp | Self::Evp35 => openssl_without(tier).is_some(),
            Self::IpsecMb | Self::IpsecMb2 => {
                matches!(
                    tier,
                    Tier::Avx512 | Tier::Avx512Bw | Tier::Avx2 | Tier::AesNi
                )
            }
            Self::Capi => true,
        }
    }

    /// Its program.
    ///
    /// # Errors
    /// [`Failure::Usage`] if it is not where it is looked for.
    pub fn program(self) -> Result<PathBuf, Failure> {
        program(self.name(), self.remedy())
    }

    /// Checks that peers know such work.
    ///
    /// # Errors
    /// [`Failure::Usage`] for segments and copies, which they do not have.
    pub fn accepts(self, shape: &Shape) -> Result<(), Failure> {
        let option = match shape {
            Shape { segments: 2.., .. } => format!("--segments {}", shape.segments),
            Shape {
                layout: Layout::Copy,
                ..
            } => "--layout copy".to_owned(),
            _ => return Ok(()),
        };
        let name = self.name();
        Err(Failure::Usage(format!(
            "{option}: --peer {name} does not support it; leave one of them out"
        )))
    }

    fn remedy(self) -> &'static str {
        match self {
            Self::Evp => "build it with `make -C peers evp`",
            Self::IpsecMb => {
                "install the Debian package libipsec-mb-dev and build it with `make -C peers \
                 ipsec-mb`"
            }
            Self::Evp35 | Self::IpsecMb2 => "build it, as root, with `make peers-newest`",
            Self::Capi => {
                "install the library with `make install-c` and build it with `make -C peers capi`"
            }
        }
    }
}

/// The value of `OPENSSL_ia32cap` that takes from OpenSSL the instructions that `tier` does not have:
/// bits of `cpuid`'s leaf 1 before the colon, of leaf 7 after it.
fn openssl_without(tier: Tier) -> Option<&'static str> {
    match tier {
        Tier::Avx512 => Some(""),
        // AVX-512 IFMA; AVX-512 VBMI and VBMI2, GFNI, VAES, VPCLMULQDQ.
        Tier::Avx512Bw => Some(":~0x74200200000"),
        // AVX-512 F, DQ, IFMA, CD, BW, VL.
        Tier::Avx2 => Some(":~0xd0230000"),
        // AVX as well; AVX2.
        Tier::AesNi => Some("~0x1000000000000000:~0xd0230020"),
        _ => None,
    }
}

/// The program of the peer called `name`.
///
/// # Errors
/// [`Failure::Usage`] if it is not where it is looked for, with the `remedy`.
pub(super) fn program(name: &str, remedy: &str) -> Result<PathBuf, Failure> {
    let file = format!("lanelock-peer-{name}");
    let folders = folders();
    let found = folders
        .iter()
        .map(|folder| folder.join(&file))
        .find(|path| path.is_file());
    found.ok_or_else(|| {
        let looked: Vec<_> = folders.iter().map(|f| f.display().to_string()).collect();
        Failure::Usage(format!(
            "--peer {name}: no {file} in {}; {remedy}, or set LANELOCK_PEERS to its folder",
            looked.join(", "),
        ))
    })
}

/// Where programs are looked for, in this order.
fn folders() -> Vec<PathBuf> {
    let named = env::var_os("LANELOCK_PEERS").map(PathBuf::from);
    let executable = env::current_exe().ok();
    let beside = executable
        .as_deref()
        .and_then(|exe| Some(exe.parent()?.join("peers")));
    // A build lies in target/release or target/debug, the peers in target/peers.
    let target = executable
        .as_deref()
        .and_then(|exe| Some(exe.parent()?.parent()?.join("peers")));
    let here = Some(PathBuf::from("target/peers"));
    let mut folders: Vec<_> = [named, beside, target, here]
        .into_iter()
        .flatten()
        .collect();
    folders.dedup();
    folders
}

impl PeerContestant {
    /// Starts a child for each thread and prepares it for the work.
    ///
    /// # Errors
    /// [`Failure::Usage`] without the program; [`Failure::Failed`] if a child does not answer as
    /// agreed.
    pub fn open(peer: Peer, shape: &Shape) -> Result<Entry<Self>, Failure> {
        let mut contestant = Self::start(peer, shape.threads, Terms::default())?;
        Ok(match contestant.prepare(shape)? {
            None => Entry::Ready(contestant),
            Some(why) => Entry::NotOffered(why),
        })
    }

    /// Starts a child for each of `threads`, prepared for nothing yet.
    ///
    /// # Errors
    /// As [`PeerContestant::open`].
    pub fn start(peer: Peer, threads: usize, terms: Terms) -> Result<Self, Failure> {
        let mask = terms.tier.and_then(openssl_without);
        let environment = mask.filter(|mask| !mask.is_empty());
        let environment = environment.map(|mask| ("OPENSSL_ia32cap", mask));
        let (name, program) = (peer.name(), peer.program()?);
        let children =
            (0..threads).map(|index| Conversation::start(name, &program, index, environment));
        Ok(Self {
            peer,
            terms,
            route: String::new(),
            children: children.collect::<Result<_, _>>()?,
        })
    }

    /// Prepares the children for work on as many threads, in place of what they had; says why not if
    /// they do not offer it.
    ///
    /// # Errors
    /// [`Failure::Failed`] if a child does not answer as agreed.
    pub fn prepare(&mut self, shape: &Shape) -> Result<Option<String>, Failure> {
        let request = prepare(self.peer, shape, self.terms);
        // One after the other: while it prepares, a child measures which route is its fastest.
        for child in &mut self.children {
            let answer = child.ask(&request)?;
            match answer.split_once(' ') {
                Some(("ready", fields)) => {
                    self.route = field(fields, "route").unwrap_or_default();
                }
                Some(("unsupported", why)) => {
                    return Ok(Some(field(why, "reason").unwrap_or_default()));
                }
                _ => return Err(child.unexpected(&answer)),
            }
        }
        Ok(None)
    }

    /// The library that it drives, with its version.
    ///
    /// # Errors
    /// [`Failure::Failed`] if the child does not answer as agreed.
    pub fn library(&mut self) -> Result<String, Failure> {
        let child = &mut self.children[0];
        let answer = child.ask("hello")?;
        field(&answer, "library").ok_or_else(|| child.unexpected(&answer))
    }
}

impl Contestant for PeerContestant {
    fn name(&self) -> &str {
        self.peer.name()
    }

    fn digest(&mut self) -> Result<Option<u64>, Failure> {
        let mut digest = None;
        for child in &mut self.children {
            let answer = child.ask("digest")?;
            let hex = field(&answer, "fnv1a").unwrap_or_default();
            digest = Some(u64::from_str_radix(&hex, 16).map_err(|_| child.unexpected(&answer))?);
        }
        Ok(digest)
    }

    fn lap(&mut self, span: Duration) -> Result<Lap, Failure> {
        for child in &mut self.children {
            child.say(&format!("run seconds={:.6}", span.as_secs_f64()))?;
        }
        let laps: Result<Vec<_>, _> = self.children.iter_mut().map(Conversation::lap).collect();
        Ok(Lap::side_by_side(laps?))
    }

    fn route(&self) -> Option<&str> {
        Some(&self.route)
    }
}

impl Conversation {
    /// Starts a child on the core that a measuring thread of this index would have.
    ///
    /// # Errors
    /// [`Failure::Failed`] if it cannot be started.
    pub(super) fn start(
        name: &'static str,
        program: &Path,
        index: usize,
        environment: Option<(&str, &str)>,
    ) -> Result<Self, Failure> {
        let mut command = Command::new(program);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command.envs(environment);
        // A child stays on the core of the thread that started it.
        let starter = thread::spawn(move || {
            crew::pin(index);
            command.spawn()
        });
        let broken = |why: String| Failure::Failed(format!("{}: {why}", program.display()));
        let mut child = starter
            .join()
            .map_err(|_| broken("not started".to_owned()))?
            .map_err(|error| broken(error.to_string()))?;
        let (Some(says), Some(hears)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(broken("no pipes".to_owned()));
        };
        Ok(Self {
            name,
            child,
            says,
            hears: BufReader::new(hears),
        })
    }

    /// What it answers to a line.
    ///
    /// # Errors
    /// [`Failure::Failed`] if it has ended.
    pub(super) fn ask(&mut self, request: &str) -> Result<String, Failure> {
        self.say(request)?;
        self.hear()
    }

    /// Sends a line.
    ///
    /// # Errors
    /// As [`Conversation::ask`].
    pub(super) fn say(&mut self, request: &str) -> Result<(), Failure> {
        writeln!(self.says, "{request}").map_err(|error| self.failure(&error.to_string()))
    }

    fn hear(&mut self) -> Result<String, Failure> {
        let mut line = String::new();
        match self.hears.read_line(&mut line) {
            Ok(0) => Err(self.failure("it ended early")),
            Ok(_) => Ok(line.trim_end().to_owned()),
            Err(error) => Err(self.failure(&error.to_string())),
        }
    }

    /// Reads the answer to `run`.
    ///
    /// # Errors
    /// [`Failure::Failed`] if it is another.
    pub(super) fn lap(&mut self) -> Result<Lap, Failure> {
        let answer = self.hear()?;
        let number = |name| field(&answer, name).and_then(|text| text.parse().ok());
        match (number("ops"), number("ns")) {
            (Some(ops), Some(nanoseconds)) => Ok(Lap {
                ops,
                elapsed: Duration::from_nanos(nanoseconds),
            }),
            _ => Err(self.unexpected(&answer)),
        }
    }

    /// An answer that reports an error, or one that the protocol does not have.
    pub(super) fn unexpected(&self, answer: &str) -> Failure {
        let reason = field(answer, "reason");
        self.failure(&reason.unwrap_or_else(|| format!("unexpected answer '{answer}'")))
    }

    fn failure(&self, why: &str) -> Failure {
        Failure::Failed(format!("peer {}: {why}", self.name))
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        let _it_may_have_ended = writeln!(self.says, "quit");
        let _nothing_depends_on_it = self.child.wait();
    }
}

/// The request that describes a cell.
fn prepare(peer: Peer, shape: &Shape, terms: Terms) -> String {
    let pattern: Vec<_> = shape.mix.pattern().iter().map(u32::to_string).collect();
    let layout = if shape.has_output() {
        shape.layout.name()
    } else {
        "in-place"
    };
    let held = match (peer, terms.tier) {
        (Peer::IpsecMb | Peer::IpsecMb2, Some(tier)) => format!(" tier={}", tier.name()),
        _ => String::new(),
    };
    let trial = terms.trial.map_or(String::new(), |trial| {
        format!(" trial={}", trial.as_micros().max(1))
    });
    format!(
        "prepare algorithm={} operation={} pattern={} burst={} sessions={} pool={} stride={} \
         iv={} tag={} aad={} layout={layout}{held}{trial}",
        shape.spec,
        shape.operation,
        pattern.join(","),
        shape.burst,
        shape.sessions,
        shape.pool,
        shape.stride(),
        shape.iv_len(),
        shape.tag_len(),
        shape.aad,
    )
}

/// The value of `name=value` or `name="value with spaces"` in a line.
pub(super) fn field(line: &str, name: &str) -> Option<String> {
    let start = line
        .match_indices(name)
        .map(|(at, _)| at)
        .find(|&at| at == 0 || line.as_bytes()[at - 1] == b' ')?;
    let value = line[start + name.len()..].strip_prefix('=')?;
    let value = match value.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next(),
        None => value.split(' ').next(),
    };
    value.map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_words_or_quoted() {
        let line = "ready route=burst-cipher routes=job,burst-cipher reason=\"no such thing\"";
        assert_eq!(field(line, "route").as_deref(), Some("burst-cipher"));
        assert_eq!(field(line, "routes").as_deref(), Some("job,burst-cipher"));
        assert_eq!(field(line, "reason").as_deref(), Some("no such thing"));
        assert_eq!(field(line, "ops"), None);
    }
}
