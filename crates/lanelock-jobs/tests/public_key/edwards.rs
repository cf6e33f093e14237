//! Points of edwards25519 over OpenSSL's integers.

use std::sync::LazyLock;

use openssl::bn::{BigNum, BigNumContext};

/// A point in projective coordinates: x = X/Z, y = Y/Z.
pub struct Point {
    x: BigNum,
    y: BigNum,
    z: BigNum,
}

impl Point {
    /// x = 0, y = 1
    pub fn neutral() -> Self {
        Self {
            x: integer(0),
            y: integer(1),
            z: integer(1),
        }
    }

    /// y = 4/5, x even
    pub fn base() -> Self {
        Self::with_y(&(&integer(4) * &inverse(&integer(5)))).expect("RFC 8032, section 5.1")
    }

    /// The point with this `y` and an even x, if there is one (RFC 8032, section 5.1.3).
    pub fn with_y(y: &BigNum) -> Option<Self> {
        let square = y * y;
        let ratio = &(&square - &integer(1)) * &inverse(&(&(&*D * &square) + &integer(1)));
        let x = root(&reduced(&ratio))?;
        let x = if x.is_bit_set(0) { &*P - &x } else { x };
        let (y, z) = (reduced(y), integer(1));
        Some(Self { x, y, z })
    }

    /// A sum; complete, so a point may be added to itself.
    pub fn add(&self, other: &Self) -> Self {
        let product = |a: &BigNum, b: &BigNum| reduced(&(a * b));
        let a = product(&self.z, &other.z);
        let b = product(&a, &a);
        let c = product(&self.x, &other.x);
        let d = product(&self.y, &other.y);
        let e = product(&product(&D, &c), &d);
        let [f, g] = [&b - &e, &b + &e];
        let crossed = product(&(&self.x + &self.y), &(&other.x + &other.y));
        let h = &(&crossed - &c) - &d;
        Self {
            x: product(&product(&a, &f), &h),
            y: product(&product(&a, &g), &(&d + &c)),
            z: product(&f, &g),
        }
    }

    /// The point times a little-endian number.
    pub fn times(&self, number: &[u8]) -> Self {
        let bits = number
            .iter()
            .rev()
            .flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1 == 1));
        bits.fold(Self::neutral(), |product, bit| {
            let twice = product.add(&product);
            if bit { twice.add(self) } else { twice }
        })
    }

    /// RFC 8032, section 5.1.2.
    pub fn encode(&self) -> [u8; 32] {
        let inverse = inverse(&self.z);
        let [x, y] = [&self.x, &self.y].map(|number| reduced(&(number * &inverse)));
        let mut bytes: [u8; 32] = y.to_vec_padded(32).unwrap().try_into().unwrap();
        bytes.reverse();
        bytes[31] |= u8::from(x.is_bit_set(0)) << 7;
        bytes
    }
}

pub fn integer(value: u32) -> BigNum {
    BigNum::from_u32(value).unwrap()
}

/// 2²⁵⁵ − 19
static P: LazyLock<BigNum> = LazyLock::new(|| &(&integer(1) << 255) - &integer(19));

/// −121665/121666
static D: LazyLock<BigNum> =
    LazyLock::new(|| reduced(&(&-integer(121_665) * &inverse(&integer(121_666)))));

/// From 0 to p − 1.
fn reduced(number: &BigNum) -> BigNum {
    let (mut result, mut context) = (BigNum::new().unwrap(), BigNumContext::new().unwrap());
    result.nnmod(number, &P, &mut context).unwrap();
    result
}

fn inverse(number: &BigNum) -> BigNum {
    let (mut result, mut context) = (BigNum::new().unwrap(), BigNumContext::new().unwrap());
    let number = reduced(number);
    result.mod_inverse(&number, &P, &mut context).unwrap();
    result
}

fn root(square: &BigNum) -> Option<BigNum> {
    let (mut result, mut context) = (BigNum::new().unwrap(), BigNumContext::new().unwrap());
    result.mod_sqrt(square, &P, &mut context).ok()?;
    Some(result)
}
