//! One batch of each operation: a number for each lane in, numbers and masks out.
//!
//! A lane whose input is refused runs on 1 for its secrets and on the base point for its peer; what
//! it leaves is of no use. Masks are bits, lane `i` in bit `i`.

use super::multiply::{Multiples, Scalar, multiply, multiply_base};
use super::parameters::Parameters;
use super::point::{Affine, Element, Point};
use crate::arch::digits::{DigitLanes, Mask, Words};
use crate::public_key::digits::residue::{Modulus, Residue};
use crate::wipe::Plain;

/// Public keys of secret ones.
#[derive(Clone, Copy, Debug, Default)]
pub struct Generation<D> {
    pub secret: D,
    pub public: [D; 2],
    pub secret_in_range: u8,
}

/// Points of which one coordinate is given.
#[derive(Clone, Copy, Debug, Default)]
pub struct Decompression<D> {
    pub x: D,
    /// Which y is odd.
    pub odd: u8,
    pub y: D,
    pub in_range: u8,
    pub on_curve: u8,
}

/// Shared secrets (SP 800-56A, section 5.7.1.2).
#[derive(Clone, Copy, Debug, Default)]
pub struct Agreement<D> {
    pub secret: D,
    pub peer: [D; 2],
    pub shared: D,
    pub secret_in_range: u8,
    pub peer_in_range: u8,
    pub peer_on_curve: u8,
}

/// Signatures (FIPS 186-5, section 6.4.1), of digests below 2 n.
#[derive(Clone, Copy, Debug, Default)]
pub struct Signing<D> {
    pub secret: D,
    pub nonce: D,
    pub digest: D,
    pub r: D,
    pub s: D,
    pub secret_in_range: u8,
    pub nonce_in_range: u8,
    /// Neither r nor s is zero.
    pub usable: u8,
}

/// Verifications (FIPS 186-5, section 6.4.2), of digests below 2 n.
#[derive(Clone, Copy, Debug, Default)]
pub struct Verification<D> {
    pub public: [D; 2],
    pub digest: D,
    pub r: D,
    pub s: D,
    pub public_in_range: u8,
    pub public_on_curve: u8,
    pub r_in_range: u8,
    pub s_in_range: u8,
    /// Of no meaning unless all of the above are so.
    pub valid: u8,
}

macro_rules! plain {
    ($($batch:ident)*) => {$(
        // SAFETY: plain data and bytes.
        #[allow(unsafe_code)]
        unsafe impl<D: Plain> Plain for $batch<D> {}
    )*};
}
plain!(Generation Decompression Agreement Signing Verification);

#[inline(always)]
pub(super) fn generate<V: DigitLanes, C: Parameters<N>, const N: usize>(
    proof: V::Proof,
    multiples: &[Multiples<N>],
    batch: &mut Generation<[Words; N]>,
) {
    let (secret, in_range) = load_scalar::<V, C, N>(proof, &batch.secret);
    batch.secret_in_range = in_range.bits();
    let point = multiply_base::<V, C, N>(secret, multiples);
    let point = point.to_affine(point.z.invert());
    store_element::<V, C, N>(point.x, &mut batch.public[0]);
    store_element::<V, C, N>(point.y, &mut batch.public[1]);
}

#[inline(always)]
pub(super) fn decompress<V: DigitLanes, C: Parameters<N>, const N: usize>(
    proof: V::Proof,
    batch: &mut Decompression<[Words; N]>,
) {
    let x = Element::<V, C, N>::load(proof, &batch.x);
    batch.in_range = x.is_reduced().bits();
    let odd = V::mask(proof, batch.odd);
    let (point, on_curve) = Affine::<V, C, N>::with_x(x.to_montgomery(), odd);
    batch.on_curve = on_curve.bits();
    store_element::<V, C, N>(point.y, &mut batch.y);
}

#[inline(always)]
pub(super) fn agree<V: DigitLanes, C: Parameters<N>, const N: usize>(
    proof: V::Proof,
    batch: &mut Agreement<[Words; N]>,
) {
    let (secret, in_range) = load_scalar::<V, C, N>(proof, &batch.secret);
    batch.secret_in_range = in_range.bits();
    let (peer, [in_range, on_curve]) = load_point::<V, C, N>(proof, &batch.peer);
    batch.peer_in_range = in_range.bits();
    batch.peer_on_curve = on_curve.bits();
    // Not infinite: the order of the peer's point is the prime n, and 0 < secret < n.
    let point = multiply(secret, &peer);
    let shared = point.x.mul(point.z.invert().square());
    store_element::<V, C, N>(shared, &mut batch.shared);
}

