//! The text format of the vector files.
//!
//! ```text
//! [aes-128-cbc]            the algorithm of the blocks below, by lanelock's name
//!
//! # NIST SP 800-38A, F.2.1  the source of the blocks below, up to the next
//! KEY = 2b7e1516…          hexadecimal,
//! IN = "text"              text,
//! IN = 61 * 1000000        or hexadecimal, repeated
//! OUT = …
//!                          an empty line ends a block
//! ```
//!
//! Fields: `KEY`, `MACKEY`, `IV`, `AAD`, `HEADER` and `TRAILER` (what a chain authenticates in
//! front of and behind the payload), `IN`, `OUT`, `TAG` (also the digest of a hash), `CUSTOM` (a
//! customization string). A field left out is empty.

use std::fmt;

use lanelock_core::algorithm::Spec;

use crate::known::KnownAnswer;

/// Longest value, in bytes.
const LONGEST: usize = 1 << 24;

/// One block of a file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Vector {
    /// Line on which it begins.
    pub line: usize,
    /// Where it was published.
    pub source: String,
    /// The named algorithm.
    pub spec: Spec,
    /// The message and its result.
    pub known: KnownAnswer,
}

/// What is wrong with a file, and where.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ParseError {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong with it.
    pub what: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

impl std::error::Error for ParseError {}

/// Reads a file.
///
/// # Errors
/// [`ParseError`] for the first line that does not follow the format.
pub fn parse(text: &str) -> Result<Vec<Vector>, ParseError> {
    let mut parser = Parser::default();
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        parser
            .line(number, line.trim())
            .map_err(|what| ParseError { line: number, what })?;
    }
    parser.end_block();
    Ok(parser.vectors)
}

#[derive(Default)]
struct Parser {
    spec: Option<Spec>,
    source: String,
    open: Option<Vector>,
    seen: Vec<String>,
    vectors: Vec<Vector>,
}

impl Parser {
    fn line(&mut self, number: usize, line: &str) -> Result<(), String> {
        if line.is_empty() {
            self.end_block();
        } else if let Some(source) = line.strip_prefix('#') {
            source.trim().clone_into(&mut self.source);
        } else if let Some(name) = line.strip_prefix('[') {
            let name = name.strip_suffix(']').ok_or("a ']' is missing")?;
            self.end_block();
            self.spec = Some(name.parse().map_err(|_| format!("no algorithm '{name}'"))?);
        } else {
            let (field, text) = line
                .split_once('=')
                .ok_or("neither '[', '#' nor FIELD = …")?;
            self.field(number, field.trim(), &value(text.trim())?)?;
        }
        Ok(())
    }

    fn field(&mut self, number: usize, name: &str, bytes: &[u8]) -> Result<(), String> {
        let spec = self.spec.ok_or("a field before the first [algorithm]")?;
        if self.source.is_empty() {
            return Err("a block without a source: say '# where it is from'".to_owned());
        }
        if self.seen.iter().any(|seen| seen == name) {
            return Err(format!("{name} a second time: is an empty line missing?"));
        }
        self.seen.push(name.to_owned());
        let source = &self.source;
        let known = &mut self
            .open
            .get_or_insert_with(|| Vector {
                line: number,
                source: source.clone(),
                spec,
                known: KnownAnswer::empty(spec.algorithm),
            })
            .known;
        let field = match name {
            "KEY" => &mut known.key,
            "MACKEY" => &mut known.mac_key,
            "IV" => &mut known.iv,
            "AAD" => &mut known.aad,
            "HEADER" => &mut known.header,
            "IN" => &mut known.plaintext,
            "TRAILER" => &mut known.trailer,
            "OUT" => &mut known.ciphertext,
            "TAG" => &mut known.tag,
            "CUSTOM" => &mut known.customization,
            _ => return Err(format!("no field '{name}'")),
        };
        *field = bytes.to_vec();
        Ok(())
    }

    fn end_block(&mut self) {
        self.vectors.extend(self.open.take());
        self.seen.clear();
    }
}

fn value(text: &str) -> Result<Vec<u8>, String> {
    if let Some(text) = text.strip_prefix('"') {
        let text = text.strip_suffix('"').ok_or("a '\"' is missing")?;
        return Ok(text.as_bytes().to_vec());
    }
    let (digits, times) = match text.split_once('*') {
        Some((digits, times)) => {
            let times: usize = times
                .trim()
                .parse()
                .map_err(|_| "what follows '*' is no number")?;
            (digits.trim(), times)
        }
        None => (text, 1),
    };
    let bytes = hex::decode(digits).map_err(|error| format!("not hexadecimal: {error}"))?;
    match bytes.len().checked_mul(times) {
        Some(..=LONGEST) => Ok(bytes.repeat(times)),
        _ => Err(format!(
            "{} bytes {times} times: a value has at most {LONGEST} bytes",
            bytes.len()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        parse(text).unwrap_err().to_string()
    }

    #[test]
    fn a_block_is_read_with_its_source_and_line() {
        let text = "[aes-128-cbc]\n\n# a book\nKEY = 00\nIN = \"ab\"\nOUT = 61 * 3\n\nKEY = 01\n";
        let vectors = parse(text).unwrap();
        assert_eq!(vectors.len(), 2);
        assert_eq!((vectors[0].line, vectors[1].line), (4, 8));
        assert_eq!(vectors[0].source, "a book");
        assert_eq!(vectors[0].known.plaintext, b"ab");
        assert_eq!(vectors[0].known.ciphertext, b"aaa");
        assert_eq!(vectors[1].known.key, [1]);
    }

    #[test]
    fn errors_name_the_line() {
        let start = "[sha1]\n# a book\n";
        assert_eq!(error("[sha9]"), "line 1: no algorithm 'sha9'");
        assert_eq!(error("[sha1"), "line 1: a ']' is missing");
        assert_eq!(
            error("IN = 00"),
            "line 1: a field before the first [algorithm]"
        );
        assert_eq!(
            error("[sha1]\nIN = 00"),
            "line 2: a block without a source: say '# where it is from'"
        );
        assert_eq!(
            error(&format!("{start}IN = 0")),
            "line 3: not hexadecimal: Odd number of digits"
        );
        assert_eq!(
            error(&format!("{start}IN = 00\nIN = 00")),
            "line 4: IN a second time: is an empty line missing?"
        );
        assert_eq!(
            error(&format!("{start}IN = 6162 * 8388609")),
            "line 3: 2 bytes 8388609 times: a value has at most 16777216 bytes"
        );
        assert_eq!(
            error(&format!("{start}IN = 6162 * {}", usize::MAX)),
            "line 3: 2 bytes 18446744073709551615 times: a value has at most 16777216 bytes"
        );
        assert_eq!(error(&format!("{start}FOO = 00")), "line 3: no field 'FOO'");
        assert_eq!(
            error(&format!("{start}what")),
            "line 3: neither '[', '#' nor FIELD = …"
        );
    }
}
