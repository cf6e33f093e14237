//! Functions that leak on purpose, and one that does not: the check is worth nothing unless
//! memcheck tells them apart.

use std::hint::black_box;

use lanelock_kernels::taint;

/// A function over a secret, and whether memcheck has to find something in it.
type Canary = (&'static str, fn(&[u8; 16]) -> bool, bool);

const CANARIES: [Canary; 4] = [
    ("comparison that ends early", ends_early, true),
    ("table indexed by a secret", looks_up, true),
    (
        "comparison in constant time, kept secret",
        stays_secret,
        false,
    ),
    ("the same, its verdict made public", is_declassified, false),
];

/// Runs them and says what was found; `false` if one was taken for another.
pub fn all_behave() -> bool {
    CANARIES.into_iter().fold(true, |all, (name, run, leaks)| {
        let mut secret = black_box([7; 16]);
        taint::mark_secret(&mut secret);
        let before = taint::findings();
        black_box(run(&secret));
        let found = taint::findings() > before;
        let verdict = match (found, leaks) {
            (true, true) => "reported, as it must be",
            (false, false) => "not reported, as it must be",
            (false, true) => "NOT REPORTED: the check is blind",
            (true, false) => "REPORTED: the check sees ghosts",
        };
        println!("canary: {name}: {verdict}");
        all && found == leaks
    })
}

#[inline(never)]
fn ends_early(secret: &[u8; 16]) -> bool {
    for (byte, expected) in secret.iter().zip(black_box([7; 16])) {
        if *byte != expected {
            return false;
        }
        black_box(()); // no vector comparison
    }
    true
}

#[inline(never)]
fn looks_up(secret: &[u8; 16]) -> bool {
    let table = black_box([0_u8; 256]);
    black_box(table[usize::from(secret[3])]);
    true
}

#[inline(never)]
fn stays_secret(secret: &[u8; 16]) -> bool {
    let difference = u128::from_ne_bytes(*secret) ^ u128::from_ne_bytes(black_box([9; 16]));
    black_box(difference == 0);
    true
}

#[inline(never)]
fn is_declassified(secret: &[u8; 16]) -> bool {
    let difference = u128::from_ne_bytes(*secret) ^ u128::from_ne_bytes(black_box([7; 16]));
    if taint::declassify(difference == 0) {
        return black_box(true);
    }
    black_box(false)
}
