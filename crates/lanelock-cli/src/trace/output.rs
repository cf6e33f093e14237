//! bpftrace's output, in its JSON form, and the sums over several of them.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde_json::Value;

use crate::shown;

/// A line that says something.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Message {
    /// All probes are in place; the script's times start here, in nanoseconds of the system.
    Ready(u64),
    /// An event's line, in which the process's name may be any bytes.
    Event(Vec<u8>),
    /// Maps with counters or statistics, printed at the end.
    Maps(BTreeMap<String, Value>),
    /// So many events did not fit into the buffers to be printed.
    Lost(u64),
}

#[derive(Debug, Deserialize)]
struct Line {
    r#type: String,
    data: Value,
}

#[derive(Debug, Deserialize)]
struct Lost {
    events: u64,
}

impl Message {
    /// Reads a line. Nothing for lines that say nothing here.
    ///
    /// # Errors
    /// What is wrong with a line that should have been read.
    pub(super) fn parse(line: &[u8]) -> Result<Option<Self>, String> {
        if line.trim_ascii().is_empty() {
            return Ok(None);
        }
        let unread =
            |error: &dyn fmt::Display| format!("bpftrace wrote `{}`: {error}", shown::bytes(line));
        // A character for each byte, whatever it is: names need not be UTF-8.
        let text: String = line.iter().copied().map(char::from).collect();
        let Line { r#type, data } = serde_json::from_str(&text).map_err(|e| unread(&e))?;
        Ok(match r#type.as_str() {
            "printf" => {
                let text: String = serde_json::from_value(data).map_err(|e| unread(&e))?;
                Some(match text.trim_end().strip_prefix("origin ") {
                    Some(origin) => Self::Ready(origin.parse().map_err(|e| unread(&e))?),
                    None => Self::Event(printed(&text)),
                })
            }
            "map" | "stats" => Some(Self::Maps(
                serde_json::from_value(data).map_err(|e| unread(&e))?,
            )),
            "lost_events" => {
                let lost: Lost = serde_json::from_value(data).map_err(|e| unread(&e))?;
                Some(Self::Lost(lost.events))
            }
            _ => None,
        })
    }
}

/// The bytes that a script printed: a character for each, but that bpftrace 0.17 writes those above
/// 0x7f with their sign, 0xe9 as `\uffffffe9`, which is one character and four more.
fn printed(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        let signed = match c {
            '\u{ffff}' => rest.strip_prefix("ff").and_then(|digits| digits.get(..2)),
            _ => None,
        };
        if let Some(byte) = signed.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            bytes.push(byte);
            rest = &rest[4..];
        } else if let Ok(byte) = u8::try_from(c) {
            bytes.push(byte);
        } else {
            bytes.extend(c.encode_utf8(&mut [0; 4]).bytes());
        }
    }
    bytes
}

/// Number and sum of some values.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
pub(super) struct Stat {
    pub(super) count: u64,
    pub(super) total: u64,
}

/// Everything that the scripts counted. Keys of several parts are joined by commas.
#[derive(Clone, Debug, Default)]
pub(super) struct Totals {
    counts: BTreeMap<String, BTreeMap<String, u64>>,
    stats: BTreeMap<String, BTreeMap<String, Stat>>,
}

impl Totals {
    /// Adds what a script printed at its end. Maps of other kinds are for the script alone.
    pub(super) fn add(&mut self, maps: BTreeMap<String, Value>) {
        for (name, entries) in maps {
            let Value::Object(entries) = entries else {
                continue;
            };
            for (key, value) in entries {
                if let Some(count) = value.as_u64() {
                    let counts = self.counts.entry(name.clone()).or_default();
                    *counts.entry(key).or_default() += count;
                } else if let Ok(stat) = serde_json::from_value::<Stat>(value) {
                    let stats = self.stats.entry(name.clone()).or_default();
                    let sum = stats.entry(key).or_default();
                    sum.count += stat.count;
                    sum.total += stat.total;
                }
            }
        }
    }

