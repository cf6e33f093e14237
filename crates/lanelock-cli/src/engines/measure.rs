//! `lanelock engines --measure`: runs bursts until the process knows which engine is faster.

use lanelock::algorithm::Spec;
use lanelock::{Algorithm, Buffer, Device, Op, Session};

use crate::failure::Failure;
use crate::perf::content;

/// Operations in a burst, and bytes of their messages: one of each kind that is told apart.
const OPS: [usize; 5] = [1, 2, 4, 8, 32];
const BYTES: [usize; 5] = [64, 256, 1024, 4096, 16_384];

/// More than it takes to know a kind of burst.
const BURSTS: usize = 160;

/// Additional data of an AEAD's messages, in bytes.
const AAD: usize = 16;

/// Chains to measure beside every single algorithm.
const CHAINS: [&str; 6] = [
    "aes-128-cbc+hmac-sha1",
    "aes-128-cbc+hmac-sha256",
    "aes-256-cbc+hmac-sha512",
    "aes-128-ctr+hmac-sha1",
    "aes-128-cbc+aes-128-cmac",
    "hmac-sha256+aes-256-cbc",
];

/// The chains, by name.
pub(super) fn chains() -> impl Iterator<Item = Spec> {
    CHAINS.iter().map(|name| name.parse().expect("a name"))
}

/// Runs every kind of burst of a session that protects until it is known, if it has a stand-in.
///
/// # Errors
/// [`Failure::Failed`] if an operation failed.
pub(super) fn run(device: &Device, session: &Session) -> Result<(), Failure> {
    if session.stand_in().is_none() {
        return Ok(());
    }
    let mut queue = device.queue_pair(1);
    let (iv, aad) = (content::bytes(session.iv_len(), content::IV), [7; AAD]);
    for (ops, len) in OPS.iter().flat_map(|&ops| BYTES.map(|len| (ops, len))) {
        let mut texts = vec![content::bytes(len, content::DATA); ops];
        let mut tags = vec![vec![0; session.tag_len()]; ops];
        for _ in 0..BURSTS {
            let mut burst: Vec<_> = texts
                .iter_mut()
                .zip(&mut tags)
                .map(|(text, tag)| operation(session, text, tag, &iv, &aad))
                .collect();
            if queue.process(&mut burst).failed > 0 {
                let name = session.spec();
                return Err(Failure::Failed(format!("{name}: an operation failed")));
            }
        }
    }
    Ok(())
}

fn operation<'m>(
    session: &'m Session,
    text: &'m mut [u8],
    tag: &'m mut [u8],
    iv: &'m [u8],
    aad: &'m [u8],
) -> Op<'m> {
    let buffer = match session.algorithm() {
        Algorithm::Mac(_) | Algorithm::Hash(_) => Buffer::read_only(&*text),
        _ => Buffer::in_place(text),
    };
    let mut op = Op::new(session, buffer);
    if !iv.is_empty() {
        op = op.iv(iv);
    }
    if matches!(session.algorithm(), Algorithm::Aead(_)) {
        op = op.aad(aad);
    }
    if !tag.is_empty() {
        op = op.tag(tag);
    }
    op
}
