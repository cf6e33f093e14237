//! Scalar functions for [DataFusion](https://datafusion.apache.org) and what is built on it, such as
//! Comet: columns encrypted, decrypted and pseudonymised, a record batch in one call.
//!
//! A function holds its key, so that no query has one:
//!
//! ```no_run
//! # fn register(context: &datafusion::prelude::SessionContext, key: &[u8]) -> datafusion::error::Result<()> {
//! use lanelock::Aead;
//!
//! let device = lanelock::open().expect("an engine");
//! context.register_udf(lanelock_datafusion::encrypt("seal", &device, Aead::AesGcmSiv, key)?);
//! context.register_udf(lanelock_datafusion::decrypt("unseal", &device, Aead::AesGcmSiv, key)?);
//! # Ok(())
//! # }
//! ```
//!
//! Ciphertexts are nonce, text and tag, those of AES-SIV the synthetic IV and the text: the layout
//! `raw` of the Python package. Nulls stay null.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

use std::hash::{Hash, Hasher};
use std::iter;
use std::sync::Arc;

use datafusion_common::arrow::array::{Array, BinaryArray, cast::AsArray};
use datafusion_common::arrow::buffer::OffsetBuffer;
use datafusion_common::arrow::datatypes::DataType;
use datafusion_common::{DataFusionError, Result, exec_datafusion_err};
use datafusion_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use lanelock::{Aead, Buffer, Device, Mac, Op, Session, Status, Transform};

/// Operations that run together.
const BURST: usize = 256;
const TAG: usize = 16;

/// A function that encrypts a binary column under `key`: with random nonces, or deterministically
/// with AES-SIV, as joins need it.
///
/// # Errors
/// If `device` does not offer the algorithm, or not with a key of this length.
pub fn encrypt(name: &str, device: &Device, aead: Aead, key: &[u8]) -> Result<ScalarUDF> {
    Column::function(name, device, Transform::seal(aead, key), Work::Seal(aead))
}

/// A function that decrypts a column of [`encrypt`]; a row that is not authentic fails the query.
///
/// # Errors
/// As [`encrypt`].
pub fn decrypt(name: &str, device: &Device, aead: Aead, key: &[u8]) -> Result<ScalarUDF> {
    Column::function(name, device, Transform::open(aead, key), Work::Open(aead))
}

/// A function that gives each value its MAC of `length` bytes: a pseudonym.
///
/// # Errors
/// As [`encrypt`].
pub fn mac(name: &str, device: &Device, mac: Mac, key: &[u8], length: usize) -> Result<ScalarUDF> {
    let transform = Transform::compute(mac, key).tag_len(length);
    Column::function(name, device, transform, Work::Mac)
}

#[derive(Clone, Copy, Debug)]
enum Work {
    Seal(Aead),
    Open(Aead),
    Mac,
}

#[derive(Debug)]
struct Column {
    name: String,
    signature: Signature,
    device: Device,
    session: Session,
    work: Work,
}

impl Column {
    fn function(
        name: &str,
        device: &Device,
        transform: Transform,
        work: Work,
    ) -> Result<ScalarUDF> {
        let session = device.session(transform);
        let volatility = match work {
            Work::Seal(aead) if aead != Aead::AesSiv => Volatility::Volatile,
            _ => Volatility::Immutable,
        };
        Ok(ScalarUDF::new_from_impl(Self {
            name: name.to_owned(),
            signature: Signature::exact(vec![DataType::Binary], volatility),
            device: device.clone(),
            session: session.map_err(|error| DataFusionError::External(Box::new(error)))?,
            work,
        }))
    }

    /// Bytes of a ciphertext before its text, and after it.
    fn around(&self, aead: Aead) -> (usize, usize) {
        match aead {
            Aead::AesSiv => (TAG, 0),
            _ => (aead.default_iv_len(), TAG),
        }
    }

