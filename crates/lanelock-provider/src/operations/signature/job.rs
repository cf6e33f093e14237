//! A signature as lanelock's operation.

use lanelock::public_key::{EncryptionScheme, KeyJob, MessageForm, SignatureScheme};
use zeroize::Zeroizing;

use super::Signing;
use crate::batch::Bytes;
use crate::default_provider::SIGNATURE;
use crate::key::{Key, Use};
use crate::operations::context::Context;
use crate::operations::scheme::{self, RsaSignature};

/// What `context` is set to do with `input`; `None` if there are no lanes for it.
pub(super) fn make(
    context: &Context<Signing>,
    key: &Key,
    input: &[u8],
    form: MessageForm,
) -> Option<KeyJob<Bytes>> {
    if context.operation.is_variant {
        return None;
    }
    let get = context.theirs().get_ctx_params;
    // SAFETY: the functions and the context belong together.
    let scheme = unsafe {
        match SIGNATURE[context.index()].to_bytes() {
            b"RSA" => match scheme::rsa_signature(get?, context.inner)? {
                RsaSignature::Scheme(scheme) => scheme,
                RsaSignature::Bare => return bare(key, input),
            },
            b"ECDSA" => {
                let hash = scheme::ecdsa_hash(get?, context.inner)?;
                SignatureScheme::Ecdsa(hash.or_else(|| scheme::hash_of_len(input.len()))?)
            }
            _ => SignatureScheme::EdDsa,
        }
    };
    let session = key.session(Use::Sign(scheme, form))?;
    let signature = Zeroizing::new(vec![0; session.output_len(input.len())]);
    let input = Zeroizing::new(input.to_vec());
    Some(KeyJob::sign(&session, input, signature))
}

/// Padding around `input` as it is, and the private operation.
fn bare(key: &Key, input: &[u8]) -> Option<KeyJob<Bytes>> {
    let session = key.session(Use::Decrypt(EncryptionScheme::RsaRaw))?;
    let len = session.output_len(input.len());
    let block = Zeroizing::new(pkcs1_block(input, len)?);
    Some(KeyJob::decrypt(
        &session,
        block,
        Zeroizing::new(vec![0; len]),
    ))
}

/// Block type 1 of PKCS #1 v1.5 (RFC 8017, 9.2, 3 to 5) around `input`.
fn pkcs1_block(input: &[u8], len: usize) -> Option<Vec<u8>> {
    let padding = len
        .checked_sub(input.len() + 3)
        .filter(|&padding| padding >= 8)?;
    let mut block = vec![0, 1];
    block.resize(2 + padding, 0xff);
    block.push(0);
    block.extend_from_slice(input);
    Some(block)
}
