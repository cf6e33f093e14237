//! A check of private exponents that the kernels, which never see them whole, cannot make.

use zeroize::Zeroizing;

/// A number of `P` times 512 bits, least significant word first.
type Number<const P: usize> = Zeroizing<[[u64; 8]; P]>;

/// Whether `d` modulo the `prime` less one is `remainder`, all big-endian; the prime is odd and
/// has at most `P` times 512 bits, and the remainder is below it. Time and addresses depend on
/// lengths alone.
pub(super) fn has_remainder<const P: usize>(d: &[u8], prime: &[u8], remainder: &[u8]) -> bool {
    let mut order: Number<P> = number(prime);
    order[0][0] &= !1; // odd
    let order = order.as_flattened();
    let mut rest: Number<P> = Zeroizing::new([[0; 8]; P]);
    let mut less: Number<P> = Zeroizing::new([[0; 8]; P]);
    for bit in d
        .iter()
        .flat_map(|byte| (0..8).rev().map(move |at| byte >> at & 1))
    {
        let mut carry = u64::from(bit);
        let mut borrow = 0;
        let words = rest.as_flattened_mut().iter_mut();
        for ((word, less), order) in words.zip(less.as_flattened_mut()).zip(order) {
            let doubled = *word << 1 | carry;
            carry = *word >> 63;
            *word = doubled;
            let (difference, under) = doubled.overflowing_sub(*order);
            let (difference, again) = difference.overflowing_sub(borrow);
            borrow = u64::from(under | again);
            *less = difference;
        }
        // The doubled number is not below the order if a bit left it, or nothing was borrowed.
        let reduced = 0_u64.wrapping_sub(carry | (borrow ^ 1));
        for (word, less) in rest.as_flattened_mut().iter_mut().zip(less.as_flattened()) {
            *word = *word & !reduced | less & reduced;
        }
    }
    let expected: Number<P> = number(remainder);
    let words = rest.as_flattened().iter().zip(expected.as_flattened());
    words.fold(0, |any, (one, other)| any | (one ^ other)) == 0
}

/// `bytes` as words; what has no room is left out.
fn number<const P: usize>(bytes: &[u8]) -> Number<P> {
    let mut number = Zeroizing::new([[0; 8]; P]);
    for (word, bytes) in number.as_flattened_mut().iter_mut().zip(bytes.rchunks(8)) {
        *word = bytes
            .iter()
            .fold(0, |word, byte| word << 8 | u64::from(*byte));
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;
    use openssl::bn::BigNum;

    #[test]
    fn remainders_are_those_of_openssl() {
        let number = |bits| {
            let mut number = BigNum::new().expect("memory");
            number
                .rand(bits, openssl::bn::MsbOption::ONE, true)
                .expect("random bits");
            number
        };
        for bits in [1024, 1024, 1023, 700] {
            let prime = number(bits);
            let order = &prime - &BigNum::from_u32(1).expect("memory");
            for d in [
                number(2048),
                number(bits),
                &order + &number(9),
                &order << 64,
            ] {
                let remainder = &d % &order;
                let (d, prime) = (d.to_vec(), prime.to_vec());
                assert!(has_remainder::<2>(&d, &prime, &remainder.to_vec()));
                let other = &remainder + &BigNum::from_u32(1).expect("memory");
                assert!(!has_remainder::<2>(&d, &prime, &other.to_vec()));
            }
        }
    }
}
