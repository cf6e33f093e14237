//! Signatures that are a pair of integers: DER as X.509 writes it, and fixed length.

/// Writes `r ‖ s`, two integers of equal length, as DER `SEQUENCE { INTEGER r, INTEGER s }` to the
/// front of `out`; returns its length, or `None` if `out` is too short. Signatures are public.
#[must_use]
pub fn to_der(pair: &[u8], out: &mut [u8]) -> Option<usize> {
    let (r, s) = pair.split_at(pair.len() / 2);
    let integers = [minimal(r), minimal(s)];
    let content: usize = integers
        .iter()
        .map(|(pad, digits)| 2 + usize::from(*pad) + digits.len())
        .sum();
    let long = content >= 0x80;
    let len = content + 2 + usize::from(long);
    let mut der = out.get_mut(..len)?;
    let mut put = |bytes: &[u8]| {
        let (front, rest) = std::mem::take(&mut der).split_at_mut(bytes.len());
        front.copy_from_slice(bytes);
        der = rest;
    };
    put(&[0x30]);
    if long {
        put(&[0x81]);
    }
    put(&[u8::try_from(content).ok()?]);
    for (pad, digits) in integers {
        put(&[0x02, u8::try_from(usize::from(pad) + digits.len()).ok()?]);
        put(&[0][..usize::from(pad)]);
        put(digits);
    }
    Some(len)
}

/// Reads strict DER (X.690, 10) into `pair`, `r ‖ s` of equal length; `None` for anything else,
/// negative integers and integers too long included.
#[must_use]
pub fn from_der(der: &[u8], pair: &mut [u8]) -> Option<()> {
    let order_len = pair.len() / 2;
    let (tag, mut rest) = der.split_first()?;
    let (mut len, mut after) = rest.split_first()?;
    if *len == 0x81 {
        (len, after) = after.split_first()?;
        // The short form would have done.
        if *len < 0x80 {
            return None;
        }
    } else if *len >= 0x80 {
        return None;
    }
    rest = after;
    if *tag != 0x30 || usize::from(*len) != rest.len() {
        return None;
    }
    let (r, s) = pair.split_at_mut(order_len);
    rest = integer(rest, r)?;
    rest = integer(rest, s)?;
    rest.is_empty().then_some(())
}

/// Reads one non-negative integer from the front of `der`; returns what follows.
fn integer<'a>(der: &'a [u8], out: &mut [u8]) -> Option<&'a [u8]> {
    let (&[tag, len], rest) = der.split_first_chunk::<2>()?;
    if tag != 0x02 || len == 0 || len >= 0x80 {
        return None;
    }
    let (digits, rest) = rest.split_at_checked(usize::from(len))?;
    let digits = match digits {
        [0x80..=0xff, ..] => return None,
        [0, 0x80..=0xff, ..] => &digits[1..],
        [0] => digits,
        [0, ..] => return None,
        _ => digits,
    };
    let zeros = out.len().checked_sub(digits.len())?;
    out[..zeros].fill(0);
    out[zeros..].copy_from_slice(digits);
    Some(rest)
}

/// Whether a zero byte goes in front, and the digits without leading zeros; one for 0.
fn minimal(integer: &[u8]) -> (bool, &[u8]) {
    let zeros = integer.iter().take_while(|&&byte| byte == 0).count();
    let digits = &integer[zeros.min(integer.len().saturating_sub(1))..];
    (digits.first().is_some_and(|byte| byte & 0x80 != 0), digits)
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
