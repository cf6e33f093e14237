//! Signatures.

use std::ffi::CString;

use lanelock_core::Hash;
use lanelock_core::algorithm::MAX_TAG_LEN;
use lanelock_public_key::engine::ValidKeyOp;
use lanelock_public_key::{
    Key, KeyKind, KeyReason, MessageForm, PublicParts, SignatureForm, SignatureScheme, pair,
};

use super::import;
use super::names;
use super::session::Recipe;
use crate::ffi::{
    CurveGroup, DigestContext, Failed, KeyParams, PKeyContext, Verdict, WholeContext,
};

/// Longest pair `r ‖ s`, in bytes: P-521's.
const MAX_PAIR: usize = 2 * 66;
/// Longest DER of a pair.
const MAX_DER: usize = MAX_PAIR + 9;

/// RSA, ECDSA and DSA: the digest is signed.
pub(super) struct Signer {
    context: PKeyContext,
    digest: Digest,
    /// Bytes of r and of s where a pair of fixed length is asked for.
    fixed: Option<usize>,
    /// RSA: verifies each signature before it leaves. A wrong one can tell a factor.
    check: Option<PKeyContext>,
}

/// RSA, ECDSA and DSA: the digest is compared.
pub(super) struct Verifier {
    context: PKeyContext,
    digest: Digest,
    bound: Bound,
    form: SignatureForm,
}

/// Ed25519, Ed448, SM2, ML-DSA: the message is signed.
pub(super) struct WholeSigner {
    context: WholeContext,
    fixed: Option<usize>,
}

/// Ed25519, Ed448, SM2, ML-DSA: the message is compared.
pub(super) struct WholeVerifier {
    context: WholeContext,
    bound: Bound,
    form: SignatureForm,
}

/// Where the digest comes from.
enum Digest {
    /// The operation's input.
    Given,
    /// Computed over the operation's input.
    Computed(Box<DigestContext>, usize),
}

/// What a signature is to be below, so that a refusal can tell why.
enum Bound {
    /// A number as long as the modulus and below it.
    Modulus(Vec<u8>),
    /// Two numbers from 1 to the order less 1.
    Order(Vec<u8>),
    /// A string of this many bytes.
    Length(usize),
}

impl Signer {
    pub(super) fn new(recipe: &Recipe, scheme: SignatureScheme) -> Result<Self, Failed> {
        let library = recipe.catalogue.library();
        let key = import::key(library, recipe.transform.key())?;
        let check = match recipe.transform.key() {
            Key::Secret(secret) if matches!(secret.kind(), KeyKind::Rsa(_)) => {
                let public = secret.public_key().ok_or(Failed::MISUSE)?;
                let public = import::key(library, &Key::Public(public))?;
                Some(PKeyContext::verifier(library, &public, settings(scheme)?)?)
            }
            _ => None,
        };
        Ok(Self {
            context: PKeyContext::signer(library, &key, settings(scheme)?)?,
            digest: Digest::new(recipe, scheme)?,
            fixed: fixed(recipe),
            check,
        })
    }

    pub(super) fn run(&mut self, op: &mut ValidKeyOp<'_, '_>) -> Result<(), KeyReason> {
        let mut room = [0; MAX_TAG_LEN];
        let digest = self.digest.of(op.input(), &mut room)?;
        let context = &mut self.context;
        let len = write(self.fixed, op, |out| context.sign(digest, out))?;
        if let Some(check) = &mut self.check
            && check.verify(digest, &op.output()[..len]) != Verdict::Right
        {
            return Err(KeyReason::Fault);
        }
        op.succeed(len);
        Ok(())
    }
}

impl Verifier {
    pub(super) fn new(recipe: &Recipe, scheme: SignatureScheme) -> Result<Self, Failed> {
        let library = recipe.catalogue.library();
        let key = import::key(library, recipe.transform.key())?;
        Ok(Self {
            context: PKeyContext::verifier(library, &key, settings(scheme)?)?,
            digest: Digest::new(recipe, scheme)?,
            bound: Bound::of(recipe)?,
            form: recipe.transform.form(),
        })
    }

