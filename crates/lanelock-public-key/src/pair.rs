//! Signatures that are a pair of integers: DER as X.509 writes it, and fixed length.

use der::asn1::UintRef;
use der::{Encode, Length, Reader, SliceReader, SliceWriter};

/// Writes `r ‖ s`, two integers of equal length, as DER `SEQUENCE { INTEGER r, INTEGER s }` to the
/// front of `out`; returns its length, or `None` if `out` is too short. Signatures are public.
#[must_use]
pub fn to_der(pair: &[u8], out: &mut [u8]) -> Option<usize> {
    let (r, s) = pair.split_at(pair.len() / 2);
    let integers = [UintRef::new(r).ok()?, UintRef::new(s).ok()?];
    let content = integers
        .iter()
        .try_fold(Length::ZERO, |sum, integer| sum + integer.encoded_len()?);
    let mut writer = SliceWriter::new(out);
    let write = writer.sequence(content.ok()?, |writer| {
        integers
            .iter()
            .try_for_each(|integer| integer.encode(writer))
    });
    write.ok()?;
    Some(writer.finish().ok()?.len())
}

/// Reads strict DER (X.690, 10) into `pair`, `r ‖ s` of equal length; `None` for anything else,
/// negative integers and integers too long included.
#[must_use]
pub fn from_der(der: &[u8], pair: &mut [u8]) -> Option<()> {
    let (r, s) = pair.split_at_mut(pair.len() / 2);
    let mut reader = SliceReader::new(der).ok()?;
    let integers: der::Result<[UintRef<'_>; 2]> =
        reader.sequence(|reader| Ok([reader.decode()?, reader.decode()?]));
    for (integer, out) in integers.ok()?.iter().zip([r, s]) {
        let digits = integer.as_bytes();
        let zeros = out.len().checked_sub(digits.len())?;
        out[..zeros].fill(0);
        out[zeros..].copy_from_slice(digits);
    }
    reader.is_finished().then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(pair: &[u8]) -> Vec<u8> {
        let mut der = [0; 160];
        let len = to_der(pair, &mut der).expect("room");
        let mut back = vec![0xee; pair.len()];
        from_der(&der[..len], &mut back).expect("DER");
        assert_eq!(back, pair);
        der[..len].to_vec()
    }

    #[test]
    fn integers_are_minimal_and_positive() {
        assert_eq!(round_trip(&[0, 1, 0, 2]), [0x30, 6, 2, 1, 1, 2, 1, 2]);
        assert_eq!(
            round_trip(&[0, 0x80, 0, 0]),
            [0x30, 7, 2, 2, 0, 0x80, 2, 1, 0]
        );
        assert_eq!(round_trip(&[0xff; 96]).len(), 2 + 2 * 51);
        assert_eq!(round_trip(&[0x01; 132])[..3], [0x30, 0x81, 136]);
        assert!(to_der(&[1; 64], &mut [0; 60]).is_none());
    }

    #[test]
    fn anything_but_strict_der_is_refused() {
        let read = |der: &[u8]| from_der(der, &mut [0; 4]);
        assert!(read(&[0x30, 6, 2, 1, 1, 2, 1, 2]).is_some());
        for der in [
            &[][..],
            &[0x30],
            &[0x31, 6, 2, 1, 1, 2, 1, 2],
            &[0x30, 7, 2, 1, 1, 2, 1, 2],
            &[0x30, 6, 2, 1, 1, 2, 1, 2, 0],
            &[0x30, 7, 2, 1, 1, 2, 1, 2, 0],
            &[0x30, 0x81, 6, 2, 1, 1, 2, 1, 2],
            &[0x30, 0x82, 0, 6, 2, 1, 1, 2, 1, 2],
            &[0x30, 0x80, 2, 1, 1, 2, 1, 2, 0, 0],
            &[0x30, 7, 2, 2, 0, 1, 2, 1, 2],
            &[0x30, 6, 2, 1, 0x81, 2, 1, 2],
            &[0x30, 5, 2, 0, 2, 1, 2],
            &[0x30, 8, 2, 3, 1, 1, 1, 2, 1, 2],
            &[0x30, 6, 3, 1, 1, 2, 1, 2],
            &[0x30, 3, 2, 1, 1],
            &[0x30, 6, 2, 1, 1, 2, 2, 2],
        ] {
            assert!(read(der).is_none(), "{der:02x?}");
        }
    }
}
