//! Names that other processes choose, as terminals, tables and pages may show them.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// Text of any bytes: what is not UTF-8 and what a terminal would obey or hide is escaped, and so is
/// the backslash, so that no two names look alike.
pub fn bytes(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            if c == '\\' || is_hidden(c) {
                text.extend(c.escape_default());
            } else {
                text.push(c);
            }
        }
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
}

/// A path or an argument of any bytes.
pub fn name(name: impl AsRef<OsStr>) -> String {
    bytes(name.as_ref().as_bytes())
}

/// Control characters, line and paragraph separators, and those that change the direction of text
/// or have no width.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_is_left() {
        for (name, expected) in [
            (&b"haproxy"[..], "haproxy"),
            (b"tls worker 1", "tls worker 1"),
            ("café".as_bytes(), "café"),
            (b"caf\xe9", "caf\\xe9"),
            (b"\x1b]0;pwned\x07", "\\u{1b}]0;pwned\\u{7}"),
            (b"a\nb\tc\x7f", "a\\nb\\tc\\u{7f}"),
            ("\u{9b}31m\u{202e}".as_bytes(), "\\u{9b}31m\\u{202e}"),
            (b"C:\\x", "C:\\\\x"),
            ("日本\u{e6}".as_bytes(), "日本æ"),
            (b"\xe6\x97\xa5\xe6\x9c", "日\\xe6\\x9c"),
        ] {
            assert_eq!(bytes(name), expected);
        }
        let all: Vec<u8> = (0..=255).collect();
        assert!(!bytes(&all).chars().any(char::is_control));
    }
}
