//! What the kernel tests share: a random source, buffers that end at a guard page, bursts of
//! messages in every shape, and a test per instruction set.

use std::prelude::v1::*;
use std::{ptr, vec};

use crate::aes::EncryptKey;
use crate::{Machine, Tier};

/// A test per tier: `property(machine)`. One that the CPU lacks is reported as such; one that the
/// CPU has always runs.
macro_rules! per_tier {
    ($($property:ident),* $(,)?) => {
        $(
            mod $property {
                use $crate::Tier;

                #[test]
                fn avx512() {
                    $crate::testing::on(Tier::Avx512, super::$property);
                }
                #[test]
                fn avx2() {
                    $crate::testing::on(Tier::Avx2, super::$property);
                }
                #[test]
                fn aesni() {
                    $crate::testing::on(Tier::AesNi, super::$property);
                }
                #[test]
                fn portable() {
                    $crate::testing::on(Tier::Portable, super::$property);
                }
            }
        )*
    };
}
pub(crate) use per_tier;

/// Whether the CPU has a feature of x86-64, by the standard library's word.
macro_rules! has {
    ($feature:tt) => {{
        #[cfg(target_arch = "x86_64")]
        let has = std::is_x86_feature_detected!($feature);
        #[cfg(not(target_arch = "x86_64"))]
        let has = false;
        has
    }};
}
pub(crate) use has;

/// Runs `property` on the widest registers of `tier`, unless this CPU does not have it. That it is
/// detected as the standard library does is a test of [`Machine`].
pub(crate) fn on(tier: Tier, property: impl Fn(Machine)) {
    match Machine::of_tier(tier) {
        Some(machine) => property(machine),
        None => std::println!("this CPU has no {}", tier.name()),
    }
}

/// As [`on`], and also without what only some CPUs of the tier have.
pub(crate) fn on_all(tier: Tier, property: impl Fn(Machine)) {
    let mut machines = Machine::all()
        .filter(|machine| machine.tier() == tier)
        .peekable();
    if machines.peek().is_none() {
        std::println!("this CPU has no {}", tier.name());
    }
    machines.for_each(property);
}

/// The machines of this CPU that differ in their registers of digits.
pub(crate) fn machines() -> Vec<Machine> {
    let lanes = Machine::all().find(|machine| machine.has_digits());
    lanes.into_iter().chain([Machine::PORTABLE]).collect()
}

/// `machine` as it is where a round of AES begins once a cycle, and where it begins twice: chains of
/// many keys then have other lanes.
pub(crate) fn paces(machine: Machine) -> [Machine; 2] {
    [4, 8].map(|keyed_registers| Machine {
        keyed_registers,
        ..machine
    })
}

/// Enough to choose shapes and fill buffers, and the same on each run.
pub(crate) struct Random(fastrand::Rng);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(fastrand::Rng::with_seed(seed))
    }

    pub fn next(&mut self) -> u64 {
        self.0.u64(..)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        self.0.usize(..bound)
    }

    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        self.0.fill(&mut bytes);
        bytes
    }

    pub fn block(&mut self) -> [u8; 16] {
        let mut block = [0; 16];
        self.0.fill(&mut block);
        block
    }
}

/// Memory between two pages that may not be touched.
pub(crate) struct Guarded {
    mapping: *mut u8,
    len: usize,
}

impl Guarded {
    const PAGE: usize = 4096;

    pub fn new(len: usize) -> Self {
        let len = len.next_multiple_of(Self::PAGE).max(Self::PAGE);
        let (prot, flags) = (libc::PROT_NONE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a fresh anonymous mapping; its inner pages become readable and writable.
        let mapping = unsafe {
            let mapping = libc::mmap(ptr::null_mut(), len + 2 * Self::PAGE, prot, flags, -1, 0);
            assert_ne!(mapping, libc::MAP_FAILED);
            let inner = mapping.byte_add(Self::PAGE);
            assert_eq!(
                libc::mprotect(inner, len, libc::PROT_READ | libc::PROT_WRITE),
                0
            );
            mapping.cast()
        };
        Self { mapping, len }
    }

    /// The last `len` bytes: one step behind them faults.
    pub fn tail(&mut self, len: usize) -> &mut [u8] {
        let from = self.len - len;
        &mut self.bytes()[from..]
    }

    /// The first `len` bytes: one step before them faults.
    pub fn head(&mut self, len: usize) -> &mut [u8] {
        &mut self.bytes()[..len]
    }

    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the inner pages, for as long as the mapping lives.
        unsafe { std::slice::from_raw_parts_mut(self.mapping.add(Self::PAGE), self.len) }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: the mapping of `new`.
        unsafe { libc::munmap(self.mapping.cast(), self.len + 2 * Self::PAGE) };
    }
}

/// Bytes of a hexadecimal string; blanks are passed over.
pub(crate) fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| u8::try_from(c.to_digit(16).expect("a hexadecimal digit")).unwrap())
        .collect();
    digits
        .chunks(2)
        .map(|pair| pair[0] << 4 | pair[1])
        .collect()
}

/// One message of a burst.
pub(crate) struct Message {
    pub data: Vec<u8>,
    pub aad: Vec<u8>,
    pub iv: [u8; 16],
    /// Index into the keys of the burst.
    pub key: usize,
    in_place: bool,
    /// Distance between the end of the buffer and the guard page.
    from_guard: usize,
}

