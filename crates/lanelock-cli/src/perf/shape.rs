//! The work of one cell: what every contestant in it does alike.

use clap::ValueEnum;
use lanelock::algorithm::Spec;
use lanelock::{Algorithm, Transform};

use super::content;
use super::lengths::Mix;
use super::operation::Operation;

/// Where results go.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum Layout {
    /// Over the input.
    InPlace,
    /// Into other memory.
    Separate,
    /// Copied to other memory, then over the copy: what is left to do without separate outputs.
    Copy,
}

/// One kind of work.
///
/// Invariant: `pool` is a multiple of `burst` and at least `sessions`.
#[derive(Clone, Debug)]
pub struct Shape {
    /// The algorithm.
    pub spec: Spec,
    /// What is done with it.
    pub operation: Operation,
    /// Lengths of the messages.
    pub mix: Mix,
    /// Operations handed over at a time.
    pub burst: usize,
    /// Keys, taken in turn.
    pub sessions: usize,
    /// Threads, each with messages of its own.
    pub threads: usize,
    /// Pieces of each message; 1 for contiguous.
    pub segments: usize,
    /// Where results go; MACs and hashes have only tags.
    pub layout: Layout,
    /// Messages of each thread.
    pub pool: usize,
    /// Additional data, in bytes; AEADs alone.
    pub aad: usize,
}

/// Bytes of messages that a default pool does not exceed, so that it stays in an L2 cache.
const POOL_BYTES: usize = 512 << 10;

/// Messages that a default pool does not exceed.
const POOL_MESSAGES: usize = 256;

const CACHE_LINE: usize = 64;

impl Layout {
    /// The name that the command line, the rows and the peers use.
    pub fn name(self) -> &'static str {
        match self {
            Self::InPlace => "in-place",
            Self::Separate => "separate",
            Self::Copy => "copy",
        }
    }
}

impl Shape {
    /// Distance from one message to the next, in bytes: whole cache lines and one more. Without
    /// that one, messages of a power of two would compete for the same few sets of a cache.
    pub fn stride(&self) -> usize {
        (self.mix.longest() as usize).next_multiple_of(CACHE_LINE) + CACHE_LINE
    }

    /// Messages of a pool whose size is not given: what fits the cache, but no less than a burst
    /// and a message for each session, in whole bursts.
    pub fn default_pool(&self) -> usize {
        (POOL_BYTES / self.stride())
            .min(POOL_MESSAGES)
            .max(self.sessions)
            .max(self.burst)
            .next_multiple_of(self.burst)
    }

    /// The transform of session `index`, in the operation's direction.
    pub fn transform(&self, index: usize) -> Transform {
        self.transform_toward(self.operation, index)
    }

    /// The transform that makes the input of session `index`, where that input is not free: what
    /// is decrypted with authentication, or verified, has to be right.
    pub fn sealing_transform(&self, index: usize) -> Option<Transform> {
        let free = matches!(self.spec.algorithm, Algorithm::Cipher(_));
        let forward = Operation::of(self.spec.algorithm)[0];
        (!free && self.operation != forward).then(|| self.transform_toward(forward, index))
    }

    fn transform_toward(&self, operation: Operation, index: usize) -> Transform {
        let seed = index as u64;
        let key = content::bytes(self.spec.key_len, content::KEY + seed);
        let mac_key = content::bytes(self.spec.mac_key_len, content::MAC_KEY + seed);
        Transform::new(self.spec.algorithm, operation.direction(), &key, &mac_key)
    }

    /// IV length, in bytes.
    pub fn iv_len(&self) -> usize {
        self.transform(0).iv_length()
    }

    /// Tag or digest length, in bytes.
    pub fn tag_len(&self) -> usize {
        self.transform(0).tag_length()
    }

    /// Whether results include a message, not just a tag.
    pub fn has_output(&self) -> bool {
        self.spec.algorithm.row().encrypts
    }

    /// Whether an operation in place would destroy the input that the next round needs.
    pub fn consumes_input(spec: Spec, operation: Operation) -> bool {
        operation == Operation::Decrypt && !matches!(spec.algorithm, Algorithm::Cipher(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_default_pool_fits_the_cache_and_holds_whole_bursts() {
        let pool = |len, burst, sessions| {
            let shape = Shape {
                spec: "aes-128-ctr".parse().unwrap(),
                operation: Operation::Encrypt,
                mix: Mix::Equal(len),
                burst,
                sessions,
                threads: 1,
                segments: 1,
                layout: Layout::InPlace,
                pool: 0,
                aad: 0,
            };
            shape.default_pool()
        };
        assert_eq!(pool(64, 32, 1), 256);
        assert_eq!(pool(8192, 32, 1), 64);
        assert_eq!(pool(8192, 48, 1), 96);
        assert_eq!(pool(1 << 20, 32, 1), 32);
        assert_eq!(pool(64, 32, 1000), 1024);
    }
}
