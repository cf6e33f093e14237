//! The groups and how they lay out what peers send (draft-ietf-tls-ecdhe-mlkem): two parts one after
//! the other, of fixed lengths, in the same order in a client's share, a server's reply and the
//! secret. Of ML-KEM by itself the curve's part is empty.

use std::ffi::{CStr, c_int, c_uint, c_void};

use lanelock::public_key::{Curve, KeyKind, MlKem};
use zeroize::Zeroizing;

use crate::batch::Bytes;
use crate::ffi::params::END;
use crate::ffi::{Callback, OSSL_PARAM, kind};

/// ML-KEM by itself, or a group of TLS 1.3 that combines it with an exchange on a curve.
#[derive(Debug)]
pub(crate) struct Group {
    /// The name of its keys and operations; of a combined group also its name in TLS.
    pub name: &'static CStr,
    /// TLS's number for it.
    id: c_uint,
    pub set: MlKem,
    /// The curve's keys; `None` for ML-KEM by itself.
    pub curve: Option<KeyKind>,
    is_ml_kem_first: bool,
    /// As libcrypto 3.5 counts them: those of ML-KEM.
    pub security_bits: c_int,
}

/// All of them; the place of a group is its functions' parameter.
pub(crate) static GROUPS: [Group; 6] = [
    Group {
        name: c"X25519MLKEM768",
        id: 0x11ec,
        set: MlKem::MlKem768,
        curve: Some(KeyKind::X25519),
        is_ml_kem_first: true,
        security_bits: 192,
    },
    Group {
        name: c"SecP256r1MLKEM768",
        id: 0x11eb,
        set: MlKem::MlKem768,
        curve: Some(KeyKind::Ec(Curve::P256)),
        is_ml_kem_first: false,
        security_bits: 192,
    },
    Group {
        name: c"SecP384r1MLKEM1024",
        id: 0x11ed,
        set: MlKem::MlKem1024,
        curve: Some(KeyKind::Ec(Curve::P384)),
        is_ml_kem_first: false,
        security_bits: 256,
    },
    ml_kem(c"ML-KEM-512", 0x0200, MlKem::MlKem512, 128),
    ml_kem(c"ML-KEM-768", 0x0201, MlKem::MlKem768, 192),
    ml_kem(c"ML-KEM-1024", 0x0202, MlKem::MlKem1024, 256),
];

/// ML-KEM by itself, which libcrypto has from 3.5 on.
const fn ml_kem(name: &'static CStr, id: c_uint, set: MlKem, security_bits: c_int) -> Group {
    Group {
        name,
        id,
        set,
        curve: None,
        is_ml_kem_first: true,
        security_bits,
    }
}

/// Bytes of ML-KEM's secrets.
const ML_KEM_SECRET: usize = 32;

/// The two parts of something.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts<'b> {
    pub ml_kem: &'b [u8],
    pub curve: &'b [u8],
}

impl Group {
    /// The group of this name, in any case of letters.
    pub(crate) fn named(name: &[u8]) -> Option<usize> {
        let known = |group: &Group| group.name.to_bytes().eq_ignore_ascii_case(name);
        GROUPS.iter().position(known)
    }