/// A message in memory.
pub(crate) struct Placed<'m> {
    pub message: &'m Message,
    pub source: *const u8,
    pub target: *mut u8,
}

/// Key schedules and the buffers that bursts are placed in.
pub(crate) struct Bench {
    pub keys: Vec<EncryptKey>,
    random: Random,
    inputs: Vec<Guarded>,
    outputs: Vec<Guarded>,
}

impl Bench {
    /// Longest burst.
    pub const MOST: usize = 45;
    const ROOM: usize = 64 * 1024 + 512;

    pub fn new(key_bytes: usize) -> Self {
        let mut random = Random::new(key_bytes.try_into().unwrap());
        let keys = (0..40).map(|_| EncryptKey::portable(&random.bytes(key_bytes)).unwrap());
        Self {
            keys: keys.collect(),
            inputs: (0..Self::MOST).map(|_| Guarded::new(Self::ROOM)).collect(),
            outputs: (0..Self::MOST).map(|_| Guarded::new(Self::ROOM)).collect(),
            random,
        }
    }

    /// Bursts of every shape: all lengths to 257, every occupancy, long and short together.
    ///
    /// `run` processes a burst, `expect` is the reference for one message; lengths are rounded
    /// down to `unit` and at least `least`.
    pub fn check(
        &mut self,
        (least, unit): (usize, usize),
        run: impl Fn(&[EncryptKey], &[Placed<'_>]),
        expect: impl Fn(&EncryptKey, &Message) -> Vec<u8>,
    ) {
        let fit = |len: usize| (len / unit * unit).max(least);
        for len in 0..=257 {
            let count = [1, 3][len % 2] + self.random.below(2);
            self.burst(&vec![fit(len); count], &run, &expect);
        }
        let lengths: Vec<_> = (0..=257).map(fit).collect();
        for burst in lengths.chunks(Self::MOST) {
            self.burst(burst, &run, &expect);
        }
        for count in 1..=Self::MOST {
            let equal = fit(self.random.below(300));
            self.burst(&vec![equal; count], &run, &expect);
            let mixed: Vec<_> = (0..count).map(|_| fit(self.random.below(700))).collect();
            self.burst(&mixed, &run, &expect);
        }
        for _ in 0..3 {
            let mut long: Vec<_> = (0..20).map(|_| fit(self.random.below(2000))).collect();
            long[4] = fit(self.random.below(65_537));
            long[17] = fit(65_536 - self.random.below(70));
            self.burst(&long, &run, &expect);
        }
    }

    /// As [`Bench::check`], for kernels that write nothing: `run` compares their results.
    pub fn check_reading(
        &mut self,
        shape: (usize, usize),
        run: impl Fn(&[EncryptKey], &[Placed<'_>]),
    ) {
        let copy_and_run = |keys: &[EncryptKey], burst: &[Placed<'_>]| {
            for placed in burst {
                // SAFETY: both are valid for the message's length.
                unsafe {
                    placed
                        .source
                        .copy_to(placed.target, placed.message.data.len())
                };
            }
            run(keys, burst);
        };
        self.check(shape, copy_and_run, |_, message| message.data.clone());
    }

    fn burst(
        &mut self,
        lengths: &[usize],
        run: &impl Fn(&[EncryptKey], &[Placed<'_>]),
        expect: &impl Fn(&EncryptKey, &Message) -> Vec<u8>,
    ) {
        let random = &mut self.random;
        let one_key = random.below(2) == 0;
        let messages: Vec<_> = lengths
            .iter()
            .map(|len| Message {
                data: random.bytes(*len),
                aad: {
                    let len = random.below(40);
                    random.bytes(len)
                },
                iv: random.block(),
                key: if one_key { 7 } else { random.below(40) },
                in_place: random.below(2) == 0,
                from_guard: [0, 0, random.below(100)][random.below(3)],
            })
            .collect();
        let mut placed = Vec::new();
        for (i, message) in messages.iter().enumerate() {
            let start = self.inputs[i].len - message.from_guard - message.data.len();
            let input = self.inputs[i].bytes();
            input[start - 80..].fill(CANARY);
            input[start..][..message.data.len()].copy_from_slice(&message.data);
            let source = input[start..].as_mut_ptr();
            let output = self.outputs[i].bytes();
            output[start - 80..].fill(CANARY);
            let target = if message.in_place {
                source
            } else {
                output[start..].as_mut_ptr()
            };
            placed.push(Placed {
                message,
                source,
                target,
            });
        }
        run(&self.keys, &placed);
        for (i, message) in messages.iter().enumerate() {
            let len = message.data.len();
            let start = self.inputs[i].len - message.from_guard - len;
            let output = if message.in_place {
                &mut self.inputs[i]
            } else {
                &mut self.outputs[i]
            };
            let output = &output.bytes()[start - 80..];
            let expected = expect(&self.keys[message.key], message);
            assert!(
                output[80..][..len] == expected,
                "message {i} of lengths {lengths:?}, in place {}, one key {one_key}",
                message.in_place
            );
            let untouched = output[..80].iter().chain(&output[80 + len..]);
            assert!(
                untouched.copied().all(|byte| byte == CANARY),
                "wrote outside message {i}"
            );
        }
    }
}

const CANARY: u8 = 0xa5;
