//! Nanoseconds per message of every symmetric kernel, by tier, number of keys and size, with the
//! making of its job.
//!
//! `cargo bench -p lanelock-jobs --bench kernels -- [NAME [TIER]] [OPTIONS]`
//! runs the kernels with NAME in their names ("AES-128 GCM", "SHA-256, key"), or all.
//!
//! - `--burst N`: messages that run together, 32 if not given.
//! - `--size N`: messages of N bytes alone; else several sizes, and a mix of them (`--size mix`).
//! - `--stride N`: bytes from a message to the next. Those of whole pages share their cache sets.
//!
//! Each burst is compared with the reference before it is timed.

use std::time::{Duration, Instant};

use lanelock_jobs::{Burst, Given, Message, Registers, Row, Run};
use lanelock_kernels::{Machine, Tier};

const SIZES: [usize; 9] = [16, 64, 128, 256, 576, 1024, 1504, 4096, 8192];
/// Of packets, over and over.
const MIX: [usize; 12] = [64, 576, 64, 1504, 64, 576, 64, 64, 576, 64, 64, 576];

struct Options {
    name: String,
    tier: String,
    burst: usize,
    size: Option<String>,
    stride: usize,
}

impl Options {
    fn of_arguments() -> Self {
        let mut options = Self {
            name: String::new(),
            tier: String::new(),
            burst: 32,
            size: None,
            stride: 8192 + 320,
        };
        let mut named = 0;
        let mut arguments = std::env::args().skip(1).filter(|a| a != "--bench");
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().expect("a value of the option");
            let number = |text: String| text.parse().expect("a number");
            match argument.as_str() {
                "--burst" => options.burst = number(value()),
                "--size" => options.size = Some(value()),
                "--stride" => options.stride = number(value()),
                _ if named == 0 => (options.name, named) = (argument, 1),
                _ => options.tier = argument,
            }
        }
        options
    }

    /// The lengths of a burst, by the name of its column.
    fn columns(&self) -> Vec<(String, Vec<usize>)> {
        let size = |size: usize| (size.to_string(), vec![size; self.burst]);
        let mix = MIX.iter().copied().cycle().take(self.burst).collect();
        let mix = [("mix".to_owned(), mix)];
        match self.size.as_deref() {
            None => SIZES.into_iter().map(size).chain(mix).collect(),
            Some("mix") => mix.into(),
            Some(text) => vec![size(text.parse().expect("a number of bytes, or mix"))],
        }
    }
}

fn main() {
    let options = Options::of_arguments();
    let columns = options.columns();
    print!("{:70}", "ns per message");
    columns.iter().for_each(|(name, _)| print!(" {name:>8}"));
    println!();
    let mut lines = 0;
    for row in lanelock_jobs::rows() {
        for &key in &row.keys {
            if !row.name(key).contains(&options.name) {
                continue;
            }
            for machine in machines(&row, &options.tier) {
                let counts = [1, options.burst];
                for &keys in if key > 0 { &counts[..] } else { &[1] } {
                    print_line(&row, key, keys, machine, &columns, options.stride);
                    lines += 1;
                }
            }
        }
    }
    assert!(lines > 0, "no kernel has this name on this tier");
}

fn print_line(
    row: &Row,
    key: usize,
    keys: usize,
    machine: Machine,
    columns: &[(String, Vec<usize>)],
    stride: usize,
) {
    let sha = match row.registers {
        Registers::WordsOrSha if machine.has_sha() => "+sha",
        _ => "",
    };
    let tier = format!("{}{sha}", machine.tier().name());
    let keys_of_it = match (key, keys) {
        (0, _) => String::new(),
        (_, 1) => "one key".to_owned(),
        (_, keys) => format!("{keys} keys"),
    };
    print!("{:49} {tier:11} {keys_of_it:8}", row.name(key));
    for (_, lengths) in columns {
        let plan = Plan::new(row, key, keys, lengths, stride);
        print!(" {:8.1}", plan.measure(machine));
    }
    println!();
}

/// The widest of each tier, for hash functions also without the SHA extensions.
fn machines(row: &Row, tier: &str) -> impl Iterator<Item = Machine> {
    let has_both = row.registers == Registers::WordsOrSha;
    Tier::available()
        .filter(move |available| available.name().contains(tier))
        .filter_map(Machine::of_tier)
        .flat_map(move |machine| {
            let without = (has_both && machine.has_sha()).then(|| machine.without_sha());
            [Some(machine), without].into_iter().flatten()
        })
        .filter(|machine| row.runs_on(*machine))
}

