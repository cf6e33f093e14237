//! Nonces: the vectors of RFC 6979, appendices A.2.5 (P-256) and A.2.6 (P-384), and what randomness
//! adds.

use lanelock_jobs::testing::hex;
use lanelock_kernels::Machine;
use lanelock_kernels::hash::{self, Algorithm, Job, Sha256, Sha384, Sha512, hash_many};
use lanelock_kernels::public_key::nist::{NonceSource, Nonces};

use super::*;

fn digest<A: Algorithm>(message: &[u8]) -> Vec<u8> {
    let mut jobs = [Job::new(message, None)];
    hash_many(hash::Kernels::<A>::of(Machine::PORTABLE), &mut jobs);
    jobs[0].digest().to_vec()
}

fn number<C: Curve>(text: &str) -> C::Number {
    let mut number = C::ZERO;
    number.as_mut().copy_from_slice(&hex(text));
    number
}

fn follows_the_rfc<C: Curve, A: Algorithm>(private: &str, message: &str, [nonce, r, s]: [&str; 3]) {
    let private = number::<C>(private);
    let digest = digest::<A>(message.as_bytes());
    let mut nonces = Nonces::<C, A>::new(
        &NonceSource::new(hash::Kernels::of(Machine::PORTABLE)),
        &private,
        &digest,
        &[],
    );
    let candidate = nonces.draw();
    assert_eq!(candidate, number::<C>(nonce));
    let signatures = Bench::<C>::portable().sign(&[(private, candidate, digest)]);
    let (r, s) = (number::<C>(r), number::<C>(s));
    assert_eq!(signatures, [Ok(Signature { r, s })]);
}

const PRIVATE_256: &str = "C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721";
const PRIVATE_384: &str = "6B9D3DAD2E1B8C1C05B19875B6659F4DE23C3B667BF297BA9AA47740787137D8\
    96D5724E4C70A825F872C9EA60D2EDF5";

#[test]
fn p256_sha256() {
    follows_the_rfc::<P256, Sha256>(
        PRIVATE_256,
        "sample",
        [
            "A6E3C57DD01ABE90086538398355DD4C3B17AA873382B0F24D6129493D8AAD60",
            "EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716",
            "F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8",
        ],
    );
    follows_the_rfc::<P256, Sha256>(
        PRIVATE_256,
        "test",
        [
            "D16B6AE827F17175E040871A1C7EC3500192C4C92677336EC2537ACAEE0008E0",
            "F1ABB023518351CD71D881567B1EA663ED3EFCF6C5132B354F28D3B0B7D38367",
            "019F4113742A2B14BD25926B49C649155F267E60D3814B4C0CC84250E46F0083",
        ],
    );
}

/// A digest longer than the numbers.
#[test]
fn p256_sha512() {
    follows_the_rfc::<P256, Sha512>(
        PRIVATE_256,
        "sample",
        [
            "5FA81C63109BADB88C1F367B47DA606DA28CAD69AA22C4FE6AD7DF73A7173AA5",
            "8496A60B5E9B47C825488827E0495B0E3FA109EC4568FD3F8D1097678EB97F00",
            "2362AB1ADBE2B8ADF9CB9EDAB740EA6049C028114F2460F96554F61FAE3302FE",
        ],
    );
}

#[test]
fn p384_sha384() {
    follows_the_rfc::<P384, Sha384>(
        PRIVATE_384,
        "sample",
        [
            "94ED910D1A099DAD3254E9242AE85ABDE4BA15168EAF0CA87A555FD56D10FBCA\
             2907E3E83BA95368623B8C4686915CF9",
            "94EDBB92A5ECB8AAD4736E56C691916B3F88140666CE9FA73D64C4EA95AD133C\
             81A648152E44ACF96E36DD1E80FABE46",
            "99EF4AEB15F178CEA1FE40DB2603138F130E740A19624526203B6351D0A3A94F\
             A329C145786E679E7B82C71A38628AC8",
        ],
    );
}

#[test]
fn randomness_and_every_call_change_the_nonce() {
    let private = number::<P256>(PRIVATE_256);
    let nonces = |digest: &[u8], random: &[u8]| {
        let kernels = hash::Kernels::<Sha256>::of(Machine::PORTABLE);
        let mut nonces =
            Nonces::<P256, Sha256>::new(&NonceSource::new(kernels), &private, digest, random);
        [nonces.draw(), nonces.draw(), nonces.draw()]
    };
    let mut seen = Vec::new();
    for (digest, random) in [([1; 32], [0; 32]), ([1; 32], [1; 32]), ([2; 32], [1; 32])] {
        assert_eq!(nonces(&digest, &random), nonces(&digest, &random));
        seen.extend(nonces(&digest, &random));
    }
    for (i, nonce) in seen.iter().enumerate() {
        assert!(!seen[..i].contains(nonce), "nonce {i} was there before");
    }
}