#[inline(always)]
pub(super) fn sign<V: DigitLanes, C: Parameters<N>, const N: usize>(
    proof: V::Proof,
    multiples: &[Multiples<N>],
    batch: &mut Signing<[Words; N]>,
) {
    let (secret, in_range) = load_scalar::<V, C, N>(proof, &batch.secret);
    batch.secret_in_range = in_range.bits();
    let (nonce, in_range) = load_scalar::<V, C, N>(proof, &batch.nonce);
    batch.nonce_in_range = in_range.bits();
    let digest = Scalar::<V, C, N>::load(proof, &batch.digest);

    let point = multiply_base::<V, C, N>(nonce, multiples);
    let x = point.x.mul(point.z.invert().square());
    // x < p < 2 n
    let r = x.to_plain().canonical().transmute().canonical();
    // A product with one factor in Montgomery's form is plain. Below 2 n + 2 n, times 2 n.
    let sum = secret.to_montgomery().mul(r).add(digest);
    let s = nonce.to_montgomery().invert().mul(sum).canonical();
    batch.usable = r.is_zero().or(s.is_zero()).not().bits();
    r.store(&mut batch.r);
    s.store(&mut batch.s);
}

#[inline(always)]
pub(super) fn verify<V: DigitLanes, C: Parameters<N>, const N: usize>(
    proof: V::Proof,
    multiples: &[Multiples<N>],
    batch: &mut Verification<[Words; N]>,
) {
    let (public, [in_range, on_curve]) = load_point::<V, C, N>(proof, &batch.public);
    batch.public_in_range = in_range.bits();
    batch.public_on_curve = on_curve.bits();
    let (r, in_range) = load_scalar::<V, C, N>(proof, &batch.r);
    batch.r_in_range = in_range.bits();
    let (s, in_range) = load_scalar::<V, C, N>(proof, &batch.s);
    batch.s_in_range = in_range.bits();
    let digest = Scalar::<V, C, N>::load(proof, &batch.digest);

    let inverse = s.to_montgomery().invert();
    let of_base = multiply_base::<V, C, N>(digest.mul(inverse).canonical(), multiples);
    let of_public = multiply(r.mul(inverse).canonical(), &public);
    let point = of_base.add_complete(&of_public);
    batch.valid = is_x_of::<V, C, N>(r, &point).bits();
}

/// Whether the point is not infinite and its x is r modulo n: is r Z² = X, or (r + n) Z² = X?
#[inline(always)]
fn is_x_of<V: DigitLanes, C: Parameters<N>, const N: usize>(
    r: Scalar<V, C, N>,
    point: &Point<V, C, N>,
) -> V::Mask {
    let zz = point.z.square();
    let n = Residue::constant(r.proof(), &C::Order::M);
    let further: Element<V, C, N> = r.add(n).transmute();
    let is_r = is_quotient::<V, C, N>(r.transmute(), point.x, zz);
    let is_further = is_quotient::<V, C, N>(further, point.x, zz).and(further.is_reduced());
    is_r.or(is_further).and(point.is_infinite().not())
}

/// Whether the plain `number` is `x` / `zz`.
#[inline(always)]
fn is_quotient<V: DigitLanes, C: Parameters<N>, const N: usize>(
    number: Element<V, C, N>,
    x: Element<V, C, N>,
    zz: Element<V, C, N>,
) -> V::Mask {
    let difference = number.to_montgomery().mul(zz).sub(x);
    difference.canonical().is_zero()
}

/// The scalars, and the lanes where they are from 1 to n − 1; the others become 1.
#[inline(always)]
fn load_scalar<V: DigitLanes, C: Parameters<N>, const N: usize>(
    proof: V::Proof,
    words: &[Words; N],
) -> (Scalar<V, C, N>, V::Mask) {
    let scalar = Scalar::<V, C, N>::load(proof, words);
    let in_range = scalar.is_reduced().and(scalar.is_zero().not());
    let mut one = [0; N];
    one[0] = 1;
    let one = Residue::constant(proof, &one);
    (Residue::select(in_range, scalar, one), in_range)
}

/// The points, and the lanes where the coordinates are below p and those where they are on the
/// curve; where one fails the point becomes the generator.
#[inline(always)]
fn load_point<V: DigitLanes, C: Parameters<N>, const N: usize>(
    proof: V::Proof,
    words: &[[Words; N]; 2],
) -> (Affine<V, C, N>, [V::Mask; 2]) {
    let x = Element::<V, C, N>::load(proof, &words[0]);
    let y = Element::<V, C, N>::load(proof, &words[1]);
    let in_range = x.is_reduced().and(y.is_reduced());
    let point = Affine {
        x: x.to_montgomery(),
        y: y.to_montgomery(),
    };
    let on_curve = point.is_on_curve();
    let generator = Affine::generator(proof);
    let point = Affine::select(in_range.and(on_curve), &point, &generator);
    (point, [in_range, on_curve])
}

#[inline(always)]
fn store_element<V: DigitLanes, C: Parameters<N>, const N: usize>(
    element: Element<V, C, N>,
    words: &mut [Words; N],
) {
    element.to_plain().canonical().store(words);
}
