//! ML-KEM (FIPS 203): key generation, encapsulation and decapsulation, many operations at a time,
//! each with a key of its own.
//!
//! Most of the time goes to Keccak. Permutations of an operation, those of the matrix apart:
//!
//! | | matrix | generate | encapsulate | decapsulate |
//! |---|---|---|---|---|
//! | ML-KEM-512 | 12 | 15 | 14 | 14 |
//! | ML-KEM-768 | 27 | 16 | 17 | 17 |
//! | ML-KEM-1024 | 48 | 21 | 22 | 22 |
//!
//! Eight at a time on Zen 4 with AVX-512, an encapsulation of ML-KEM-768 takes 5.6 µs (`lanelock perf
//! pubkey --engine native --batch 8 --algorithm ml-kem-768-encapsulate`): 36 % in its 44 permutations,
//! 14 % in absorbing and squeezing, 23 % in transforms and what follows them, 8 % in sampling the
//! matrix and multiplying with it (`perf record`). The instructions of the permutations alone would
//! take 1.7 µs (see `keccak/permutation.rs`). All hashes of all operations run in the lanes of [`keccak`](crate::keccak); an
//! operation that is alone fills them with the entries of its matrix. Polynomials are not
//! interleaved: a register has 16-bit coefficients of one polynomial, as many as it holds. Eight
//! polynomials of 256 coefficients take the same number of multiplications either way, encodings
//! and sampling need no transposition, and one operation is as fast as one of many.
//!
//! The transform keeps each layer's geometry the same: it pairs the halves of a polynomial and
//! interleaves what comes out. The coefficients with even indices end up in the first half of a
//! transformed polynomial, the others in the second, and no step needs to look inside a register.
//!
//! Branches and addresses depend on nothing but what is public: the seed of the matrix and whether
//! a key is valid. Secrets are wiped. A call needs up to 128 KiB of stack.

mod code;
mod decapsulate;
mod encapsulate;
mod encrypt;
mod generate;
mod hashes;
mod matrix;
mod parameters;
mod poly;
mod sample;

#[cfg(test)]
mod tests;

pub use decapsulate::{Decapsulation, decapsulate_many, is_decapsulation_key};
pub use encapsulate::{Encapsulation, encapsulate_many, is_encapsulation_key};
pub use generate::{Generation, generate_many};
pub use parameters::Parameters;

/// Bytes of a shared secret, and of each seed.
pub const SECRET: usize = 32;

/// Operations that run together.
const BATCH: usize = 8;
