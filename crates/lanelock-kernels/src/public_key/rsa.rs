//! RSA with moduli of 2048, 3072 and 4096 bits: operations in lockstep, one for each lane, any mix of
//! keys of one size, on numbers alone (RFC 8017, section 5); padding is the caller's.
//!
//! The private operation works modulo each prime (section 5.1.2), with windows of the exponents
//! whose table is read as a whole for each of them. Messages may be blinded, and every result is
//! checked with the public exponent before it leaves: a result that is wrong modulo one prime
//! alone would give the primes away (Boneh, DeMillo, Lipton, "On the importance of checking
//! cryptographic protocols for faults", 1997).
//!
//! A call needs up to 128 KiB of stack.

mod blinding;
mod crt;
mod karatsuba;
mod key;
mod modulus;
mod montgomery;
mod number;
mod operation;
mod power;
mod scanning;
mod wide;

#[cfg(test)]
mod tests;

pub use blinding::{Blinding, BlindingJob};
pub use key::{KeyError, PrivateComponents, PrivateKey, PublicComponents, PublicKey};
pub use operation::{Failure, PrivateJob, PublicJob};

use crate::arch::on;
use crate::arch::register::Proof;
use crate::machine::Machine;
use blinding::Make;
use operation::{Private, Public};

/// A private key of 2048 bits.
pub type PrivateKey2048 = PrivateKey<2, 4>;
/// A private key of 3072 bits.
pub type PrivateKey3072 = PrivateKey<3, 6>;
/// A private key of 4096 bits.
pub type PrivateKey4096 = PrivateKey<4, 8>;
/// A public key of 2048 bits.
pub type PublicKey2048 = PublicKey<4>;
/// A public key of 3072 bits.
pub type PublicKey3072 = PublicKey<6>;
/// A public key of 4096 bits.
pub type PublicKey4096 = PublicKey<8>;

/// A public key of a size that there are kernels for; sealed. Its functions are compiled in this
/// crate, once for each size.
pub trait PublicSize<const N: usize>: sealed::Sealed {
    #[doc(hidden)]
    fn public(machine: Machine, jobs: &mut [PublicJob<'_, N>]);
}

/// A private key of a size that there are kernels for; sealed, as [`PublicSize`] is.
pub trait PrivateSize<const P: usize, const N: usize>: sealed::Sealed {
    #[doc(hidden)]
    fn make_blindings(machine: Machine, jobs: &mut [BlindingJob<'_, P, N>]);
    #[doc(hidden)]
    fn private(machine: Machine, jobs: &mut [PrivateJob<'_, P, N>], check: bool);
}

/// Makes blindings; sets `made` of every job.
pub fn make_blindings<const P: usize, const N: usize>(
    machine: Machine,
    jobs: &mut [BlindingJob<'_, P, N>],
) where
    PrivateKey<P, N>: PrivateSize<P, N>,
{
    PrivateKey::make_blindings(machine, jobs);
}

/// The private operation: signs, or decrypts. Sets `result` of every job.
pub fn private<const P: usize, const N: usize>(machine: Machine, jobs: &mut [PrivateJob<'_, P, N>])
where
    PrivateKey<P, N>: PrivateSize<P, N>,
{
    PrivateKey::private(machine, jobs, true);
}

/// As [`private`], but results are not checked: to measure what the check costs.
///
/// Whoever sees one result that is wrong because of a fault can compute the key.
pub fn private_without_check<const P: usize, const N: usize>(
    machine: Machine,
    jobs: &mut [PrivateJob<'_, P, N>],
) where
    PrivateKey<P, N>: PrivateSize<P, N>,
{
    PrivateKey::private(machine, jobs, false);
}

/// The public operation: verifies, or encrypts. Sets `result` of every job.
pub fn public<const N: usize>(machine: Machine, jobs: &mut [PublicJob<'_, N>])
where
    PublicKey<N>: PublicSize<N>,
{
    PublicKey::public(machine, jobs);
}

mod sealed {
    /// A key of a size in this module.
    pub trait Sealed {}
}

macro_rules! size {
    ($p:literal, $n:literal) => {
        impl sealed::Sealed for PublicKey<$n> {}
        impl sealed::Sealed for PrivateKey<$p, $n> {}

        impl PublicSize<$n> for PublicKey<$n> {
            fn public(machine: Machine, jobs: &mut [PublicJob<'_, $n>]) {
                for jobs in jobs.chunks_mut(machine.digits.lanes()) {
                    on!(
                        machine.digits,
                        |V, proof, jobs: &mut [PublicJob<'_, $n>]| {
                            proof.call(Public::<V, $n> { proof, jobs })
                        }
                    );
                }
            }
        }

        impl PrivateSize<$p, $n> for PrivateKey<$p, $n> {
            fn make_blindings(machine: Machine, jobs: &mut [BlindingJob<'_, $p, $n>]) {
                for jobs in jobs.chunks_mut(machine.digits.lanes()) {
                    on!(
                        machine.digits,
                        |V, proof, jobs: &mut [BlindingJob<'_, $p, $n>]| {
                            proof.call(Make::<V, $p, $n> { proof, jobs })
                        }
                    );
                }
            }

            fn private(machine: Machine, jobs: &mut [PrivateJob<'_, $p, $n>], check: bool) {
                for jobs in jobs.chunks_mut(machine.digits.lanes()) {
                    on!(
                        machine.digits,
                        |V, proof, jobs: &mut [PrivateJob<'_, $p, $n>], check: bool| {
                            proof.call(Private::<V, $p, $n> { proof, jobs, check })
                        }
                    );
                }
            }
        }
    };
}

size!(2, 4);
size!(3, 6);
size!(4, 8);