    /// The bytes of a result; `None` if the value is too short.
    fn room(&self, len: usize) -> Option<usize> {
        match self.work {
            Work::Mac => Some(self.session.tag_len()),
            Work::Seal(aead) => Some(len + self.around(aead).0 + self.around(aead).1),
            Work::Open(aead) => len.checked_sub(self.around(aead).0 + self.around(aead).1),
        }
    }

    /// The operation from a value to its slot. Nonces of what is sealed are in the slot already.
    fn op<'a>(&'a self, value: &'a [u8], slot: &'a mut [u8]) -> Op<'a> {
        let session = &self.session;
        match self.work {
            Work::Mac => Op::new(session, Buffer::read_only(value)).tag(slot),
            Work::Seal(aead) => {
                let (head, rest) = slot.split_at_mut(self.around(aead).0);
                let (text, tail) = rest.split_at_mut(value.len());
                let op = Op::new(session, Buffer::separate(value, text));
                match aead {
                    Aead::AesSiv => op.tag(head),
                    _ => op.iv(head).tag(tail),
                }
            }
            Work::Open(aead) => {
                let (head, rest) = value.split_at(self.around(aead).0);
                let (text, tail) = rest.split_at(slot.len());
                let op = Op::new(session, Buffer::separate(text, slot));
                match aead {
                    Aead::AesSiv => op.expected_tag(head),
                    _ => op.iv(head).expected_tag(tail),
                }
            }
        }
    }

    fn run(&self, values: &BinaryArray) -> Result<BinaryArray> {
        let room = |(row, value): (usize, Option<&[u8]>)| match value {
            None => Ok(0),
            Some(value) => self.room(value.len()).ok_or_else(|| {
                exec_datafusion_err!("{}: row {row}: the ciphertext is too short", self.name)
            }),
        };
        let rooms: Vec<usize> = values.iter().enumerate().map(room).collect::<Result<_>>()?;
        let offsets = OffsetBuffer::<i32>::from_lengths(rooms.iter().copied());
        let mut data = vec![0; rooms.iter().sum()];
        // Of the operating system's generator, a batch at a time.
        let nonce = match self.work {
            Work::Seal(aead) if aead != Aead::AesSiv => aead.default_iv_len(),
            _ => 0,
        };
        let mut nonces = vec![0; nonce * values.len()];
        getrandom::fill(&mut nonces).map_err(|error| exec_datafusion_err!("{error}"))?;
        let mut nonces = nonces.chunks_exact(nonce.max(1));

        let mut queue = self.device.queue_pair(BURST);
        let mut rest = &mut data[..];
        let mut rows = values.iter().zip(&rooms).enumerate().peekable();
        while rows.peek().is_some() {
            let (mut ops, mut numbers) = (Vec::with_capacity(BURST), Vec::with_capacity(BURST));
            for (row, (value, room)) in iter::from_fn(|| rows.next()).take(BURST) {
                let slot = rest.split_off_mut(..*room).unwrap_or_default();
                let Some(value) = value else { continue };
                if let Some(fresh) = nonces.next() {
                    slot[..nonce].copy_from_slice(fresh);
                }
                numbers.push(row);
                ops.push(self.op(value, slot));
            }
            if queue.process(&mut ops).failed > 0 {
                let mut failed = numbers.iter().zip(&ops);
                let failed = failed.find(|(_, op)| op.status() != Status::Success);
                let (row, op) = failed.expect("one that failed");
                let why = match op.error() {
                    Some(error) => error.to_string(),
                    None => "authentication failed".to_owned(),
                };
                return Err(exec_datafusion_err!("{}: row {row}: {why}", self.name));
            }
        }
        let nulls = values.nulls().cloned();
        Ok(BinaryArray::try_new(offsets, data.into(), nulls)?)
    }
}

impl ScalarUDFImpl for Column {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Binary)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let array = args.args[0].to_array(args.number_rows)?;
        Ok(ColumnarValue::Array(Arc::new(self.run(array.as_binary())?)))
    }
}

/// Functions are alike if they are one: their keys are not compared.
impl PartialEq for Column {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Column {}

impl Hash for Column {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}