    /// The counters of a map.
    pub(super) fn counts(&self, map: &str) -> BTreeMap<String, u64> {
        self.counts.get(map).cloned().unwrap_or_default()
    }

    /// The counters of a map with numbers for keys.
    pub(super) fn buckets(&self, map: &str) -> BTreeMap<u64, u64> {
        let counts = self.counts.get(map).into_iter().flatten();
        counts
            .filter_map(|(key, count)| Some((key.parse().ok()?, *count)))
            .collect()
    }

    /// The statistics of a map.
    pub(super) fn stats(&self, map: &str) -> BTreeMap<String, Stat> {
        self.stats.get(map).cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HANDSHAKES: &str = include_str!("testdata/handshakes.json");
    const CRYPTO: &str = include_str!("testdata/crypto.json");

    fn messages(text: &str) -> Vec<Message> {
        text.lines()
            .filter_map(|line| Message::parse(line.as_bytes()).expect("bpftrace's own output"))
            .collect()
    }

    fn totals(text: &str) -> Totals {
        let mut totals = Totals::default();
        for message in messages(text) {
            if let Message::Maps(maps) = message {
                totals.add(maps);
            }
        }
        totals
    }

    #[test]
    fn the_first_word_is_that_the_probes_are_there() {
        for text in [HANDSHAKES, CRYPTO] {
            assert!(matches!(messages(text)[0], Message::Ready(1..)));
        }
    }

    #[test]
    fn counters_and_statistics_are_read() {
        let totals = totals(HANDSHAKES);
        assert_eq!(totals.counts("@handshakes")["completed"], 6);
        assert_eq!(totals.counts("@handshakes")["failed"], 2);
        let time = totals.stats("@handshake_stat")["time"];
        assert_eq!((time.count, time.total), (6, 58_513));
        assert_eq!(totals.buckets("@handshake_time").values().sum::<u64>(), 6);
        assert!(totals.counts("@absent").is_empty());
    }

    #[test]
    fn several_tracers_add_up() {
        let mut totals = totals(CRYPTO);
        let once = totals.stats("@crypto_ns")["EVP_DigestSign"];
        for message in messages(CRYPTO) {
            if let Message::Maps(maps) = message {
                totals.add(maps);
            }
        }
        let twice = totals.stats("@crypto_ns")["EVP_DigestSign"];
        assert_eq!((twice.count, twice.total), (2 * once.count, 2 * once.total));
        assert!(once.count > 0 && once.total > 0);
    }

    #[test]
    fn what_is_lost_is_told_and_the_rest_is_skipped() {
        let lost = r#"{"type": "lost_events", "data": {"events": 17}}"#;
        assert_eq!(Message::parse(lost.as_bytes()), Ok(Some(Message::Lost(17))));
        let other = r#"{"type": "attached_probes", "data": {"probes": 26}}"#;
        assert_eq!(Message::parse(other.as_bytes()), Ok(None));
        assert_eq!(Message::parse(b"\n"), Ok(None));
        for broken in ["{", r#"{"type": "lost_events", "data": 3}"#, "Attaching"] {
            let told = Message::parse(broken.as_bytes()).expect_err(broken);
            assert!(told.contains("bpftrace wrote"), "{told}");
        }
    }

    #[test]
    fn names_are_the_bytes_that_they_were() {
        for (data, expected) in [
            // As bpftrace 0.17 writes it, and as later ones do.
            (&br"caf\uffffffe9   1\n"[..], &b"caf\xe9   1\n"[..]),
            (b"caf\xe9   1", b"caf\xe9   1"),
            (br"\uffffffc3\uffffffa9", "é".as_bytes()),
            ("é".as_bytes(), "é".as_bytes()),
            (br"\u001b]0;pwned\u0007", b"\x1b]0;pwned\x07"),
            (br"x\norigin 5\n", b"x\norigin 5\n"),
        ] {
            let line = [br#"{"type": "printf", "data": ""#, data, br#""}"#].concat();
            let message = Message::parse(&line).expect("well formed");
            assert_eq!(message, Some(Message::Event(expected.to_vec())));
        }
    }
}
