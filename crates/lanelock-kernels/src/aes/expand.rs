//! Key expansion (FIPS 197, section 5.2) of many keys, one in each block of a register.

use crate::arch::blocks::Vector;

/// Writes the schedules of keys of 32 bytes if they are `LONG`, else of 16. Of a register's keys the
/// first half is in one register, the second in another, if there is one.
///
/// # Safety
/// `to` points to a pointer for each key, each valid for writes of its round keys.
#[inline(always)]
pub(super) unsafe fn expand<V: Vector, const G: usize, const LONG: bool>(
    proof: V::Proof,
    keys: [[V; 2]; G],
    to: *const *mut u8,
) {
    let mut keys = Expansion::<V, G, LONG> {
        last: keys,
        constant: 1,
        proof,
    };
    // SAFETY: the caller's promise: 15 round keys, or eleven.
    unsafe {
        keys.line::<0>(to);
        keys.line::<1>(to);
        keys.line::<2>(to);
        if LONG {
            keys.line::<3>(to);
        }
    }
}

/// Keys on the way.
struct Expansion<V: Vector, const G: usize, const LONG: bool> {
    /// The last two round keys, the older one first; of short keys the last one, first.
    last: [[V; 2]; G],
    /// Of the next round key that has one.
    constant: u8,
    proof: V::Proof,
}

impl<V: Vector, const G: usize, const LONG: bool> Expansion<V, G, LONG> {
    const ROUNDS: usize = if LONG { 14 } else { 10 };

    /// The round keys of one cache line, of all keys.
    ///
    /// # Safety
    /// As for [`expand`], as far as the line has round keys.
    #[inline(always)]
    unsafe fn line<const LINE: usize>(&mut self, to: *const *mut u8) {
        let blocks = (Self::ROUNDS + 1 - 4 * LINE).min(4);
        let mut lines = [[V::zero(self.proof); 4]; G];
        for j in 0..4 {
            if j < blocks {
                let keys = self.round(4 * LINE + j);
                for g in 0..G {
                    lines[g][j] = keys[g];
                }
            }
        }
        for g in 0..G {
            // SAFETY: the caller's promise.
            unsafe { V::store_lines(lines[g], to.add(V::BLOCKS * g), 64 * LINE, blocks) };
        }
    }

    /// Round key `r` of each, the one after that of the call before.
    #[inline(always)]
    fn round(&mut self, r: usize) -> [V; G] {
        let mut keys = [V::zero(self.proof); G];
        let given = if LONG { 2 } else { 1 };
        if r < given {
            for g in 0..G {
                keys[g] = self.last[g][r];
            }
            return keys;
        }
        let has_constant = !LONG || r.is_multiple_of(2);
        let constant = if has_constant {
            self.next_constant()
        } else {
            V::zero(self.proof)
        };
        for g in 0..G {
            let [older, newer] = self.last[g];
            let before = if LONG { newer } else { older };
            let word = if has_constant {
                before.last_word_rotated()
            } else {
                before.last_word()
            };
            // The last round of the cipher is the S-box on each byte, where all columns are alike.
            keys[g] = sums(older).xor(word.aes_enc_last(constant));
            self.last[g] = if LONG { [newer, keys[g]] } else { [keys[g]; 2] };
        }
        keys
    }

    /// In the lowest byte of each word.
    #[inline(always)]
    fn next_constant(&mut self) -> V {
        const WORDS: u128 = 0x0000_0001_0000_0001_0000_0001_0000_0001;
        let constant = V::splat(self.proof, WORDS * u128::from(self.constant));
        self.constant = self.constant << 1 ^ (self.constant >> 7) * 0x1b;
        constant
    }
}

/// The sum of each word of a block and those below it.
#[inline(always)]
fn sums<V: Vector>(key: V) -> V {
    let pairs = key.xor(key.low_to_high());
    pairs.xor(pairs.words_up())
}
