//! A trace from its first probe to its figures.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use lanelock::telemetry::reader::process::Process;

use super::breakdown::Breakdown;
use super::event::Event;
use super::libraries::{self, Libraries, Mapped};
use super::library::{Identity, Library};
use super::output::{Message, Totals};
use super::process;
use super::program::Program;
use super::script;
use super::tracer::{EVENTS, Said, TOTALS, Tracer};
use super::{Wants, elf};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::terminal::print;

/// Tracers, what they are for, and what they have said.
#[derive(Debug)]
pub(super) struct Session {
    bpftrace: PathBuf,
    program: Program,
    wants: Wants,
    interrupt: Interrupt,
    tracers: Vec<Tracer>,
    /// Start of each tracer's times, in nanoseconds of the system, once it is ready.
    origins: Vec<Option<u64>>,
    says: Sender<Said>,
    said: Receiver<Said>,
    /// Each libssl whose handshakes, and each module whose batches are counted.
    probed: BTreeMap<Identity, Library>,
    libraries: Libraries,
    /// Processes that were looked at, and how many mappings they had.
    looked_at: BTreeMap<u32, usize>,
    notes: Vec<String>,
    totals: Totals,
    waiting: Vec<Event>,
    kept: Vec<Event>,
    lost: u64,
    began: Instant,
    lasted: Duration,
}

/// How long bpftrace may take to put its probes in place.
const PATIENCE: Duration = Duration::from_secs(30);
/// Between two looks at the processes.
const LOOK: Duration = Duration::from_millis(200);
/// Events of several CPUs and tracers come out of order by less than this.
const DISORDER: Duration = Duration::from_millis(500);
/// Events kept for a page.
const KEPT: usize = 200_000;

impl Session {
    /// Puts the probes in place, then lets a command run.
    ///
    /// # Errors
    /// [`Failure::Failed`] with what bpftrace complained about.
    pub(super) fn start(
        bpftrace: &Path,
        program: Program,
        libraries: Libraries,
        wants: Wants,
        interrupt: Interrupt,
    ) -> Result<Self, Failure> {
        let (says, said) = mpsc::channel();
        let mut session = Self {
            bpftrace: bpftrace.to_path_buf(),
            program,
            wants,
            interrupt,
            tracers: Vec::new(),
            origins: Vec::new(),
            says,
            said,
            probed: BTreeMap::new(),
            libraries,
            looked_at: BTreeMap::new(),
            notes: Vec::new(),
            totals: Totals::default(),
            waiting: Vec::new(),
            kept: Vec::new(),
            lost: 0,
            began: Instant::now(),
            lasted: Duration::ZERO,
        };
        let Libraries {
            ssl,
            module,
            crypto,
        } = session.libraries.clone();
        session.handshakes(ssl)?;
        if let Some(module) = module {
            session.batches(module)?;
        }
        if session.wants.crypto {
            session
                .interrupt
                .or(move || libraries::check_nobody_pauses(&crypto))??;
            let script = script::crypto(&session.libraries, session.program.root());
            session.trace(&script)?;
        }
        session.await_probes()?;
        if session.wants.print {
            print(Event::titles() + "\n")?;
        }
        session.began = Instant::now();
        session.program.resume();
        Ok(session)
    }

