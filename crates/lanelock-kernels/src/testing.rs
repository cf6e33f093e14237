//! What the kernel tests share: a random source, buffers that end at a guard page, and a test per
//! instruction set. What is alike for all kernels is tested in `jobs`.

use std::prelude::v1::*;
use std::{ptr, vec};

use crate::{Machine, Tier};

/// A test per tier: `property(machine)`. One that the CPU lacks is reported as such; one that the
/// CPU has always runs.
macro_rules! per_tier {
    ($($property:ident),* $(,)?) => {
        $(
            mod $property {
                $crate::testing::per_tier!(@tiers |tier| {
                    $crate::testing::on(tier, super::$property);
                });
            }
        )*
    };
    (@tiers |$tier:ident| $test:block) => {
        $crate::testing::per_tier!(@test |$tier| $test
            avx512 Avx512, avx2 Avx2, aesni AesNi, neon Neon, portable Portable);
    };
    (@test |$tier:ident| $test:block $($name:ident $variant:ident),*) => {
        $(
            #[test]
            fn $name() {
                let $tier = $crate::Tier::$variant;
                $test
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
    let mut machines: Vec<_> = Machine::all().collect();
    let mut met = Vec::new();
    machines.retain(|machine| {
        let kind = core::mem::discriminant(&machine.digits);
        let is_new = !met.contains(&kind);
        met.push(kind);
        is_new
    });
    machines
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

/// Memory between two guards that may not be touched.
pub(crate) struct Guarded {
    mapping: *mut u8,
    len: usize,
}

impl Guarded {
    /// Linux's largest page on 64-bit Arm, a multiple of its others.
    pub const PAGE: usize = 64 * 1024;

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

    /// The inner pages: one step before or past them faults.
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
