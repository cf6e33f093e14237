//! What all messages of a session begin and end with: the keys of HMAC (RFC 2104, FIPS 202 section 7)
//! and KMAC, and the customization of cSHAKE (SP 800-185), each as the state behind its blocks.

use super::function::MAX_RATE;
use super::lanes::STATE;
use super::{Function, Stream};
use crate::machine::Machine;
use crate::wipe::wipe;

/// Where the messages of a session begin and how they end; wiped on drop.
#[derive(Clone)]
#[repr(align(64))]
pub struct Key {
    start: [u8; STATE],
    end: End,
    function: Function,
}

/// What follows a message.
#[derive(Clone)]
enum End {
    /// The digest is hashed from this state: that behind HMAC's outer padded key.
    Outer([u8; STATE]),
    /// So many of these bytes belong to the message: KMAC's length of the tag.
    Bytes([u8; ENCODED], usize),
}

/// Bytes of an encoded number.
const ENCODED: usize = 1 + size_of::<u64>();

impl Key {
    /// HMAC's of `key`, of any length; one longer than a block is hashed first.
    ///
    /// # Panics
    /// If the function has no digest of one length: FIPS 202 defines no HMAC over it.
    #[must_use]
    pub fn hmac(machine: Machine, function: Function, key: &[u8]) -> Self {
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
            // Not by `map`, which would leave a copy of the block on the stack.
            let mut padded = [byte; MAX_RATE];
            for (padded, key) in padded.iter_mut().zip(&block) {
                *padded ^= key;
            }
            let mut stream = Stream::new(machine, function);
            stream.update(&padded[..function.rate()]);
            wipe(&mut padded);
            stream.state()
        };
        let prepared = Self {
            start: after(0x36),
            end: End::Outer(after(0x5c)),
            function,
        };
        wipe(&mut block);
        prepared
    }

    /// cSHAKE's block of a function name and a customization string, of which one is not empty: with
    /// both empty, cSHAKE is SHAKE (SP 800-185, section 3.3).
    ///
    /// # Panics
    /// If the function is not cSHAKE.
    #[must_use]
    pub fn cshake(machine: Machine, function: Function, name: &[u8], customization: &[u8]) -> Self {
        let is_cshake = [Function::CSHAKE128, Function::CSHAKE256].contains(&function);
        assert!(is_cshake, "cSHAKE has a name and a customization string");
        let mut stream = Stream::new(machine, function);
        stream.begin_block();
        stream.update_string(name);
        stream.update_string(customization);
        stream.fill_block();
        Self {
            start: stream.state(),
            end: End::Bytes([0; ENCODED], 0),
            function,
        }
    }

    /// KMAC's of `key` and a customization string, for tags of `tag_len` bytes (SP 800-185,
    /// section 4).
    ///
    /// # Panics
    /// If the function is not cSHAKE.
    #[must_use]
    pub fn kmac(
        machine: Machine,
        function: Function,
        key: &[u8],
        customization: &[u8],
        tag_len: usize,
    ) -> Self {
        let begun = Self::cshake(machine, function, b"KMAC", customization);
        let mut stream = Stream::keyed(machine, &begun);
        stream.begin_block();
        stream.update_string(key);
        stream.fill_block();
        let (mut length, len) = encode(8 * tag_len as u64);
        // right_encode has the number of bytes last.
        length[..len].rotate_left(1);
        Self {
            start: stream.state(),
            end: End::Bytes(length, len),
            function,
        }
    }

    /// The function that it is for.
    #[must_use]
    pub fn function(&self) -> Function {
        self.function
    }

    /// The state where every message starts.
    #[inline(always)]
    pub(super) fn start(&self) -> &[u8; STATE] {
        &self.start
    }

    /// The state that an HMAC's digest is hashed from.
    #[inline(always)]
    pub(super) fn outer(&self) -> Option<&[u8; STATE]> {
        match &self.end {
            End::Outer(state) => Some(state),
            End::Bytes(..) => None,
        }
    }

    /// What belongs to the end of every message.
    #[inline(always)]
    pub(super) fn suffix(&self) -> &[u8] {
        match &self.end {
            End::Outer(_) => &[],
            End::Bytes(bytes, len) => &bytes[..*len],
        }
    }
}

impl Stream {
    /// Begins a padded block with its length (SP 800-185, bytepad in section 2.3.3).
    fn begin_block(&mut self) {
        let (length, len) = encode(self.function().rate() as u64);
        self.update(&length[..len]);
    }

    /// A string with its length in bits in front (SP 800-185, section 2.3.2).
    fn update_string(&mut self, string: &[u8]) {
        let (length, len) = encode(8 * string.len() as u64);
        self.update(&length[..len]);
        self.update(string);
    }
}

/// A number without leading zero bytes, behind the number of its bytes (SP 800-185, left_encode in
/// section 2.3.1), and how many bytes that is.
fn encode(number: u64) -> ([u8; ENCODED], usize) {
    let bytes = number.to_be_bytes();
    let leading = number.leading_zeros() as usize / 8;
    let count = (bytes.len() - leading).max(1);
    let mut encoded = [0; ENCODED];
    encoded[0] = count.to_le_bytes()[0];
    encoded[1..=count].copy_from_slice(&bytes[bytes.len() - count..]);
    (encoded, 1 + count)
}

impl Drop for Key {
    fn drop(&mut self) {
        wipe(&mut self.start);
        if let End::Outer(state) = &mut self.end {
            wipe(state);
        }
    }
}

impl core::fmt::Debug for Key {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Key<{}>", self.function.name())
    }
}
