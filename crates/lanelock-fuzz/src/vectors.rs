//! Vector files: lanelock's text format and Wycheproof's JSON.

use std::fmt::Write as _;
use std::sync::OnceLock;

use lanelock_conformance::progress::Silent;
use lanelock_conformance::vectors::{Vector, parse};
use lanelock_conformance::{Subject, wycheproof};
use lanelock_core::Device;
use lanelock_openssl::OpenSsl;

/// A file that starts with `{` is Wycheproof's, and runs on OpenSSL: whatever it says, it is refused
/// or its tests are counted. Any other is text: what is read of it, written out and read once more,
/// is the same.
///
/// # Panics
/// If not.
pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    if text.starts_with('{') {
        return json(text);
    }
    let Ok(vectors) = parse(text) else {
        return;
    };
    let text = written(&vectors);
    let again = parse(&text).unwrap_or_else(|error| panic!("{error} of\n{text}"));
    let without_line = |vectors: &[Vector]| -> Vec<Vector> {
        let vectors = vectors.iter().cloned();
        vectors.map(|vector| Vector { line: 0, ..vector }).collect()
    };
    assert_eq!(without_line(&vectors), without_line(&again));
}

fn json(text: &str) {
    static SUBJECT: OnceLock<Subject> = OnceLock::new();
    let subject = SUBJECT.get_or_init(|| {
        let device = Device::builder().engine(OpenSsl::new().expect("OpenSSL 3"));
        Subject::new(&device.build(), "openssl").expect("the engine just added")
    });
    if let Ok(outcome) = wycheproof::run_text(subject, "fuzzed", text, &Silent) {
        let counted = outcome.right + outcome.refused + outcome.skips() + outcome.failures.len();
        assert_eq!(counted, outcome.tests, "{outcome:?}");
    }
}

/// The vectors as a file.
fn written(vectors: &[Vector]) -> String {
    let mut text = String::new();
    for vector in vectors {
        let known = &vector.known;
        let fields = [
            ("KEY", &known.key),
            ("MACKEY", &known.mac_key),
            ("IV", &known.iv),
            ("AAD", &known.aad),
            ("HEADER", &known.header),
            ("IN", &known.plaintext),
            ("TRAILER", &known.trailer),
            ("OUT", &known.ciphertext),
            ("TAG", &known.tag),
        ];
        let _ = write!(text, "[{}]\n# {}\n", vector.spec, vector.source);
        for (name, bytes) in fields {
            let _ = write!(text, "{name} = ");
            for byte in bytes {
                let _ = write!(text, "{byte:02x}");
            }
            text.push('\n');
        }
        text.push('\n');
    }
    text
}