/// A burst whose messages are written to other memory.
struct Plan<'r> {
    row: &'r Row,
    keys: Vec<Vec<u8>>,
    lengths: Vec<usize>,
    ivs: Vec<Vec<u8>>,
    aad: &'static [u8],
    tags: Vec<Vec<u8>>,
    source: Vec<u8>,
    stride: usize,
}

impl<'r> Plan<'r> {
    fn new(row: &'r Row, key: usize, keys: usize, lengths: &[usize], stride: usize) -> Self {
        let lengths: Vec<_> = lengths.iter().map(|&len| row.fit(len)).collect();
        let stride = lengths.iter().copied().fold(stride, usize::max);
        let pattern = |i: usize| (i * 7 + i / 251).to_le_bytes()[0];
        let iv = |i: usize| vec![pattern(i); row.ivs[0]];
        let tag = vec![0; row.tags.first().copied().unwrap_or(0)];
        Self {
            row,
            keys: (0..keys)
                .map(|i| (i..i + key).map(pattern).collect())
                .collect(),
            ivs: (0..lengths.len()).map(iv).collect(),
            aad: if row.has_aad { &[5; 16] } else { &[] },
            tags: vec![tag; lengths.len()],
            source: (0..lengths.len() * stride + PAGE).map(pattern).collect(),
            lengths,
            stride,
        }
    }

    fn given(&self, i: usize) -> Given<'_> {
        Given {
            key: i % self.keys.len(),
            iv: &self.ivs[i],
            aad: self.aad,
            tag: &self.tags[i],
        }
    }

    /// From a page boundary, so that a stride means the same in each run.
    fn text(&self, i: usize) -> &[u8] {
        let from = self.source.as_ptr().align_offset(PAGE) + i * self.stride;
        &self.source[from..][..self.lengths[i]]
    }

    /// What the reference makes of each message. Tags that are compared are right from here on.
    fn expect(&mut self) -> Vec<(Vec<u8>, Vec<u8>)> {
        let expect = |i: usize| {
            let (given, mut turned) = (self.given(i), self.text(i).to_vec());
            let tag = self
                .row
                .reference(&self.keys[given.key], &given, &mut turned);
            (turned, tag)
        };
        let expected: Vec<_> = (0..self.lengths.len()).map(expect).collect();
        if self.row.verifies {
            self.tags = expected.iter().map(|(_, tag)| tag.clone()).collect();
        }
        expected
    }

    fn prepare<T>(
        &self,
        machine: Machine,
        target: &mut [u8],
        then: impl FnOnce(&mut dyn Run) -> T,
    ) -> T {
        let mut messages = Vec::new();
        for (i, place) in target
            .chunks_mut(self.stride)
            .take(self.lengths.len())
            .enumerate()
        {
            let place = &mut place[..self.lengths[i]];
            messages.push(Message::apart(self.text(i), place, self.given(i)));
        }
        let keys = &self.keys;
        self.row.prepare(machine, &Burst { keys, messages }, then)
    }

    /// Checks the burst, then times it: nanoseconds per message.
    fn measure(mut self, machine: Machine) -> f64 {
        let expected = self.expect();
        let mut target = vec![0; self.source.len()];
        let from = target.as_ptr().align_offset(PAGE);
        let target = &mut target[from..];
        let tags = self.prepare(machine, target, |run| {
            run.run();
            run.tags()
        });
        let written = target.chunks(self.stride);
        for (i, ((turned, tag), (written, found))) in
            expected.iter().zip(written.zip(&tags)).enumerate()
        {
            let len = self.lengths[i];
            let is_right = tag == found && (!self.row.writes || *turned == written[..len]);
            assert!(
                is_right,
                "{:?}: message {i} of {len} bytes is wrong",
                self.row
            );
        }
        let nanoseconds = self.prepare(machine, target, |run| time(|| run.run()));
        nanoseconds / self.lengths.len() as f64
    }
}

const PAGE: usize = 4096;

/// The best of many short windows, in nanoseconds: a window is short enough to lie between two
/// interruptions even on a busy machine.
fn time(mut run: impl FnMut()) -> f64 {
    let begin = Instant::now();
    let mut best = f64::MAX;
    while begin.elapsed() < Duration::from_millis(25) {
        let start = Instant::now();
        let mut rounds = 0_u32;
        while start.elapsed() < Duration::from_micros(100) {
            run();
            run();
            rounds += 2;
        }
        best = best.min(start.elapsed().as_secs_f64() * 1e9 / f64::from(rounds));
    }
    best
}
