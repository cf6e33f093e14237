//! What the tests share: a random source, memory that ends at a guard page, and a test per tier.

use std::ptr;

use lanelock_kernels::Machine;
#[doc(hidden)] // for `per_tier`
pub use lanelock_kernels::Tier;

/// A test per tier: `property(machine)`. One that the CPU lacks is reported as such; one that the
/// CPU has always runs.
#[macro_export]
macro_rules! per_tier {
    ($($property:ident),* $(,)?) => {
        $(
            mod $property {
                $crate::per_tier!(@tiers |tier| {
                    $crate::testing::on(tier, super::$property);
                });
            }
        )*
    };
    (@tiers |$tier:ident| $test:block) => {
        $crate::per_tier!(@test |$tier| $test
            avx512 Avx512, avx512bw Avx512Bw, avx2 Avx2, aesni AesNi, neon Neon, portable Portable);
    };
    (@test |$tier:ident| $test:block $($name:ident $variant:ident),*) => {
        $(
            #[test]
            fn $name() {
                let $tier = $crate::testing::Tier::$variant;
                $test
            }
        )*
    };
}

/// Runs `property` on the widest registers of `tier`, unless this CPU does not have it. That it is
/// detected as the standard library does is a test of [`Machine`].
pub fn on(tier: Tier, property: impl Fn(Machine)) {
    match Machine::of_tier(tier) {
        Some(machine) => property(machine),
        None => println!("this CPU has no {}", tier.name()),
    }
}

/// As [`on`], and also without what only some CPUs of the tier have.
pub fn on_all(tier: Tier, property: impl Fn(Machine)) {
    let mut machines = Machine::all()
        .filter(|machine| machine.tier() == tier)
        .peekable();
    if machines.peek().is_none() {
        println!("this CPU has no {}", tier.name());
    }
    machines.for_each(property);
}

/// The machines of this CPU that differ in how they multiply digits.
pub fn machines() -> Vec<Machine> {
    let mut machines: Vec<_> = Machine::all().collect();
    let mut met = Vec::new();
    machines.retain(|machine| {
        let is_new = !met.contains(&machine.digits());
        met.push(machine.digits());
        is_new
    });
    machines
}

/// Enough to choose shapes and fill buffers, and the same on each run.
#[derive(Debug)]
pub struct Random(fastrand::Rng);

impl Random {
    /// A source whose numbers follow from the seed.
    pub fn new(seed: u64) -> Self {
        Self(fastrand::Rng::with_seed(seed))
    }

    /// A number below `bound`, which is not zero.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0.usize(..bound)
    }

    /// So many bytes.
    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        self.0.fill(&mut bytes);
        bytes
    }

    /// A block of AES.
    pub fn block(&mut self) -> [u8; 16] {
        let mut block = [0; 16];
        self.0.fill(&mut block);
        block
    }
}

/// Memory between two guards that may not be touched.
#[derive(Debug)]
pub struct Guarded {
    mapping: *mut u8,
    len: usize,
}

impl Guarded {
    /// Linux's largest page on 64-bit Arm, a multiple of its others.
    pub const PAGE: usize = 64 * 1024;

    /// At least `len` bytes, in whole pages.
    ///
    /// # Panics
    /// If the system refuses the memory.
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
///
/// # Panics
/// If it has other characters.
pub fn hex(text: &str) -> Vec<u8> {
    let digits = text.chars().filter(|c| !c.is_whitespace());
    let digits: Vec<_> = digits
        .map(|c| c.to_digit(16).expect("a hexadecimal digit"))
        .collect();
    let byte = |pair: &[u32]| (pair[0] << 4 | pair[1]).to_le_bytes()[0];
    digits.chunks(2).map(byte).collect()
}
