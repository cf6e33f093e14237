//! Scalars and points, from the core's forms to the kernels'.

use lanelock_kernels::public_key::nist::{
    self, DecompressJob, GenerateJob, Kernels, PublicPoint, Refusal,
};
use lanelock_public_key::{
    Key, KeyError, KeyKind, KeyTransform, PublicKey, PublicParts, SecretParts,
};
use zeroize::Zeroize;

use super::Curve;

/// A private key or a nonce; wiped on drop.
pub(super) struct Scalar<C: Curve>(pub(super) C::Number);

/// A point as it is encoded (SEC 1, section 2.3.3).
#[derive(Clone, Copy)]
pub(super) enum Encoded<C: Curve> {
    Whole(PublicPoint<C>),
    /// x, and whether y is odd.
    Compressed(C::Number, bool),
}

impl<C: Curve> Drop for Scalar<C> {
    fn drop(&mut self) {
        self.0.as_mut().zeroize();
    }
}

impl<C: Curve> Scalar<C> {
    /// A number of exactly the curve's length.
    pub(super) fn read(bytes: &[u8]) -> Self {
        let mut scalar = Self(C::ZERO);
        scalar.0.as_mut().copy_from_slice(bytes);
        scalar
    }

    /// The secret key of a transform, once it is found to be one.
    pub(super) fn of(transform: &KeyTransform, kernels: &Kernels<C>) -> Result<Self, KeyError> {
        let kind = KeyKind::Ec(C::CURVE);
        let Key::Secret(key) = transform.key() else {
            return Err(KeyError::refused(kind, "no secret key"));
        };
        let SecretParts::Scalar(bytes) = key.parts() else {
            return Err(KeyError::refused(kind, "no scalar"));
        };
        let scalar = Self::read(bytes);
        if !scalar.is_below_order() {
            let why = "the scalar is not below the order of the curve";
            return Err(KeyError::refused(kind, why));
        }
        if let Some(given) = key.public_key()
            && point(&given, kernels)? != scalar.public(kernels)?
        {
            return Err(KeyError::refused(kind, "the public half is another key's"));
        }
        Ok(scalar)
    }

    /// In the same time for all scalars; zero is no secret key of the core's to begin with.
    fn is_below_order(&self) -> bool {
        let order = <C as nist::Curve>::ORDER;
        let pairs = self.0.as_ref().iter().zip(order.as_ref()).rev();
        let borrow = pairs.fold(0, |borrow, (&own, &order)| {
            (u16::from(own)
                .wrapping_sub(u16::from(order))
                .wrapping_sub(borrow))
                >> 15
        });
        borrow == 1
    }

    fn public(&self, kernels: &Kernels<C>) -> Result<PublicPoint<C>, KeyError> {
        let mut jobs = [GenerateJob {
            private: &self.0,
            public: Err(Refusal::PrivateKeyRange),
        }];
        kernels.generate(&mut jobs);
        let refused = |_| KeyError::refused(KeyKind::Ec(C::CURVE), "the scalar is out of range");
        jobs[0].public.map_err(refused)
    }
}

impl<C: Curve> Encoded<C> {
    /// `None` for what is no encoding of a finite point.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let (tag, coordinates) = bytes.split_first()?;
        let (x, y) = coordinates.split_at_checked(C::BYTES)?;
        match (tag, y.len()) {
            (4, len) if len == C::BYTES => Some(Self::Whole(PublicPoint {
                x: number::<C>(x),
                y: number::<C>(y),
            })),
            (2 | 3, 0) => Some(Self::Compressed(number::<C>(x), *tag == 3)),
            _ => None,
        }
    }
}

/// A public key, once it is found to be a point of the curve.
pub(super) fn point<C: Curve>(
    key: &PublicKey,
    kernels: &Kernels<C>,
) -> Result<PublicPoint<C>, KeyError> {
    let refused = || KeyError::refused(key.kind(), "no point of the curve");
    let PublicParts::Point(bytes) = key.parts() else {
        return Err(refused());
    };
    let encoded = Encoded::<C>::read(bytes).ok_or_else(refused)?;
    let (x, y_is_odd) = match encoded {
        Encoded::Whole(PublicPoint { x, y }) => (x, y.as_ref()[C::BYTES - 1] & 1 == 1),
        Encoded::Compressed(x, y_is_odd) => (x, y_is_odd),
    };
    let mut jobs = [DecompressJob {
        x: &x,
        y_is_odd,
        point: Err(Refusal::NotOnCurve),
    }];
    kernels.decompress(&mut jobs);
    let point = jobs[0].point.map_err(|_| refused())?;
    match encoded {
        Encoded::Whole(given) if given != point => Err(refused()),
        _ => Ok(point),
    }
}

/// A public number of exactly the curve's length.
pub(super) fn number<C: Curve>(bytes: &[u8]) -> C::Number {
    let mut number = C::ZERO;
    number.as_mut().copy_from_slice(bytes);
    number
}
