//! One message hashed as its parts arrive.

#![allow(unsafe_code)] // hands pointers to the permutation

use super::function::MAX_RATE;
use super::lanes::{STATE, Sponges};
use super::{Function, Key};
use crate::arch::words::{Kernel, Registers};
use crate::machine::Machine;
use crate::wipe::wipe;

/// A hash in progress: its state is kept between partial updates. Wiped on drop.
pub struct Stream {
    machine: Machine,
    function: Function,
    state: [u8; STATE],
    /// Bytes that do not fill a block yet; invariant: `filled` < one block.
    buffer: [u8; MAX_RATE],
    filled: usize,
}

impl Stream {
    /// A hash of nothing so far.
    #[must_use]
    pub fn new(machine: Machine, function: Function) -> Self {
        Self {
            machine,
            function,
            state: [0; STATE],
            buffer: [0; MAX_RATE],
            filled: 0,
        }
    }

    /// A message under `key`. One of HMAC or KMAC ends with [`Self::finish_keyed`], one of cSHAKE as
    /// without a key.
    #[must_use]
    pub fn keyed(machine: Machine, key: &Key) -> Self {
        Self {
            state: *key.start(),
            ..Self::new(machine, key.function())
        }
    }

    /// Appends `part`.
    pub fn update(&mut self, mut part: &[u8]) {
        let rate = self.function.rate();
        if self.filled > 0 {
            let (now, later) = part.split_at(part.len().min(rate - self.filled));
            self.buffer[self.filled..][..now.len()].copy_from_slice(now);
            self.filled += now.len();
            part = later;
            if self.filled < rate {
                return;
            }
            self.absorb_buffer();
        }
        let (blocks, tail) = part.split_at(part.len() / rate * rate);
        if !blocks.is_empty() {
            absorb(self.machine, &mut self.state, blocks, rate);
        }
        self.buffer[..tail.len()].copy_from_slice(tail);
        self.filled = tail.len();
    }

    /// Ends the message and fills `output`.
    ///
    /// # Panics
    /// If `output` is longer than a digest of one length.
    pub fn finish(self, output: &mut [u8]) {
        let most = self.function.digest().unwrap_or(usize::MAX);
        assert!(output.len() <= most, "the digest has {most} bytes");
        self.output().fill(output);
    }

    /// Ends the message; the output is taken piece by piece.
    #[must_use]
    pub fn output(mut self) -> Output {
        self.function.pad(&mut self.buffer, self.filled);
        self.absorb_buffer();
        self.buffer.fill(0);
        Output {
            stream: self,
            taken: 0,
        }
    }

    /// Ends the message of [`Self::keyed`] and writes the tag, cut to the length of `tag`; `key` is
    /// the same one.
    ///
    /// # Panics
    /// If `tag` is longer than the digest of HMAC's function.
    pub fn finish_keyed(mut self, key: &Key, tag: &mut [u8]) {
        let Some(state) = key.outer() else {
            self.update(key.suffix());
            return self.finish(tag);
        };
        let mut outer = Self {
            state: *state,
            ..Self::new(self.machine, self.function)
        };
        let mut digest = [0; 64];
        let digest = &mut digest[..self.function.digest().unwrap_or(64)];
        self.finish(digest);
        outer.update(digest);
        wipe(digest);
        outer.finish(tag);
    }

    /// Fills the block with zeros, if it has any bytes.
    pub(super) fn fill_block(&mut self) {
        if self.filled > 0 {
            let rest = self.function.rate() - self.filled;
            self.update(&[0; MAX_RATE][..rest]);
        }
    }

    pub(super) fn function(&self) -> Function {
        self.function
    }

    /// The state; the bytes of an unfilled block are not in it.
    pub(super) fn state(&self) -> [u8; STATE] {
        self.state
    }

    fn absorb_buffer(&mut self) {
        let rate = self.function.rate();
        absorb(self.machine, &mut self.state, &self.buffer[..rate], rate);
        self.filled = 0;
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        wipe(&mut self.state);
        wipe(&mut self.buffer);
    }
}

impl core::fmt::Debug for Stream {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Stream<{}>", self.function.name())
    }
}

/// What follows a message that has ended: of an extendable function as many bytes as are taken, of
/// SHA-3 its digest and nothing meaningful after it. Wiped on drop.
#[derive(Debug)]
pub struct Output {
    /// Its buffer is zeros.
    stream: Stream,
    /// Bytes of the state that were taken, at most a block.
    taken: usize,
}

impl Output {
    /// Takes the next bytes.
    pub fn fill(&mut self, mut to: &mut [u8]) {
        let rate = self.stream.function.rate();
        while !to.is_empty() {
            if self.taken == rate {
                self.stream.absorb_buffer();
                self.taken = 0;
            }
            let (now, later) = to.split_at_mut(to.len().min(rate - self.taken));
            now.copy_from_slice(&self.stream.state[self.taken..][..now.len()]);
            self.taken += now.len();
            to = later;
        }
    }
}

/// Absorbs whole blocks into one state.
fn absorb(machine: Machine, state: &mut [u8; STATE], blocks: &[u8], rate: usize) {
    // SAFETY: the kernel reads the state and the blocks, and writes the state.
    unsafe {
        machine.words.run(Absorb {
            state,
            blocks,
            rate,
        });
    }
}

struct Absorb<'s> {
    state: &'s mut [u8; STATE],
    blocks: &'s [u8],
    rate: usize,
}

impl Kernel for Absorb<'_> {
    #[inline(always)]
    unsafe fn run<S: Registers>(self, proof: S::Proof) {
        let mut sponge = Sponges::<_, u64, S::Single>::new(S::single(proof));
        let state = self.state.as_ptr();
        // SAFETY: one pointer; a state's bytes.
        unsafe { sponge.absorb(&raw const state, 0, STATE) };
        for block in self.blocks.chunks_exact(self.rate) {
            let at = block.as_ptr();
            // SAFETY: one pointer; a block's bytes.
            unsafe { sponge.absorb(&raw const at, 0, self.rate) };
            sponge.permute();
        }
        sponge.squeeze(0, self.state);
        sponge.wipe();
    }
}
