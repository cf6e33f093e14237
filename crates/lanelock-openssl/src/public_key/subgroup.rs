//! The subgroup that Diffie-Hellman happens in.
//!
//! The shared secret of a peer outside it tells the secret exponent modulo the peer's own order
//! (RFC 2785): a few operations with a static key give away as many bits.

use crate::ffi::{Failed, Number, Power};

/// The elements whose order is q, and 1.
pub(super) struct Subgroup(Test);

enum Test {
    /// With p = 2q + 1 these are the squares, which is found without the power.
    Squares { p: Number },
    /// yᵠ = 1 (SP 800-56A revision 3, 5.6.2.3.1).
    Power { to_q: Power, one: Number },
}

impl Subgroup {
    /// Of order `q` modulo the odd prime `p`.
    pub(super) fn new(p: &[u8], q: &[u8]) -> Result<Self, Failed> {
        let [p, q, two, one] = [p, q, &[2], &[1]].map(Number::from_bytes);
        let (p, q, one) = (p?, q?, one?);
        let safe = q.times(&two?)?.equals(&p.minus(&one)?);
        Ok(Self(if safe {
            Test::Squares { p }
        } else {
            let to_q = Power::new(&p, &q)?;
            Test::Power { to_q, one }
        }))
    }

    /// Whether `y`, a number from 1 to p − 1, is in it.
    pub(super) fn contains(&mut self, y: &[u8]) -> Result<bool, Failed> {
        let y = Number::from_bytes(y)?;
        match &mut self.0 {
            Test::Squares { p } => y.is_square_modulo(p),
            Test::Power { to_q, one } => Ok(to_q.of(&y)?.equals(one)),
        }
    }
}