    pub(super) fn run(&mut self, op: &mut ValidKeyOp<'_, '_>) -> Result<(), KeyReason> {
        let mut room = [0; MAX_TAG_LEN];
        let digest = self.digest.of(op.input(), &mut room)?;
        let mut der = [0; MAX_DER];
        let signature = self.bound.admit(op.signature(), self.form, &mut der)?;
        settle(op, self.context.verify(digest, signature))
    }
}

impl WholeSigner {
    pub(super) fn new(recipe: &Recipe, scheme: SignatureScheme) -> Result<Self, Failed> {
        Ok(Self {
            context: whole(recipe, scheme, false)?,
            fixed: fixed(recipe),
        })
    }

    pub(super) fn run(&mut self, op: &mut ValidKeyOp<'_, '_>) -> Result<(), KeyReason> {
        let (message, context) = (op.input(), &mut self.context);
        let len = write(self.fixed, op, |out| context.sign(message, out))?;
        op.succeed(len);
        Ok(())
    }
}

impl WholeVerifier {
    pub(super) fn new(recipe: &Recipe, scheme: SignatureScheme) -> Result<Self, Failed> {
        Ok(Self {
            context: whole(recipe, scheme, true)?,
            bound: Bound::of(recipe)?,
            form: recipe.transform.form(),
        })
    }

    pub(super) fn run(&mut self, op: &mut ValidKeyOp<'_, '_>) -> Result<(), KeyReason> {
        let mut der = [0; MAX_DER];
        let signature = self.bound.admit(op.signature(), self.form, &mut der)?;
        let verdict = self.context.verify(op.input(), signature)?;
        settle(op, verdict)
    }
}

impl Digest {
    fn new(recipe: &Recipe, scheme: SignatureScheme) -> Result<Self, Failed> {
        let hash = scheme.hash().ok_or(Failed::MISUSE)?;
        if recipe.transform.message_form() == MessageForm::Digest {
            return Ok(Self::Given);
        }
        let algorithm = recipe.catalogue.hash(hash).ok_or(Failed::MISUSE)?;
        let context = DigestContext::new(algorithm)?;
        Ok(Self::Computed(Box::new(context), hash.digest_len()))
    }

    fn of<'d>(
        &mut self,
        input: &'d [u8],
        room: &'d mut [u8; MAX_TAG_LEN],
    ) -> Result<&'d [u8], Failed> {
        match self {
            Self::Given => Ok(input),
            Self::Computed(context, len) => {
                context.restart()?;
                context.update(input)?;
                context.finish(room)?;
                Ok(&room[..*len])
            }
        }
    }
}

impl Bound {
    fn of(recipe: &Recipe) -> Result<Self, Failed> {
        let Key::Public(key) = recipe.transform.key() else {
            return Err(Failed::MISUSE);
        };
        Ok(match (key.parts(), key.kind()) {
            (PublicParts::Rsa(rsa), _) => Self::Modulus(rsa.n.clone()),
            (PublicParts::Dsa(group, _), _) => Self::Order(group.q.clone()),
            (_, KeyKind::Ec(curve)) => Self::Order(CurveGroup::new(curve)?.order()?),
            (_, KeyKind::Ed25519) => Self::Length(64),
            (_, KeyKind::Ed448) => Self::Length(114),
            (_, KeyKind::MlDsa(set)) => Self::Length(set.signature_len()),
            _ => return Err(Failed::MISUSE),
        })
    }

