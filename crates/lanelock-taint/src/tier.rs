//! The instruction sets that kernels are written for, and which of them Valgrind can run.

#![allow(unsafe_code)] // runs instructions in a child, which may die of them

use lanelock_kernels::{self as kernels, Machine};

/// An instruction set that some kernel is instantiated for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Tier {
    /// Plain integers.
    Portable,
    /// One AES block per register.
    AesNi,
    /// Eight 32-bit lanes per register. AES has [`Tier::Vaes256`], or one block per register in the encoding of AVX.
    Avx2,
    /// Two AES blocks per register.
    Vaes256,
    /// The hash extensions.
    ShaNi,
    /// Words twice as wide as with AVX2; AES has one block per register.
    Avx512Bw,
    /// Everything twice as wide.
    Avx512,
}

impl Tier {
    /// All, in the order of the table.
    pub const ALL: [Self; 7] = [
        Self::Portable,
        Self::AesNi,
        Self::Avx2,
        Self::Vaes256,
        Self::ShaNi,
        Self::Avx512Bw,
        Self::Avx512,
    ];

    /// The name in the table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::AesNi => "aesni",
            Self::Avx2 => "avx2",
            Self::Vaes256 => "vaes256",
            Self::ShaNi => "sha-ni",
            Self::Avx512Bw => "avx512bw",
            Self::Avx512 => "avx512",
        }
    }

    /// What kernels run on; nothing if the CPU, or what imitates it, lacks it.
    pub fn machine(self) -> Option<Machine> {
        let of_tier = Machine::of_tier;
        match self {
            Self::Portable => Some(Machine::PORTABLE),
            Self::AesNi => of_tier(kernels::Tier::AesNi).map(Machine::without_sha),
            Self::Avx2 => of_tier(kernels::Tier::Avx2).map(Machine::without_sha),
            Self::Vaes256 => of_tier(kernels::Tier::Avx2).filter(|avx2| avx2.aes_blocks() == 2),
            Self::ShaNi => of_tier(kernels::Tier::AesNi).filter(|aesni| aesni.has_sha()),
            Self::Avx512Bw => of_tier(kernels::Tier::Avx512Bw).map(Machine::without_sha),
            Self::Avx512 => of_tier(kernels::Tier::Avx512),
        }
    }

    /// Why the tier cannot run; nothing if it can.
    pub fn refusal(self) -> Option<String> {
        if self.machine().is_some() {
            return None;
        }
        let (instruction, run) = self.sample()?;
        let cpu_has = std::fs::read_to_string("/proc/cpuinfo")
            .is_ok_and(|info| info.split_whitespace().any(|flag| flag == self.flag()));
        Some(match (cpu_has, survives(run)) {
            (false, _) => "this CPU does not have it".to_owned(),
            (true, false) => format!("Valgrind cannot decode {instruction}, which the CPU has"),
            (true, true) => format!("Valgrind runs {instruction}, but CPUID under it denies that"),
        })
    }

    /// The Linux kernel's name for the tier's last extension.
    fn flag(self) -> &'static str {
        match self {
            Self::Portable => "",
            Self::AesNi => "aes",
            Self::Avx2 => "avx2",
            Self::Vaes256 => "vaes",
            Self::ShaNi => "sha_ni",
            Self::Avx512Bw => "avx512bw",
            Self::Avx512 => "avx512_vbmi2",
        }
    }

    /// An instruction of the tier that the tier below lacks.
    #[cfg(target_arch = "x86_64")]
    fn sample(self) -> Option<(&'static str, unsafe fn())> {
        use std::arch::asm;
        macro_rules! sample {
            ($text:literal) => {{
                unsafe fn run() {
                    // SAFETY: changes one register; where the instruction is unknown the process
                    // ends, which is what the caller wants to see.
                    unsafe { asm!($text, out("xmm0") _) }
                }
                Some(($text, run as unsafe fn()))
            }};
        }
        match self {
            Self::Portable => None,
            Self::AesNi => sample!("aesenc xmm0, xmm0"),
            Self::Avx2 => sample!("vpaddd ymm0, ymm0, ymm0"),
            Self::Vaes256 => sample!("vaesenc ymm0, ymm0, ymm0"),
            Self::ShaNi => sample!("sha256msg1 xmm0, xmm0"),
            Self::Avx512Bw => sample!("vpaddw zmm0, zmm0, zmm0"),
            Self::Avx512 => sample!("vpcompressb zmm0, zmm0"),
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn sample(self) -> Option<(&'static str, unsafe fn())> {
        None
    }
}

/// Whether a child that runs `instruction` lives to its end.
fn survives(instruction: unsafe fn()) -> bool {
    // SAFETY: the process has one thread. The child runs the instruction and leaves, or dies of
    // SIGILL, whose default action is restored first; it touches nothing of the parent's.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            libc::signal(libc::SIGILL, libc::SIG_DFL);
            instruction();
            libc::_exit(0);
        }
        let mut status = -1;
        child > 0 && libc::waitpid(child, &raw mut status, 0) == child && status == 0
    }
}