    /// Listens until the program has ended, the time is over or somebody has had enough.
    ///
    /// # Errors
    /// [`Failure::Output`] if events cannot be printed, and those of bpftrace.
    pub(super) fn run(&mut self, limit: Option<Duration>) -> Result<(), Failure> {
        let mut next_look = Instant::now();
        loop {
            let is_over = limit.is_some_and(|limit| self.began.elapsed() >= limit);
            if is_over || self.interrupt.came() {
                break;
            }
            match self.said.recv_timeout(Duration::from_millis(20)) {
                Ok(said) => self.hear(said)?,
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
            if Instant::now() >= next_look {
                let tracers = self.tracer_pids();
                if self.program.has_ended(&tracers) {
                    break;
                }
                self.look()?;
                self.pass_on(DISORDER)?;
                next_look = Instant::now() + LOOK;
            }
        }
        self.lasted = self.began.elapsed();
        Ok(())
    }

    /// Stops the tracers, ends a command, and adds everything up.
    ///
    /// # Errors
    /// [`Failure::Output`] if events cannot be printed.
    pub(super) fn finish(mut self) -> Result<(Breakdown, Vec<Event>), Failure> {
        let tracers = self.tracer_pids();
        for tracer in &self.tracers {
            tracer.stop();
        }
        for tracer in std::mem::take(&mut self.tracers) {
            let complaints = tracer.join();
            if !complaints.is_empty() {
                self.notes.push(format!("bpftrace: {complaints}"));
            }
        }
        while let Ok(said) = self.said.try_recv() {
            self.hear(said)?;
        }
        self.pass_on(Duration::ZERO)?;
        if let Some(status) = self.program.end(&tracers)
            && !status.success()
        {
            self.notes.push(format!("the command ended with {status}"));
        }
        let mut breakdown = Breakdown::of(&self.totals);
        breakdown.program = self.program.name().to_owned();
        breakdown.seconds = self.lasted.as_secs_f64();
        let probed = self.probed.values();
        breakdown.libraries = probed.map(|library| library.name().to_owned()).collect();
        breakdown.libraries.sort();
        breakdown.events_lost = self.lost;
        if breakdown.handshakes.is_empty() && breakdown.batches.is_none() {
            self.notes.push(
                "no handshake was seen: no traced process made a TLS connection through this \
                 libssl; a process with OpenSSL linked in statically cannot be traced"
                    .to_owned(),
            );
        }
        self.notes.dedup();
        breakdown.notes = self.notes;
        Ok((breakdown, self.kept))
    }

    fn tracer_pids(&self) -> Vec<u32> {
        self.tracers.iter().map(Tracer::pid).collect()
    }

    fn handshakes(&mut self, libssl: Library) -> Result<(), Failure> {
        if !self.probed.contains_key(&libssl.identity()) {
            let script = script::handshakes(&libssl, self.program.root());
            self.probed.insert(libssl.identity(), libssl);
            self.trace(&script)?;
        }
        Ok(())
    }

    fn batches(&mut self, module: Library) -> Result<(), Failure> {
        if self.probed.contains_key(&module.identity()) {
            return Ok(());
        }
        let file = module.clone();
        let probes = self
            .interrupt
            .or(move || elf::has_probe(file.file(), "lanelock", "batch_start"))?;
        match probes {
            Ok(true) => {
                let script = script::batches(&module, &self.libraries, self.program.root());
                self.probed.insert(module.identity(), module);
                self.trace(&script)?;
            }
            Ok(false) => self.notes.push(format!(
                "{} has no probes: its batches are not seen",
                module.name()
            )),
            Err(error) => self.notes.push(format!(
                "{}: {error}: its batches are not seen",
                module.name()
            )),
        }
        Ok(())
    }

    fn trace(&mut self, script: &str) -> Result<(), Failure> {
        let mode = match self.wants {
            Wants {
                print: false,
                keep: false,
                ..
            } => TOTALS,
            _ => EVENTS,
        };
        let number = self.tracers.len();
        let says = (number, self.says.clone());
        self.tracers
            .push(Tracer::start(&self.bpftrace, script, mode, says)?);
        self.origins.push(None);
        Ok(())
    }

    /// Probes what processes have mapped since the last look.
    fn look(&mut self) -> Result<(), Failure> {
        let tracers = self.tracer_pids();
        for pid in self.program.processes(&tracers) {
            let looked_at = self.looked_at.get(&pid).copied();
            let seen = self.interrupt.or(move || {
                let mappings = Process::new(pid).mappings().ok()?.count();
                (looked_at != Some(mappings)).then(|| (mappings, Mapped::of(pid)))
            })?;
            let Some((mappings, mapped)) = seen else {
                continue;
            };
            self.looked_at.insert(pid, mappings);
            let before = self.tracers.len();
            if let Some(ssl) = mapped.ssl {
                self.handshakes(ssl)?;
            }
            if let Some(module) = mapped.module {
                self.batches(module)?;
            }
            if self.tracers.len() > before {
                self.notes.push(format!(
                    "process {pid} ({}) loaded an unexpected library; its figures start after \
                     {:.1} s",
                    process::name(pid).unwrap_or_default(),
                    self.began.elapsed().as_secs_f64()
                ));
            }
        }
        Ok(())
    }

    fn await_probes(&mut self) -> Result<(), Failure> {
        let deadline = Instant::now() + PATIENCE;
        while self.origins.contains(&None) {
            if self.interrupt.came() {
                return Err(Failure::Failed("interrupted".to_owned()));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Failure::Failed(format!(
                    "bpftrace did not put its probes in place within {} s",
                    PATIENCE.as_secs()
                )));
            }
            if let Ok(said) = self.said.recv_timeout(left.min(Duration::from_millis(50))) {
                self.hear(said)?;
            }
        }
        Ok(())
    }

    fn hear(&mut self, (number, said): Said) -> Result<(), Failure> {
        match said {
            Some(Ok(Message::Ready(origin))) => self.origins[number] = Some(origin),
            Some(Ok(Message::Event(line))) => self.event(number, &line),
            Some(Ok(Message::Maps(maps))) => self.totals.add(maps),
            Some(Ok(Message::Lost(events))) => self.lost += events,
            Some(Err(unreadable)) => return Err(Failure::Failed(unreadable)),
            None if self.origins[number].is_none() && number < self.tracers.len() => {
                let complaints = self.tracers.remove(number).join();
                return Err(Failure::Failed(format!(
                    "bpftrace ended before its probes were in place: {complaints}"
                )));
            }
            None => {}
        }
        Ok(())
    }

    fn event(&mut self, number: usize, line: &[u8]) {
        let first = self.origins.iter().flatten().min();
        let later = match (self.origins[number], first) {
            (Some(origin), Some(first)) => (origin - first) / 1000,
            _ => 0,
        };
        if let Some(event) = Event::parse(line, later) {
            self.waiting.push(event);
        }
    }

    /// Prints and keeps events in order of time, but for those that others may still precede.
    fn pass_on(&mut self, disorder: Duration) -> Result<(), Failure> {
        self.waiting.sort_by_key(|event| event.time_us);
        let newest = self.waiting.last().map_or(0, |event| event.time_us);
        let disorder = u64::try_from(disorder.as_micros()).unwrap_or(u64::MAX);
        let settled = match self.interrupt.came() || disorder == 0 {
            true => self.waiting.len(),
            false => self
                .waiting
                .partition_point(|event| event.time_us + disorder <= newest),
        };
        for event in self.waiting.drain(..settled) {
            if self.wants.print {
                print(format_args!("{event}\n"))?;
            }
            if self.wants.keep && self.kept.len() < KEPT {
                self.kept.push(event);
            }
        }
        Ok(())
    }
}
