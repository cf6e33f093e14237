//! The table of algorithms against its facts written down a second time, in `table.txt`: a line for
//! each family, read off its standard.

use lanelock_core::algorithm::Spec;
use lanelock_core::engine::{Capability, Features};
use lanelock_core::transform::Direction;
use lanelock_core::{Aead, Algorithm, Cipher, Hash, Mac, Transform};

#[test]
fn every_row_says_what_its_standard_does() {
    let written = include_str!("table.txt");
    let mut written = written.lines().filter(|line| !line.starts_with('#'));
    for algorithm in Algorithm::families() {
        assert_eq!(Some(&*line(algorithm)), written.next(), "{algorithm:?}");
    }
    assert_eq!(None, written.next(), "a family that is in the file alone");
}

/// What the public functions say of a family. A default stands in brackets after the lengths.
fn line(algorithm: Algorithm) -> String {
    let row = Capability::standard(algorithm, Features::default());
    let default = Transform::new(algorithm, Direction::Forward, &[], &[]);
    let (iv, tag) = (default.iv_length(), default.tag_length());
    let (kind, facts) = match algorithm {
        Algorithm::Cipher(c) => ("cipher", cipher(c)),
        Algorithm::Mac(m) => {
            let chains = if m.chains() { " chains" } else { "" };
            ("mac", format!("{chains}{}", customization(algorithm)))
        }
        Algorithm::Hash(h) => ("hash", hash(h) + &customization(algorithm)),
        Algorithm::Aead(a) => ("aead", aead(a)),
        other => panic!("{other:?} is not a family"),
    };
    let says = match algorithm {
        Algorithm::Cipher(c) => (c.key_sizes(), row.iv, c.iv_len(), row.tag, 0),
        Algorithm::Mac(m) => (
            m.key_sizes(),
            m.iv_sizes(),
            m.default_iv_len(),
            m.tag_sizes(),
            m.tag_len(),
        ),
        Algorithm::Hash(h) => (row.key, row.iv, 0, h.digest_sizes(), h.digest_len()),
        Algorithm::Aead(a) => (
            a.key_sizes(),
            a.iv_sizes(),
            a.default_iv_len(),
            a.tag_sizes(),
            tag,
        ),
        other => panic!("{other:?} is not a family"),
    };
    assert_eq!(says, (row.key, row.iv, iv, row.tag, tag), "{algorithm:?}");
    format!(
        "{kind} {}; key {}; IV {} ({iv}); tag {} ({tag}); AAD {};{facts}",
        names(algorithm),
        row.key,
        row.iv,
        row.tag,
        row.max_aad,
    )
}

/// Each name, with the length of its key in bytes.
fn names(algorithm: Algorithm) -> String {
    let names = Spec::singles()
        .into_iter()
        .filter(|spec| spec.algorithm == algorithm)
        .map(|spec| format!("{spec}={}", spec.key_len));
    names.collect::<Vec<_>>().join(" ")
}

fn cipher(cipher: Cipher) -> String {
    format!(
        " multiple of {}, block {}, payload {} to {}",
        cipher.block_len(),
        cipher.native_block_len(),
        cipher.min_payload(),
        bound(cipher.max_payload()),
    )
}

fn hash(hash: Hash) -> String {
    let is_xof = if hash.is_xof() { " XOF" } else { "" };
    let has_hmac = if hash.has_hmac() { " HMAC" } else { "" };
    assert_eq!(hash.has_hmac(), Mac::ALL.contains(&Mac::Hmac(hash)));
    // A transform of any HMAC has lengths before it is refused.
    let hmac = Mac::Hmac(hash);
    assert_eq!(hmac.tag_len(), hash.digest_len());
    assert_eq!(
        hmac.tag_sizes().to_string(),
        format!("4 to {}", hmac.tag_len())
    );
    format!("{is_xof}{has_hmac}")
}

/// The lengths of a customization string, if there can be one.
fn customization(algorithm: Algorithm) -> String {
    let sizes = algorithm.row().customization;
    match sizes.max() {
        0 => String::new(),
        _ => format!(" customization {sizes}"),
    }
}

/// The longest payload, by the IV's length where that matters.
fn aead(aead: Aead) -> String {
    let mut limits: Vec<(usize, Option<u32>)> = Vec::new();
    for iv_len in aead.iv_sizes().iter() {
        let limit = aead.max_payload(iv_len);
        if limits.last().is_none_or(|last| last.1 != limit) {
            limits.push((iv_len, limit));
        }
    }
    let limits = limits
        .iter()
        .map(|&(iv_len, limit)| format!(" from IV {iv_len} payload to {}", bound(limit)));
    limits.collect::<Vec<_>>().join(",")
}

fn bound(limit: Option<u32>) -> String {
    limit.map_or("any".to_owned(), |limit| limit.to_string())
}
