//! A mismatch in words and hex.

use std::fmt;
use std::fmt::Write as _;

use super::scenario::{Burst, Found, Path, Scenario};
use crate::Subject;
use crate::message::{Message, Mismatch, Output, Part, Setup};

/// The smallest case found that goes wrong.
#[derive(Clone, Debug)]
pub struct Failure {
    engine: String,
    unit: String,
    seed: u64,
    mismatch: Option<Mismatch>,
    /// The scenario in words, one line each.
    lines: Vec<String>,
}

/// Bytes of one line of a dump.
const LINE: usize = 16;

/// Lines of a dump before and behind the first difference.
const AROUND: usize = 4;

impl Failure {
    pub(super) fn new(
        subject: &Subject,
        scenario: &Scenario,
        found: Option<Found>,
        unit: &str,
        seed: u64,
    ) -> Self {
        let mut lines = Vec::new();
        if let Some(found) = &found {
            describe(scenario, found, &mut lines);
        }
        Self {
            engine: subject.engine().to_owned(),
            unit: unit.to_owned(),
            seed,
            mismatch: found.map(|found| found.mismatch),
            lines,
        }
    }

    /// The algorithm whose scenarios it was found in.
    #[must_use]
    pub fn unit(&self) -> &str {
        &self.unit
    }

    /// What differs; nothing if it did not happen a second time.
    #[must_use]
    pub fn mismatch(&self) -> Option<&Mismatch> {
        self.mismatch.as_ref()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { engine, unit, .. } = self;
        let Some(mismatch) = &self.mismatch else {
            return write!(
                f,
                "engine {engine}, {unit}: a mismatch that did not happen again with the same \
                 operations; seed {}",
                self.seed
            );
        };
        writeln!(f, "engine {engine}, {unit}: {mismatch}")?;
        writeln!(f, "\nsmallest case (seed {}):", self.seed)?;
        for line in &self.lines {
            writeln!(f, "  {line}")?;
        }
        if mismatch.expected != mismatch.got {
            writeln!(f, "\nexpected:")?;
            f.write_str(&dump(&mismatch.expected, &mismatch.got))?;
            writeln!(f, "got:")?;
            f.write_str(&dump(&mismatch.got, &mismatch.expected))?;
        }
        Ok(())
    }
}

fn describe(scenario: &Scenario, found: &Found, lines: &mut Vec<String>) {
    for (index, burst) in scenario.bursts.iter().enumerate() {
        let Burst { queue, path, ops } = burst;
        let how = match path {
            Path::Process => "process".to_owned(),
            Path::Jobs { limit } => {
                format!(
                    "enqueue at depth {}, dequeue {limit} at a time",
                    scenario.depth
                )
            }
        };
        let (last, first) = (index == found.burst, index == 0);
        if scenario.bursts.len() > 1 || ops.len() > 1 || *path != Path::Process || !first {
            let count = ops.len();
            lines.push(format!(
                "burst {index} of {count} on queue pair {queue}: {how}"
            ));
        }
        for (number, (setup, shape)) in ops.iter().enumerate() {
            let setup = &scenario.setups[*setup];
            let wrong = last && number == found.op;
            let mark = if wrong && ops.len() > 1 { "> " } else { "" };
            let message = shape.message(setup);
            let flipped = match shape.flip {
                Some(flip) => format!(", a flipped bit in: {flip:?}"),
                None => String::new(),
            };
            lines.push(format!("{mark}{}{flipped}", summary(setup, &message)));
            if wrong {
                details(setup, &message, lines);
            }
        }
    }
}

fn summary(setup: &Setup, message: &Message) -> String {
    let mut text = format!(
        "{} {}",
        setup.spec(),
        if setup.is_forward() {
            "forward"
        } else {
            "reverse"
        },
    );
    if setup.ciphers() {
        let _infallible = write!(text, ", payload {} bytes", message.cipher_range().len());
    }
    if setup.authenticates() {
        let _infallible = write!(text, ", authenticates {} bytes", message.auth_range().len());
    }
    if let Some(reason) = message.refusal {
        let _infallible = write!(text, ", to be refused: {reason:?}");
    }
    text
}

fn details(setup: &Setup, message: &Message, lines: &mut Vec<String>) {
    let hex = |bytes: &[u8]| hex::encode(&bytes[..bytes.len().min(256)]);
    let part = |part: &Part| match part {
        Part::None => "none".to_owned(),
        Part::Inline(range) => format!("inline at {range:?}"),
        Part::Separate(bytes) => format!("separate, {} bytes: {}", bytes.len(), hex(bytes)),
    };
    let mut add = |name: &str, text: String| lines.push(format!("    {name:<16} {text}"));
    add("key", hex(&setup.key));
    if !setup.mac_key.is_empty() {
        add("MAC key", hex(&setup.mac_key));
    }
    if !setup.customization.is_empty() {
        add("customization", hex(&setup.customization));
    }
    if setup.iv_len > 0 || message.iv != Part::None {
        add("IV", part(&message.iv));
    }
    if message.aad != Part::None {
        add("additional data", part(&message.aad));
    }
    if setup.tag_len > 0 || message.tag != Part::None {
        add(
            "tag",
            format!("{} bytes, {}", setup.tag_len, part(&message.tag)),
        );
    }
    if setup.ciphers() {
        add("cipher range", format!("{:?}", message.cipher_range()));
    }
    if setup.authenticates() {
        add("auth range", format!("{:?}", message.auth_range()));
    }
    let placement = &message.placement;
    let cut = |cuts: &[usize]| match cuts {
        [] => "one slice".to_owned(),
        cuts if cuts.len() > 32 => format!("{} segments of {:?}…", cuts.len(), &cuts[..32]),
        cuts => format!("segments of {cuts:?}"),
    };
    let input = &message.input;
    add(
        "input",
        format!(
            "{} bytes, {}: {}",
            input.len(),
            cut(&placement.input_cuts),
            hex(input)
        ),
    );
    match &message.output {
        Output::InPlace => add("output", "in place".to_owned()),
        Output::ReadOnly => add("output", "none".to_owned()),
        Output::Separate(output) => add(
            "output",
            format!(
                "{} bytes, {}, payload at {}",
                output.len(),
                cut(&placement.output_cuts),
                message.payload_at()
            ),
        ),
    }
    add("memory", format!("{:?}", placement.edge));
}

/// The lines of `bytes` around the first difference from `other`, differing bytes marked.
fn dump(bytes: &[u8], other: &[u8]) -> String {
    let differs = |i: usize| bytes.get(i) != other.get(i);
    let first = (0..bytes.len().max(other.len()))
        .find(|&i| differs(i))
        .unwrap_or(0)
        / LINE;
    let mut text = String::new();
    for (number, line) in bytes.chunks(LINE).enumerate() {
        if number + AROUND < first || number > first + AROUND {
            continue;
        }
        let _infallible = write!(text, "  {:6}", number * LINE);
        for (i, byte) in line.iter().enumerate() {
            let mark = if differs(number * LINE + i) { '*' } else { ' ' };
            let _infallible = write!(text, " {byte:02x}{mark}");
        }
        text.push('\n');
    }
    text
}
