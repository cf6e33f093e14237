//! HMAC (RFC 2104, FIPS 202 section 7) with the states behind both padded keys saved.

use super::function::MAX_RATE;
use super::lanes::STATE;
use super::{Function, Stream};
use crate::machine::Machine;
use crate::wipe::wipe;

/// An HMAC key as the two states that follow its padded blocks; wiped on drop.
#[derive(Clone)]
#[repr(align(64))]
pub struct HmacKey {
    inner: [u8; STATE],
    outer: [u8; STATE],
    function: Function,
}

impl HmacKey {
    /// Prepares `key`, of any length; one longer than a block is hashed first.
    ///
    /// # Panics
    /// If the function has no digest of one length: FIPS 202 defines no HMAC over it.
    #[must_use]
    pub fn new(machine: Machine, function: Function, key: &[u8]) -> Self {
        let digest = function.digest().expect("an HMAC is over SHA-3");
        let mut block = [0; MAX_RATE];
        if key.len() > function.rate() {
            let mut stream = Stream::new(machine, function);
            stream.update(key);
            stream.finish(&mut block[..digest]);
        } else {
            block[..key.len()].copy_from_slice(key);
        }
        let after = |byte: u8| {
            let mut padded = block.map(|b| b ^ byte);
            let mut stream = Stream::new(machine, function);
            stream.update(&padded[..function.rate()]);
            wipe(&mut padded);
            stream.state()
        };
        let prepared = Self {
            inner: after(0x36),
            outer: after(0x5c),
            function,
        };
        wipe(&mut block);
        prepared
    }

    /// The function that it is for.
    #[must_use]
    pub fn function(&self) -> Function {
        self.function
    }

    /// The state behind the inner padded key: where every message starts.
    #[inline(always)]
    pub(super) fn inner(&self) -> &[u8; STATE] {
        &self.inner
    }

    /// The state behind the outer padded key.
    #[inline(always)]
    pub(super) fn outer(&self) -> &[u8; STATE] {
        &self.outer
    }
}

impl Drop for HmacKey {
    fn drop(&mut self) {
        wipe(&mut self.inner);
        wipe(&mut self.outer);
    }
}

impl core::fmt::Debug for HmacKey {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "HmacKey<{}>", self.function.name())
    }
}
