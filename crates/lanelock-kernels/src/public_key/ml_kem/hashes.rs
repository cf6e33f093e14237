//! The hashes of many operations at a time (FIPS 203, section 4.1).

use core::array::from_fn;

use super::parameters::N;
use super::poly::{Poly, Step, on};
use super::sample::centred;
use crate::arch::words::Registers;
use crate::keccak::{Function, Job, hash_many};
use crate::machine::Machine;
use crate::wipe::wipe;

/// Messages of a call: twice the lanes of the widest register.
pub(super) const CHUNK: usize = 16;

/// Hashes at most [`CHUNK`] messages, each to its output.
#[inline]
pub(super) fn hash_each(
    machine: Machine,
    function: Function,
    messages: &[impl AsRef<[u8]>],
    outputs: &mut [impl AsMut<[u8]>],
) {
    let count = messages.len().min(CHUNK);
    let mut messages = messages.iter();
    let mut outputs = outputs.iter_mut();
    let mut jobs: [Job<'_>; CHUNK] = from_fn(|_| {
        let message = messages.next().map_or(&[][..], AsRef::as_ref);
        Job::new(message, None, outputs.next().map_or(&mut [], AsMut::as_mut))
    });
    hash_many(machine, function, &mut jobs[..count]);
}

/// Samples the small polynomials of each seed, number `i` of them with `eta(i)`, and hands them to
/// `to` with the number of the seed.
pub(super) fn small(
    machine: Machine,
    seeds: &[[u8; 32]],
    each: usize,
    eta: impl Fn(usize) -> usize,
    mut to: impl FnMut(usize, usize, Poly),
) {
    let mut messages = [[0; 33]; CHUNK];
    let mut bytes = [[0; 3 * N / 4]; CHUNK];
    let all = each * seeds.len();
    for first in (0..all).step_by(CHUNK) {
        let count = CHUNK.min(all - first);
        for (i, message) in messages[..count].iter_mut().enumerate() {
            let (number, seed) = ((first + i) / seeds.len(), (first + i) % seeds.len());
            message[..32].copy_from_slice(&seeds[seed]);
            message[32] = number.to_le_bytes()[0];
        }
        let mut places = bytes.iter_mut();
        let mut jobs: [Job<'_>; CHUNK] = from_fn(|i| {
            let place = places.next().map_or(&mut [][..], |place| {
                let len = 64 * eta((first + i) / seeds.len());
                &mut place[..len]
            });
            Job::new(&messages[i], None, place)
        });
        hash_many(machine, Function::SHAKE256, &mut jobs[..count]);
        for (i, bytes) in bytes[..count].iter().enumerate() {
            let (number, seed) = ((first + i) / seeds.len(), (first + i) % seeds.len());
            let mut poly = Poly::ZERO;
            on(
                machine,
                Centred {
                    eta: eta(number),
                    bytes,
                    poly: &mut poly,
                },
            );
            to(seed, number, poly);
            wipe(core::slice::from_mut(&mut poly));
        }
    }
    wipe(&mut messages);
    wipe(&mut bytes);
}

struct Centred<'p> {
    eta: usize,
    bytes: &'p [u8],
    poly: &'p mut Poly,
}

impl Step for Centred<'_> {
    #[inline(always)]
    fn run<S: Registers>(self, _: S::Proof) {
        centred(self.eta, &self.bytes[..64 * self.eta], self.poly);
    }
}
