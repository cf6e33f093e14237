//! One operation of a public key, and what an engine makes of it.

use std::fmt;

use lanelock_core::Status;
use lanelock_public_key::{KeyOp, KeyParts, KeyQueue, KeySession, KeyTransform};

/// An operation: its session and what it reads.
pub struct KeyMessage {
    pub(super) transform: KeyTransform,
    pub(super) input: Vec<u8>,
    pub(super) signature: Vec<u8>,
}

/// What came of an operation.
#[derive(Debug)]
pub(super) struct Observed {
    pub(super) status: Status,
    pub(super) output: Vec<u8>,
    pub(super) second: Vec<u8>,
    /// Why it did not succeed.
    pub(super) why: Option<String>,
}

impl KeyMessage {
    pub(super) fn new(transform: KeyTransform, input: Vec<u8>) -> Self {
        Self {
            transform,
            input,
            signature: Vec::new(),
        }
    }

    /// What its session is made from.
    #[must_use]
    pub fn transform(&self) -> &KeyTransform {
        &self.transform
    }

    /// Room for its output and its second output.
    #[must_use]
    pub fn room(&self, session: &KeySession) -> (Vec<u8>, Vec<u8>) {
        let output = vec![0xee; session.output_len(self.input.len())];
        (output, vec![0xee; session.second_output_len()])
    }

    /// The operation.
    #[must_use]
    pub fn op<'a>(
        &'a self,
        session: &'a KeySession,
        output: &'a mut [u8],
        second: &'a mut [u8],
    ) -> KeyOp<'a> {
        let parts = KeyParts {
            input: &self.input,
            signature: &self.signature,
            output,
            second,
        };
        KeyOp::of(session, parts)
    }
}

impl fmt::Debug for KeyMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spec = self.transform.spec().to_string();
        f.debug_tuple("KeyMessage").field(&spec).finish()
    }
}

impl Observed {
    /// Status and both outputs: the same on every engine.
    pub(super) fn result(&self) -> (Status, &[u8], &[u8]) {
        (self.status, &self.output, &self.second)
    }
}

/// Runs `burst` as one burst.
pub(super) fn process(queue: &mut KeyQueue, burst: &[(&KeyMessage, &KeySession)]) -> Vec<Observed> {
    let rooms = burst.iter().map(|(message, session)| message.room(session));
    let mut rooms: Vec<_> = rooms.collect();
    let mut ops: Vec<_> = burst
        .iter()
        .zip(&mut rooms)
        .map(|((message, session), (output, second))| message.op(session, output, second))
        .collect();
    let _each_is_looked_at = queue.process(&mut ops);
    let results: Vec<_> = ops
        .iter()
        .map(|op| {
            let why = op.error().map(|error| error.to_string());
            (op.status(), op.written(), op.second_written(), why)
        })
        .collect();
    drop(ops);
    let results = results.into_iter().zip(rooms);
    results
        .map(
            |((status, written, more, why), (output, second))| Observed {
                status,
                output: output[..written].to_vec(),
                second: second[..more].to_vec(),
                why,
            },
        )
        .collect()
}
