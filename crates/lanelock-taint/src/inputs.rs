//! What the kernels work on: the same bytes in each run, secret or not.

use lanelock_kernels::taint;

/// A source of repeatable bytes.
#[derive(Debug)]
pub struct Inputs {
    random: fastrand::Rng,
    marks: bool,
}

/// One message and its key.
#[derive(Debug)]
pub struct Message {
    /// Secret.
    pub key: Vec<u8>,
    /// Public; as long as the longest IV.
    pub iv: [u8; 16],
    /// Secret.
    pub aad: Vec<u8>,
    /// Secret.
    pub data: Vec<u8>,
}

/// Messages of each burst: alone, too few for the lanes, for all lanes, and refilled lanes.
const BURSTS: [usize; 4] = [1, 5, 16, 37];

/// Bytes, around the blocks, lines and chunks of the kernels.
const LENGTHS: [usize; 12] = [1, 16, 33, 64, 100, 127, 176, 256, 300, 512, 641, 1040];

impl Inputs {
    /// Nothing is marked.
    pub fn plain() -> Self {
        Self {
            random: fastrand::Rng::with_seed(1),
            marks: false,
        }
    }

    /// What is secret is marked.
    pub fn secret() -> Self {
        Self {
            marks: true,
            ..Self::plain()
        }
    }

    /// Bytes that everyone may know.
    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.random.u8(..)).collect()
    }

    /// Bytes that are secret from here on.
    pub fn secret_bytes(&mut self, len: usize) -> Vec<u8> {
        let bytes = self.bytes(len);
        self.hide(bytes)
    }

    /// Makes `bytes` secret: what a peer had to compute first.
    pub fn hide(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        if self.marks {
            taint::mark_secret(&mut bytes);
        }
        bytes
    }

    /// Bursts of messages, each under its own key, of multiples of `unit` and at least `least`
    /// bytes.
    pub fn bursts(&mut self, key: usize, unit: usize, least: usize) -> Vec<Vec<Message>> {
        let mut burst = |count| {
            (0..count)
                .map(|i| self.message(key, i, unit, least))
                .collect()
        };
        BURSTS.into_iter().map(&mut burst).collect()
    }

    fn message(&mut self, key: usize, i: usize, unit: usize, least: usize) -> Message {
        let len = LENGTHS[(i + 7) % LENGTHS.len()] / unit * unit;
        let iv = self.bytes(16).try_into().expect("16 bytes");
        Message {
            key: self.secret_bytes(key),
            iv,
            aad: self.secret_bytes([16, 0, 13, 40][i % 4]),
            data: self.secret_bytes(len.max(least)),
        }
    }
}