    /// The signature as libcrypto reads it, if its numbers are in range.
    fn admit<'s>(
        &self,
        signature: &'s [u8],
        form: SignatureForm,
        der: &'s mut [u8; MAX_DER],
    ) -> Result<&'s [u8], KeyReason> {
        let malformed = Err(KeyReason::MalformedSignature);
        match self {
            Self::Length(len) if signature.len() == *len => Ok(signature),
            Self::Modulus(n) if signature.len() == n.len() && signature < &n[..] => Ok(signature),
            Self::Length(_) | Self::Modulus(_) => malformed,
            Self::Order(order) => {
                let mut pair = [0; MAX_PAIR];
                let pair = &mut pair[..2 * order.len()];
                match form {
                    SignatureForm::Fixed if signature.len() == pair.len() => {
                        pair.copy_from_slice(signature);
                    }
                    SignatureForm::Fixed => return malformed,
                    SignatureForm::Der => {
                        pair::from_der(signature, pair).ok_or(KeyReason::MalformedSignature)?;
                    }
                }
                let (r, s) = pair.split_at(order.len());
                let in_range = |n: &[u8]| n < &order[..] && n.iter().any(|&byte| byte != 0);
                if !in_range(r) || !in_range(s) {
                    return malformed;
                }
                match form {
                    SignatureForm::Der => Ok(signature),
                    SignatureForm::Fixed => {
                        let len = pair::to_der(pair, der).ok_or(KeyReason::Engine)?;
                        Ok(&der[..len])
                    }
                }
            }
        }
    }
}

/// Has `sign` write to the operation's output, or to a buffer from which a pair of fixed length
/// goes there. Returns the length.
fn write(
    fixed: Option<usize>,
    op: &mut ValidKeyOp<'_, '_>,
    sign: impl FnOnce(&mut [u8]) -> Result<usize, Failed>,
) -> Result<usize, KeyReason> {
    let Some(order_len) = fixed else {
        return Ok(sign(op.output())?);
    };
    let mut der = [0; MAX_DER];
    let len = sign(&mut der)?;
    let out = &mut op.output()[..2 * order_len];
    pair::from_der(&der[..len], out).ok_or(KeyReason::Engine)?;
    Ok(out.len())
}

fn settle(op: &mut ValidKeyOp<'_, '_>, verdict: Verdict) -> Result<(), KeyReason> {
    match verdict {
        Verdict::Right => {
            op.succeed(0);
            Ok(())
        }
        Verdict::Wrong => Err(KeyReason::WrongSignature),
        Verdict::Malformed => Err(KeyReason::MalformedSignature),
    }
}

fn fixed(recipe: &Recipe) -> Option<usize> {
    let transform = &recipe.transform;
    (transform.form() == SignatureForm::Fixed).then(|| transform.order_len())
}

fn settings(scheme: SignatureScheme) -> Result<KeyParams, Failed> {
    let name = |hash: Hash| names::hash(hash).ok_or(Failed::MISUSE);
    let none = KeyParams::new();
    Ok(match scheme {
        SignatureScheme::RsaPkcs1(hash) => none
            .text(c"digest", name(hash)?)
            .text(c"pad-mode", c"pkcs1"),
        SignatureScheme::RsaPss(pss) => {
            let salt_len = CString::new(pss.salt_len.to_string()).map_err(|_| Failed::MISUSE)?;
            none.text(c"digest", name(pss.hash)?)
                .text(c"pad-mode", c"pss")
                .text(c"mgf1-digest", name(pss.mgf1)?)
                .text(c"saltlen", &salt_len)
        }
        SignatureScheme::Ecdsa(hash) | SignatureScheme::Dsa(hash) => {
            none.text(c"digest", name(hash)?)
        }
        _ => return Err(Failed::MISUSE),
    })
}

fn whole(recipe: &Recipe, scheme: SignatureScheme, verifies: bool) -> Result<WholeContext, Failed> {
    let library = recipe.catalogue.library();
    let key = import::key(library, recipe.transform.key())?;
    let context = recipe.transform.context_bytes();
    let none = KeyParams::new();
    let (digest, settings) = match scheme {
        SignatureScheme::Sm2 => (Some(c"SM3"), none.octets(c"distid", context)),
        SignatureScheme::MlDsa if !context.is_empty() => {
            (None, none.octets(c"context-string", context))
        }
        _ => (None, none),
    };
    WholeContext::new(library, key, digest, settings, verifies)
}