    /// Its name as text.
    pub(crate) fn as_str(&self) -> &'static str {
        self.name.to_str().unwrap_or_default()
    }

    /// What the curve is called in messages.
    pub(crate) fn curve_name(&self) -> &'static str {
        match self.curve {
            Some(KeyKind::Ec(Curve::P256)) => "P-256",
            Some(KeyKind::Ec(_)) => "P-384",
            _ => "X25519",
        }
    }

    /// Bytes of a client's share.
    pub(crate) fn share_len(&self) -> usize {
        self.set.public_len() + self.point_len()
    }

    /// Bytes of a server's reply.
    pub(crate) fn reply_len(&self) -> usize {
        self.set.ciphertext_len() + self.point_len()
    }

    /// Bytes of the secret.
    pub(crate) fn secret_len(&self) -> usize {
        ML_KEM_SECRET + self.scalar_len()
    }

    /// Bytes of the curve's secret keys, and of what two of them share.
    fn scalar_len(&self) -> usize {
        match self.curve {
            Some(KeyKind::Ec(curve)) => curve.field_len(),
            Some(_) => 32,
            None => 0,
        }
    }

    fn point_len(&self) -> usize {
        match self.curve {
            Some(KeyKind::Ec(curve)) => 1 + 2 * curve.field_len(),
            Some(_) => 32,
            None => 0,
        }
    }

    /// The parts of a client's share; `None` if it has another length, or a point that is not
    /// written uncompressed.
    pub(crate) fn split_share<'b>(&self, share: &'b [u8]) -> Option<Parts<'b>> {
        let parts = self.split(share, self.set.public_len(), self.point_len())?;
        self.has_point(parts).then_some(parts)
    }

    /// The parts of a server's reply, likewise.
    pub(crate) fn split_reply<'b>(&self, reply: &'b [u8]) -> Option<Parts<'b>> {
        let parts = self.split(reply, self.set.ciphertext_len(), self.point_len())?;
        self.has_point(parts).then_some(parts)
    }

    /// The parts of a secret key as libcrypto writes it; `None` if it has another length.
    pub(crate) fn split_key<'b>(&self, key: &'b [u8]) -> Option<Parts<'b>> {
        self.split(key, self.set.secret_len(), self.scalar_len())
    }

    fn split<'b>(&self, whole: &'b [u8], ml_kem: usize, curve: usize) -> Option<Parts<'b>> {
        if whole.len() != ml_kem + curve {
            return None;
        }
        Some(if self.is_ml_kem_first {
            let (ml_kem, curve) = whole.split_at(ml_kem);
            Parts { ml_kem, curve }
        } else {
            let (curve, ml_kem) = whole.split_at(curve);
            Parts { ml_kem, curve }
        })
    }

    /// Whether the curve's part can be a point (SEC 1, section 2.3.3).
    fn has_point(&self, parts: Parts<'_>) -> bool {
        !matches!(self.curve, Some(KeyKind::Ec(_))) || parts.curve[0] == 4
    }

    /// The parts in the group's order.
    pub(crate) fn join(&self, parts: Parts<'_>) -> Bytes {
        let Parts { ml_kem, curve } = parts;
        let (first, second) = match self.is_ml_kem_first {
            true => (ml_kem, curve),
            false => (curve, ml_kem),
        };
        // With room for all from the start: growing would leave a copy of a secret behind.
        let mut whole = Zeroizing::new(Vec::with_capacity(first.len() + second.len()));
        whole.extend_from_slice(first);
        whole.extend_from_slice(second);
        whole
    }

    /// Tells libssl of the group (provider-base(7), CAPABILITIES); what `callback` returns.
    ///
    /// # Safety
    /// `arg` is what `callback` takes.
    pub(crate) unsafe fn announce(&self, callback: Callback, arg: *mut c_void) -> c_int {
        const TLS1_3: c_int = 0x304;
        let (id, bits, is_kem) = (self.id, self.security_bits.unsigned_abs(), 1);
        let text = |key: &'static CStr| OSSL_PARAM {
            key: key.as_ptr(),
            data_type: kind::UTF8_STRING,
            data: self.name.as_ptr().cast_mut().cast(),
            data_size: self.name.count_bytes(),
            return_size: 0,
        };
        let params = [
            text(c"tls-group-name"),
            text(c"tls-group-name-internal"),
            text(c"tls-group-alg"),
            number(c"tls-group-id", kind::UNSIGNED_INTEGER, &id),
            number(c"tls-group-sec-bits", kind::UNSIGNED_INTEGER, &bits),
            number(c"tls-group-is-kem", kind::UNSIGNED_INTEGER, &is_kem),
            number(c"tls-min-tls", kind::INTEGER, &TLS1_3),
            // No upper bound, and no DTLS.
            number(c"tls-max-tls", kind::INTEGER, &0),
            number(c"tls-min-dtls", kind::INTEGER, &-1),
            number(c"tls-max-dtls", kind::INTEGER, &-1),
            END,
        ];
        // SAFETY: a terminated array whose entries outlive the call; the caller's argument.
        unsafe { callback(params.as_ptr(), arg) }
    }
}

/// A number of four bytes.
fn number<T>(key: &'static CStr, data_type: c_uint, value: &T) -> OSSL_PARAM {
    const { assert!(size_of::<T>() == size_of::<c_int>()) };
    OSSL_PARAM {
        key: key.as_ptr(),
        data_type,
        data: std::ptr::from_ref(value).cast_mut().cast(),
        data_size: size_of::<T>(),
        return_size: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lengths of the draft's section 4, and OpenSSL's numbers for the groups.
    #[test]
    fn lengths_and_order_are_the_drafts() {
        let lens = GROUPS.each_ref().map(|group| {
            (
                group.id,
                group.share_len(),
                group.reply_len(),
                group.secret_len(),
            )
        });
        let expected = [
            (4588, 1216, 1120, 64),
            (4587, 1249, 1153, 64),
            (4589, 1665, 1665, 80),
            (512, 800, 768, 32),
            (513, 1184, 1088, 32),
            (514, 1568, 1568, 32),
        ];
        assert_eq!(lens, expected);
        let places = [(0, 1184), (65, 0), (97, 0), (0, 800), (0, 1184), (0, 1568)];
        for (group, (ml_kem, curve)) in GROUPS.iter().zip(places) {
            let mut share = vec![7; group.share_len()];
            if group.curve.is_some() {
                share[curve] = 4;
            }
            let parts = group.split_share(&share).expect("of this length");
            assert_eq!(parts.ml_kem.as_ptr(), share[ml_kem..].as_ptr());
            assert_eq!(parts.curve.as_ptr(), share[curve..].as_ptr());
            assert_eq!(*group.join(parts), share);
        }
    }

    #[test]
    fn another_length_or_form_of_a_point_is_no_share() {
        for group in &GROUPS {
            let (share, reply) = (group.share_len(), group.reply_len());
            for len in [0, 1, share - 1, share + 1] {
                assert!(group.split_share(&vec![4; len]).is_none(), "{len}");
            }
            for len in [0, 1, reply - 1, reply + 1] {
                assert!(group.split_reply(&vec![4; len]).is_none(), "{len}");
            }
            for first in [0, 2, 3, 6, 7] {
                let share = vec![first; group.share_len()];
                let is_fine = !matches!(group.curve, Some(KeyKind::Ec(_)));
                assert_eq!(group.split_share(&share).is_some(), is_fine, "{first}");
            }
        }
    }
}
