//! Message lengths on the command line: lists, ranges and mixes.

use std::fmt;
use std::str::FromStr;

/// Longest message that is measured, in bytes: what the peers' protocol allows.
pub const MAX_LENGTH: u32 = 1 << 20;

/// `64,1024`, `64:64:512` (first, distance, last), or both mixed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Lengths(pub Vec<u32>);

/// `64:7,576:4,1500:1`: lengths with the number of times each occurs.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Imix(Vec<(u32, u32)>);

/// The lengths of the messages of one cell.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Mix {
    /// Every message is this long.
    Equal(u32),
    /// A mix.
    Imix(Imix),
}

impl Imix {
    /// One period of the mix, each length spread over it as evenly as its weight allows.
    fn pattern(&self) -> Vec<u32> {
        let total: u32 = self.0.iter().map(|&(_, weight)| weight).sum();
        let mut credit = vec![0_i64; self.0.len()];
        (0..total)
            .map(|_| {
                for (credit, &(_, weight)) in credit.iter_mut().zip(&self.0) {
                    *credit += i64::from(weight);
                }
                let richest = (0..credit.len()).rev().max_by_key(|&i| credit[i]);
                let i = richest.expect("a mix has lengths");
                credit[i] -= i64::from(total);
                self.0[i].0
            })
            .collect()
    }
}

impl Mix {
    /// Message `n` has the length at `n` modulo the pattern's own length.
    pub fn pattern(&self) -> Vec<u32> {
        match self {
            Self::Equal(len) => vec![*len],
            Self::Imix(imix) => imix.pattern(),
        }
    }

    /// Mean length, in bytes.
    pub fn mean(&self) -> f64 {
        let pattern = self.pattern();
        let count = u32::try_from(pattern.len()).unwrap_or(u32::MAX);
        pattern.iter().map(|&len| f64::from(len)).sum::<f64>() / f64::from(count)
    }

    /// The longest message, in bytes.
    pub fn longest(&self) -> u32 {
        self.pattern().into_iter().max().unwrap_or(0)
    }
}

/// A length in bytes; `k` stands for 1024 and `M` for 1048576.
pub fn length(text: &str) -> Result<u32, String> {
    let (digits, unit) = match text.char_indices().next_back() {
        Some((at, 'k' | 'K')) => (&text[..at], 1 << 10),
        Some((at, 'm' | 'M')) => (&text[..at], 1 << 20),
        _ => (text, 1),
    };
    let number: u32 = digits
        .parse()
        .map_err(|_| format!("'{text}': not a length; use bytes, or 2k for 2048"))?;
    match number.checked_mul(unit) {
        Some(len @ 1..=MAX_LENGTH) => Ok(len),
        _ => Err(format!(
            "'{text}': lengths are from 1 to 1M (1048576) bytes"
        )),
    }
}

impl FromStr for Lengths {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut lengths = Vec::new();
        for part in text.split(',') {
            let bounds = part.split(':').map(length).collect::<Result<Vec<_>, _>>()?;
            match *bounds {
                [one] => lengths.push(one),
                [first, step, last] if first <= last => {
                    lengths.extend((first..=last).step_by(step as usize));
                }
                [_, _, _] => return Err(format!("'{part}': the first length exceeds the last")),
                _ => return Err(format!("'{part}': a range is first:step:last")),
            }
        }
        Ok(Self(lengths))
    }
}

impl FromStr for Imix {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let part = |part: &str| {
            let (len, weight) = part
                .split_once(':')
                .ok_or_else(|| format!("'{part}': a mix is length:weight,…"))?;
            let weight = weight.parse().ok().filter(|w| (1..=256).contains(w));
            let weight = weight.ok_or_else(|| format!("'{part}': weights are from 1 to 256"))?;
            Ok::<_, String>((length(len)?, weight))
        };
        let parts = text.split(',').map(part).collect::<Result<Vec<_>, _>>()?;
        if parts.len() > 16 {
            return Err("a mix has at most 16 lengths".to_owned());
        }
        Ok(Self(parts))
    }
}

impl fmt::Display for Imix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (len, weight)) in self.0.iter().enumerate() {
            write!(f, "{}{len}:{weight}", if i > 0 { "," } else { "" })?;
        }
        Ok(())
    }
}

/// How a table names the cell: `1024`, or `imix`.
impl fmt::Display for Mix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Equal(len) => write!(f, "{len}"),
            Self::Imix(_) => f.write_str("imix"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_ranges_and_suffixes_mix() {
        let lengths: Lengths = "16,64:64:256,2k,1M".parse().unwrap();
        assert_eq!(lengths.0, [16, 64, 128, 192, 256, 2048, 1 << 20]);
    }

    #[test]
    fn errors_name_the_part_and_the_remedy() {
        let error = |text: &str| text.parse::<Lengths>().unwrap_err();
        assert_eq!(
            error("64,x"),
            "'x': not a length; use bytes, or 2k for 2048"
        );
        assert_eq!(error("0"), "'0': lengths are from 1 to 1M (1048576) bytes");
        assert_eq!(error("9:1"), "'9:1': a range is first:step:last");
        assert_eq!(error("9:1:8"), "'9:1:8': the first length exceeds the last");
        assert!(error("5000M").contains("1M"));
        assert!("64".parse::<Imix>().unwrap_err().contains("length:weight"));
        assert!("64:0".parse::<Imix>().unwrap_err().contains("weights"));
    }

    #[test]
    fn a_mix_spreads_its_lengths() {
        let mix = Mix::Imix("64:7,576:4,1500:1".parse().unwrap());
        let pattern = mix.pattern();
        assert_eq!(pattern.len(), 12);
        for (len, weight) in [(64, 7), (576, 4), (1500, 1)] {
            assert_eq!(pattern.iter().filter(|&&l| l == len).count(), weight);
        }
        assert!(
            pattern
                .windows(4)
                .all(|four| four.contains(&64) && four != [64; 4])
        );
        assert!((mix.mean() - 354.33).abs() < 0.01);
        assert_eq!(mix.longest(), 1500);
    }
}
