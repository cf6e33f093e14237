//! Each row against its reference, on every machine of each tier that this CPU has: bursts of every shape, in
//! memory that ends or begins at a guard page. A program of its own, as the table has the names of the tests.

#![allow(clippy::unwrap_used, reason = "a test")]

use core::ops::Range;
use std::process::ExitCode;

use lanelock_jobs::testing::{Guarded, Random};
use lanelock_jobs::{Burst, Given, Message, Registers, Row, rows};
use lanelock_kernels::{Machine, Tier};
use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    for tier in Tier::ALL {
        if !tier.is_available() {
            eprintln!("this CPU has no {}", tier.name());
            continue;
        }
        for (index, row) in rows().into_iter().enumerate() {
            let machines = machines(&row, tier);
            if machines.is_empty() {
                assert_eq!(row.registers, Registers::Sha, "{row:?}, {}", tier.name());
                eprintln!(
                    "this CPU has no SHA extensions for {row:?}, {}",
                    tier.name()
                );
                continue;
            }
            trials.push(Trial::test(
                format!("{row:?}, {}", tier.name()),
                move || {
                    agree(&rows()[index], &machines);
                    Ok(())
                },
            ));
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Those of `tier` that `row` runs on.
fn machines(row: &Row, tier: Tier) -> Vec<Machine> {
    Machine::all()
        .filter(|machine| machine.tier() == tier && row.runs_on(*machine))
        .flat_map(|machine| match row.has_paces {
            true => machine.paces().to_vec(),
            false => vec![machine],
        })
        .collect()
}

/// Compares `row` with the reference.
fn agree(row: &Row, machines: &[Machine]) {
    let keys = if row.mixes_keys {
        &row.keys[..1]
    } else {
        &row.keys
    };
    for &key in keys {
        Bench::new(row, key, machines.to_vec()).check();
    }
}

/// Keys of a burst.
const KEYS: usize = 40;
/// Lengths of keys where a burst may mix them: around the blocks of hash functions.
const MIXED: [usize; 22] = [
    0, 1, 20, 63, 64, 65, 71, 72, 73, 103, 104, 105, 127, 128, 129, 135, 136, 137, 143, 144, 145,
    300,
];
/// Bytes of what has code of its own for a few blocks, and of what has none.
const SHORT: usize = 80;
/// Messages of a longer burst than any kernel has lanes, and of the longest.
const MANY: usize = 45;
const MOST: usize = 130;
const ROOM: usize = 64 * 1024 + 512;
const CANARY: u8 = 0xa5;
/// Bytes around a text that are watched.
const MARGIN: usize = 80;

struct Bench<'r> {
    row: &'r Row,
    key: usize,
    machines: Vec<Machine>,
    keys: Vec<Vec<u8>>,
    random: Random,
    inputs: Vec<Guarded>,
    outputs: Vec<Guarded>,
}

/// A message, where it lies and what it has to become.
struct Case {
    text: Vec<u8>,
    key: usize,
    iv: Vec<u8>,
    aad: Vec<u8>,
    tag: Vec<u8>,
    in_place: bool,
    /// Bytes of the guarded memory.
    at: Range<usize>,
    expected: (Vec<u8>, Vec<u8>),
}

impl<'r> Bench<'r> {
    fn new(row: &'r Row, key: usize, machines: Vec<Machine>) -> Self {
        let mut random = Random::new(key.try_into().unwrap());
        let len = |i| {
            if row.mixes_keys {
                MIXED[i % MIXED.len()]
            } else {
                key
            }
        };
        Self {
            row,
            key,
            machines,
            keys: (0..KEYS).map(|i| random.bytes(len(i))).collect(),
            inputs: (0..MOST).map(|_| Guarded::new(ROOM)).collect(),
            outputs: (0..MOST).map(|_| Guarded::new(ROOM)).collect(),
            random,
        }
    }

    /// Bursts of every shape: all lengths to 257, of hash functions to two blocks of each, of text and
    /// of additional data, alone and together; every occupancy; long and short together.
    fn check(&mut self) {
        // The reference of AES is slow.
        let has_time = [Registers::Words, Registers::WordsOrSha].contains(&self.row.registers);
        let longest: usize = if has_time { 340 } else { 257 };
        for len in 0..=longest {
            self.burst(&[(len, longest - len)]);
            let aad = self.random.below(40);
            let mut counts = vec![2 + self.random.below(3)];
            if has_time || len <= SHORT {
                counts.push(17 + self.random.below(24));
            }
            for count in counts {
                self.burst(&vec![(len, aad); count]);
            }
        }
        let every: Vec<_> = (0..=257).map(|len| (len, self.random.below(40))).collect();
        for burst in every.chunks(MANY) {
            self.burst(burst);
        }
        for aad in [511, 512, 513, 4000] {
            self.burst(&[(20, aad)]);
        }
        for blocks in 0..=20 {
            for more in [0, 1, 63] {
                self.burst(&[(64 * blocks + more, 16)]);
            }
        }
        for count in 0..=MANY {
            let equal = (self.random.below(300), self.random.below(40));
            self.burst(&vec![equal; count]);
            self.mixed(count, 400, 40);
            if has_time && count % 3 == 2 {
                self.mixed(count, 64, 64);
                self.mixed(count, 3000, 300);
            }
        }
        self.mixed(65, 300, 50);
        self.mixed(MOST, 300, 50);
        let mut long = self.shapes(20, 2000, 40);
        long[4] = (self.random.below(65_537), 16);
        long[17] = (65_536 - self.random.below(70), self.random.below(4000));
        self.burst(&long);
        if has_time {
            self.mixed(40, 65_537, 40);
        }
    }

    fn shapes(&mut self, count: usize, texts: usize, aads: usize) -> Vec<(usize, usize)> {
        let mut shape = || (self.random.below(texts), self.random.below(aads));
        (0..count).map(|_| shape()).collect()
    }

    fn mixed(&mut self, count: usize, texts: usize, aads: usize) {
        let shapes = self.shapes(count, texts, aads);
        self.burst(&shapes);
    }

    /// Messages with so many bytes of text and of additional data.
    fn burst(&mut self, shapes: &[(usize, usize)]) {
        let one_key = (self.random.below(2) == 0).then(|| self.random.below(KEYS));
        let case = |&(len, aad): &(usize, usize)| {
            let key = one_key.unwrap_or_else(|| self.random.below(KEYS));
            let aad = if self.row.has_aad { aad } else { 0 };
            self.case(self.row.fit(len), aad, key)
        };
        let cases: Vec<_> = shapes.iter().map(case).collect();
        for machine in self.machines.clone() {
            self.run(machine, &cases, one_key.is_some());
        }
    }

    fn case(&mut self, len: usize, aad: usize, key: usize) -> Case {
        let (row, random) = (self.row, &mut self.random);
        // In CCM a longer IV leaves two bytes to count with.
        let ivs = if len > 65_535 {
            &row.ivs[..1]
        } else {
            &row.ivs
        };
        let iv = ivs[random.below(ivs.len())];
        let tag = match random.below(2) {
            0 => row.tags.first(),
            _ => row.tags.get(random.below(row.tags.len().max(1))),
        };
        let start = match random.below(4) {
            0 => 0,
            1 => ROOM_OF_PAGES - random.below(100) - len,
            _ => ROOM_OF_PAGES - len,
        };
        let mut case = Case {
            text: random.bytes(len),
            key,
            iv: random.bytes(iv),
            aad: random.bytes(aad),
            tag: random.bytes(tag.copied().unwrap_or(0)),
            in_place: !row.writes || random.below(2) == 0,
            at: start..start + len,
            expected: (Vec::new(), Vec::new()),
        };
        let mut text = case.text.clone();
        let tag = row.reference(&self.keys[key], &case.given(), &mut text);
        case.expected = (text, tag);
        if row.verifies {
            case.tag.clone_from(&case.expected.1);
            if self.random.below(4) == 0 {
                case.change(&mut self.random);
            }
        }
        case
    }

    fn run(&mut self, machine: Machine, cases: &[Case], one_key: bool) {
        let mut messages = Vec::new();
        for (i, (input, output)) in self.inputs.iter_mut().zip(&mut self.outputs).enumerate() {
            let Some(case) = cases.get(i) else { break };
            let source = case.lie(input.bytes());
            source.copy_from_slice(&case.text);
            let target = case.lie(output.bytes());
            messages.push(match case.in_place {
                true => Message::in_place(source, case.given()),
                false => Message::apart(source, target, case.given()),
            });
        }
        let burst = Burst {
            keys: &self.keys,
            messages,
        };
        let tags = self.row.prepare(machine, &burst, |run| {
            run.run();
            if cases.iter().all(|case| !case.in_place) {
                run.run();
            }
            run.tags()
        });
        drop(burst);
        let lengths = || cases.iter().map(|case| (case.text.len(), case.aad.len()));
        for (i, case) in cases.iter().enumerate() {
            let what = || {
                format!(
                    "{} on {} ({machine}): message {i} of lengths {:?}, IV of {}, in place: {}, \
                     one key: {one_key}",
                    self.row.name(self.key),
                    machine.tier().name(),
                    lengths().collect::<Vec<_>>(),
                    case.iv.len(),
                    case.in_place,
                )
            };
            let (text, tag) = &case.expected;
            let input = self.inputs[i].bytes();
            let output = if case.in_place {
                input
            } else {
                assert!(input[case.at.clone()] == case.text, "source of {}", what());
                self.outputs[i].bytes()
            };
            let written = &output[case.at.clone()];
            let is_wiped = self.row.verifies && tag.is_empty() && written.iter().all(|&b| b == 0);
            assert!(written == *text || is_wiped, "text of {}", what());
            assert!(
                case.margins(output).all(|byte| byte == CANARY),
                "outside {}",
                what()
            );
            assert_eq!(tags[i], *tag, "tag of {}", what());
        }
    }
}

/// A guarded memory has whole pages.
const ROOM_OF_PAGES: usize = ROOM.next_multiple_of(Guarded::PAGE);

impl Case {
    fn given(&self) -> Given<'_> {
        Given {
            key: self.key,
            iv: &self.iv,
            aad: &self.aad,
            tag: &self.tag,
        }
    }

    /// One wrong bit, so that the tag is refused and no plaintext written.
    fn change(&mut self, random: &mut Random) {
        let part = match random.below(3) {
            0 if !self.text.is_empty() => &mut self.text,
            1 if !self.aad.is_empty() => &mut self.aad,
            _ => &mut self.tag,
        };
        let at = random.below(part.len());
        part[at] ^= 1 << random.below(8);
        let text = match self.in_place {
            true => self.text.clone(),
            false => vec![CANARY; self.text.len()],
        };
        self.expected = (text, Vec::new());
    }

    /// Its bytes of `memory`, overwritten with the margins.
    fn lie<'m>(&self, memory: &'m mut [u8]) -> &'m mut [u8] {
        let end = (self.at.end + MARGIN).min(memory.len());
        memory[self.at.start.saturating_sub(MARGIN)..end].fill(CANARY);
        &mut memory[self.at.clone()]
    }

    fn margins(&self, memory: &[u8]) -> impl Iterator<Item = u8> {
        let end = (self.at.end + MARGIN).min(memory.len());
        let before = &memory[self.at.start.saturating_sub(MARGIN)..self.at.start];
        before.iter().chain(&memory[self.at.end..end]).copied()
    }
}
