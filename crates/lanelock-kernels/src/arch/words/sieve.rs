//! Choosing numbers below a bound out of packed ones, without vectors.

/// What [`Registers::sieve`](super::Registers::sieve) does.
///
/// # Safety
/// `from` is readable for 48 bytes, `to` writable for 32 numbers; they do not overlap.
#[inline(always)]
pub(super) unsafe fn one_by_one(from: *const u8, to: *mut i16, bound: i16) -> usize {
    let mut count = 0;
    for triple in 0..16 {
        // SAFETY: the triple ends by byte 48; `count` is at most the number looked at before.
        unsafe {
            let [a, b, c] = from.add(3 * triple).cast::<[u8; 3]>().read();
            let (a, b, c) = (i16::from(a), i16::from(b), i16::from(c));
            for number in [a | (b & 15) << 8, b >> 4 | c << 4] {
                to.add(count).write(number);
                count += usize::from(number < bound);
            }
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::one_by_one;
    use crate::arch::words::{Kernel, Registers};
    use crate::machine::Machine;
    use crate::testing::Random;

    struct Sieve<'s> {
        from: &'s [u8; 48],
        bound: i16,
        chosen: &'s mut Vec<i16>,
    }

    impl Kernel for Sieve<'_> {
        const PERMUTES_BYTES: bool = true;

        #[inline(always)]
        unsafe fn run<S: Registers>(self, proof: S::Proof) {
            let mut to = [-1; 32];
            // SAFETY: 48 bytes, and room for 32 numbers.
            let count = unsafe { S::sieve(proof, self.from.as_ptr(), to.as_mut_ptr(), self.bound) };
            self.chosen.extend(&to[..count]);
        }
    }

    /// Numbers below bounds that let none, some and all pass, and every choice of eight.
    fn check(machine: Machine) {
        let mut random = Random::new(7);
        for round in 0..2000_i16 {
            let bytes: [u8; 48] = random.bytes(48).try_into().expect("48 bytes");
            let bound = [3329, 0, 4096, 2048][usize::from(round.unsigned_abs()) % 4];
            let mut right = [0; 32];
            // SAFETY: 48 bytes, and room for 32 numbers.
            let count = unsafe { one_by_one(bytes.as_ptr(), right.as_mut_ptr(), bound) };
            let mut chosen = Vec::new();
            // SAFETY: the kernel has no contract.
            unsafe {
                machine.words.run(Sieve {
                    from: &bytes,
                    bound,
                    chosen: &mut chosen,
                });
            }
            assert_eq!(chosen, right[..count], "{machine}, below {bound}");
        }
    }

    #[test]
    fn chooses_as_one_by_one() {
        Machine::all().for_each(check);
    }
}
