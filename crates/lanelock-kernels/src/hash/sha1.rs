//! SHA-1 compression over any lane type (FIPS 180-4, section 6.1.2).

#![allow(unsafe_code)] // constants enter registers through `Lanes::splat`

use crate::lanes::Lanes;

/// One constant for every twenty rounds.
const K: [u32; 4] = [0x5a82_7999, 0x6ed9_eba1, 0x8f1b_bcdc, 0xca62_c1d6];

/// One block of every lane; `state[5..]` passes through unused.
#[inline(always)]
pub(crate) fn compress<V: Lanes<Word = u32>>(state: [V; 8], mut w: [V; 16]) -> [V; 8] {
    let [mut a, mut b, mut c, mut d, mut e, ..] = state;
    // SAFETY: `state` holds values of `V`, so its instructions exist.
    let [k0, k1, k2, k3] = unsafe {
        [
            V::splat(K[0]),
            V::splat(K[1]),
            V::splat(K[2]),
            V::splat(K[3]),
        ]
    };

    macro_rules! round {
        ($a:ident $b:ident $c:ident $d:ident $e:ident, $t:expr, $k:ident, $f:expr) => {
            if $t >= 16 {
                let mixed = w[($t + 13) % 16].xor3(w[($t + 8) % 16], w[($t + 2) % 16]);
                w[$t % 16] = mixed.xor(w[$t % 16]).rotate::<31, 1>();
            }
            // Everything that does not wait for the previous round's `a` is summed first.
            let rest = $e.add(w[$t % 16]).add($k);
            $e = rest.add($f($b, $c, $d)).add($a.rotate::<27, 5>()).in_step();
            $b = $b.rotate::<2, 30>();
        };
    }
    macro_rules! twenty {
        ($t:expr, $k:ident, $f:expr) => {
            twenty!(@five $t, $k, $f);
            twenty!(@five $t + 5, $k, $f);
            twenty!(@five $t + 10, $k, $f);
            twenty!(@five $t + 15, $k, $f);
        };
        (@five $t:expr, $k:ident, $f:expr) => {
            round!(a b c d e, $t, $k, $f);
            round!(e a b c d, $t + 1, $k, $f);
            round!(d e a b c, $t + 2, $k, $f);
            round!(c d e a b, $t + 3, $k, $f);
            round!(b c d e a, $t + 4, $k, $f);
        };
    }
    twenty!(0, k0, V::choose);
    twenty!(20, k1, V::xor3);
    twenty!(40, k2, V::majority);
    twenty!(60, k3, V::xor3);

    let [a0, b0, c0, d0, e0, x, y, z] = state;
    [
        a0.add(a),
        b0.add(b),
        c0.add(c),
        d0.add(d),
        e0.add(e),
        x,
        y,
        z,
    ]
}
