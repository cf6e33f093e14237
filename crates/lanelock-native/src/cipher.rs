//! Ciphers: from the payloads of a batch to one kernel call.

#![allow(unsafe_code)] // hands the memory of a batch's operations to the kernels

use std::iter;

use arrayvec::ArrayVec;
use lanelock_core::Status;
use lanelock_core::algorithm::MAX_IV_LEN;
use lanelock_core::cursor::Cursor;
use lanelock_core::engine::{
    Batch, Columns, EngineSession, Fed, FedPayload, Feed, LastSession, Lone, Ops, PlainPayloads,
    QueueToken, ValidOp,
};
use lanelock_core::session::SessionMemory;
use lanelock_kernels::aes::{self, BLOCK, Records};

use crate::burst::{BURST, Mapped, Text, append, memory, session_of};
use crate::group::Group;

/// A cipher, keyed for one direction.
pub(crate) trait Cipher: Send + Sync + 'static {
    /// Runs messages in one piece.
    ///
    /// # Safety
    /// The ciphers of the messages are of one group, and so is this. IVs and texts are valid from
    /// when a message is yielded until this returns. Each target is its own source or disjoint from
    /// it, and disjoint from what other messages read or write.
    unsafe fn run<'k>(&self, messages: impl Messages<'k, Self>)
    where
        Self: Sized;

    /// Which bursts of messages in one piece [`Cipher::run_fed`] is to run, faster than [`Cipher::run`].
    fn fed(&self) -> Fed {
        Fed::NONE
    }

    /// Runs each message in one piece when it is yielded. The first is expected to have `len` bytes, the others as
    /// many or more.
    ///
    /// # Safety
    /// As for [`Cipher::run`].
    unsafe fn run_fed<'k>(&self, _len: u32, _messages: impl Iterator<Item = Message<'k, Self>>)
    where
        Self: Sized,
    {
        unreachable!("a cipher that says it is fed");
    }

    /// Runs a message in one piece that is alone, which `message` makes, each time that it is asked to.
    ///
    /// # Safety
    /// As for [`Cipher::run`].
    #[inline(always)]
    unsafe fn run_lone<'k>(&self, mut message: impl FnMut() -> Message<'k, Self>)
    where
        Self: Sized,
    {
        // SAFETY: the caller's promise.
        unsafe { self.run(Alone(message())) };
    }

    /// Runs a message in pieces by itself. `iv` is as long as the session demands. A cipher has this or
    /// [`Cipher::run_scattered`].
    fn run_pieces(&self, iv: &[u8], payload: Cursor<'_>)
    where
        Self: Sized,
    {
        self.run_scattered(iter::once(Scattered::new(self, iv, payload)));
    }

    /// Runs at most [`BURST`] messages in pieces. Their ciphers are of one group, and so is this.
    fn run_scattered<'k>(&self, messages: impl Iterator<Item = Scattered<'k, Self>>)
    where
        Self: Sized,
    {
        for message in messages {
            message.cipher.run_pieces(&message.iv, message.payload);
        }
    }
}

/// How a [`Cipher`] with a `key` runs messages in one piece whose blocks are independent: by a kernel that
/// reads them in records, by one that takes them one by one, or by one for a message that is alone.
macro_rules! independent {
    ($records:ident, $fed:ident, $lone:ident) => {
        #[inline(always)]
        unsafe fn run<'k>(&self, messages: impl $crate::cipher::Messages<'k, Self>) {
            messages.in_records(
                |cipher| &cipher.key,
                // SAFETY: the caller's promises are the kernel's; keys of one group have one size, and
                // validation has seen to whole blocks and an IV of one where there are to be.
                |records| unsafe { $records(self.machine, self.key.size(), records) },
            );
        }

        fn fed(&self) -> lanelock_core::engine::Fed {
            $crate::burst::fed_blocks_on(self.machine)
        }

        #[inline(always)]
        unsafe fn run_fed<'k>(
            &self,
            len: u32,
            messages: impl Iterator<Item = $crate::cipher::Message<'k, Self>>,
        ) {
            let messages = $crate::burst::Mapped::new(messages, |message| {
                message.keyed(|cipher: &Self| &cipher.key)
            });
            // SAFETY: as in `run`.
            unsafe { $fed(self.machine, self.key.size(), len, messages) };
        }

        #[inline(always)]
        unsafe fn run_lone<'k>(
            &self,
            mut message: impl FnMut() -> $crate::cipher::Message<'k, Self>,
        ) {
            let message = || message().keyed(|cipher: &Self| &cipher.key);
            // SAFETY: as in `run`.
            unsafe { $lone(self.machine, self.key.size(), message) };
        }
    };
}
pub(crate) use independent;

/// A message in pieces.
pub(crate) struct Scattered<'k, C> {
    pub(crate) cipher: &'k C,
    /// As long as the session demands.
    pub(crate) iv: ArrayVec<u8, BLOCK>,
    pub(crate) payload: Cursor<'k>,
}

impl<'k, C> Scattered<'k, C> {
    /// # Panics
    /// If the IV is longer than a block.
    pub(crate) fn new(cipher: &'k C, iv: &[u8], payload: Cursor<'k>) -> Self {
        Self {
            cipher,
            iv: iv.try_into().expect("an IV of one block at most"),
            payload,
        }
    }
}

/// A message in one piece, without the borrow of its operation.
pub(crate) struct Message<'k, C> {
    pub(crate) cipher: &'k C,
    /// Not valid for a cipher without one; all others have an IV of one block.
    pub(crate) iv: *const [u8; BLOCK],
    pub(crate) text: Text,
}

impl<'k, C> Message<'k, C> {
    /// As the kernels of AES take it.
    #[inline(always)]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "core bounds operations by 4 GiB"
    )]
    pub(crate) fn keyed<K>(self, key: impl Fn(&'k C) -> &'k K) -> aes::Message<'k, K> {
        aes::Message {
            source: self.text.source,
            target: self.text.target,
            len: self.text.len as u32,
            key: key(self.cipher),
            iv: self.iv,
        }
    }
}

/// At most [`BURST`] messages in one piece.
pub(crate) trait Messages<'k, C: 'k>: Sized {
    /// One by one.
    fn each(self) -> impl Iterator<Item = Message<'k, C>>;

    /// In records, for a kernel that reads each field where it lies.
    #[inline(always)]
    fn in_records<K: 'k>(self, key: impl Fn(&'k C) -> &'k K, run: impl FnOnce(&Records<'k, K>)) {
        let mut written = ArrayVec::<_, BURST>::new();
        for message in self.each() {
            written.push(message.keyed(&key));
        }
        if let Some(records) = Records::of(&written) {
            run(&records);
        }
    }
}

/// A message in one piece.
struct Alone<'k, C>(Message<'k, C>);

impl<'k, C> Messages<'k, C> for Alone<'k, C> {
    #[inline(always)]
    fn each(self) -> impl Iterator<Item = Message<'k, C>> {
        iter::once(self.0)
    }

    #[inline(always)]
    fn in_records<K: 'k>(self, key: impl Fn(&'k C) -> &'k K, run: impl FnOnce(&Records<'k, K>)) {
        let message = [self.0.keyed(key)];
        if let Some(records) = Records::of(&message) {
            run(&records);
        }
    }
}

/// The messages of plain operations, where they lie.
struct PlainMessages<'b, 'k, C> {
    columns: Columns<'b>,
    /// The only one, or one for each message.
    ciphers: &'b [&'k C],
}

impl<'k, C> Messages<'k, C> for PlainMessages<'_, 'k, C> {
    #[inline(always)]
    fn each(self) -> impl Iterator<Item = Message<'k, C>> {
        let each = usize::from(self.ciphers.len() > 1);
        Mapped::new(0..self.columns.count, move |i| {
            let at = i * self.columns.stride;
            // SAFETY: there are as many operations, with these fields.
            unsafe {
                Message {
                    cipher: self.ciphers[i * each],
                    iv: self.columns.iv.byte_add(at).read().cast(),
                    text: Text {
                        source: self.columns.source.byte_add(at).read(),
                        target: self.columns.target.byte_add(at).read(),
                        len: self.columns.len.byte_add(at).read() as usize,
                    },
                }
            }
        })
    }

    #[inline(always)]
    fn in_records<K: 'k>(self, key: impl Fn(&'k C) -> &'k K, run: impl FnOnce(&Records<'k, K>)) {
        let Columns {
            source,
            target,
            len,
            iv,
            stride,
            count,
            ..
        } = self.columns;
        let records = |key: *const &'k K, key_stride| Records {
            source,
            target,
            len,
            iv: iv.cast(),
            key,
            stride,
            key_stride,
            count,
        };
        if let &[cipher] = self.ciphers {
            return run(&records(&key(cipher), 0));
        }
        let mut keys = ArrayVec::<&'k K, BURST>::new();
        append(
            &mut keys,
            Mapped::new(self.ciphers.iter(), |cipher| key(cipher)),
        );
        run(&records(keys.as_ptr(), size_of::<&K>()));
    }
}

/// The messages of any operations that are in one piece.
struct AnyMessages<'b, 'a, S, F> {
    ops: Ops<'b, 'a>,
    /// Operations met so far.
    number: u32,
    /// Which of them were others: a bit each.
    scattered: &'b mut u64,
    cipher: F,
    last: LastSession<'a, S>,
}

impl<'a, S, C, F> Messages<'a, C> for AnyMessages<'_, 'a, S, F>
where
    S: EngineSession,
    C: Cipher,
    F: Fn(&'a S) -> &'a C,
{
    #[inline(always)]
    fn each(self) -> impl Iterator<Item = Message<'a, C>> {
        self
    }
}

impl<'a, S, C, F> Iterator for AnyMessages<'_, 'a, S, F>
where
    S: EngineSession,
    C: Cipher,
    F: Fn(&'a S) -> &'a C,
{
    type Item = Message<'a, C>;

    #[inline(always)]
    fn next(&mut self) -> Option<Message<'a, C>> {
        loop {
            let mut op = self.ops.next()?;
            let cipher = (self.cipher)(session_of(&op, &mut self.last));
            let text = op.whole_payload().map(Text::from);
            self.number += 1;
            match (text, op.whole_iv()) {
                (Some(text), Some(iv)) => {
                    return Some(Message {
                        cipher,
                        iv: iv.as_ptr().cast(),
                        text,
                    });
                }
                _ => *self.scattered |= 1 << (self.number - 1),
            }
        }
    }
}

/// Runs those of at most [`BURST`] operations that [`AnyMessages`] leaves out, a bit each.
#[inline(never)]
fn run_scattered<'a, S: EngineSession, C: Cipher>(
    any: &C,
    batch: &mut Batch<'_, 'a>,
    scattered: u64,
    cipher: impl Fn(&'a S) -> &'a C,
) {
    let mut last = LastSession::default();
    let mut ops = ArrayVec::<_, BURST>::new();
    for (number, op) in batch.all().enumerate() {
        if (scattered >> number) & 1 != 0 {
            ops.push((cipher(session_of(&op, &mut last)), op));
        }
    }
    any.run_scattered(ops.iter_mut().map(|&mut (cipher, ref mut op)| Scattered {
        cipher,
        iv: iv_of(op),
        payload: op.payload(),
    }));
}

/// A copy of the IV, for an operation whose payload is borrowed beside it.
pub(crate) fn iv_of(op: &ValidOp<'_, '_>) -> ArrayVec<u8, BLOCK> {
    let mut scratch = [0; MAX_IV_LEN];
    let iv = op.iv(&mut scratch);
    iv.try_into().expect("an IV of one block at most")
}

/// Runs the payloads of at most [`BURST`] operations. `any` is a cipher of their group.
#[inline]
pub(crate) fn run_payloads<'a, S: EngineSession, C: Cipher>(
    any: &C,
    batch: &mut Batch<'_, 'a>,
    cipher: impl Fn(&'a S) -> &'a C,
) {
    match batch.plain() {
        Some(mut plain) => run_plain(any, plain.payloads(), cipher),
        None => run_any(any, batch, cipher),
    }
}

/// [`run_payloads`], for operations that are plain.
#[inline(always)]
fn run_plain<'a, S: EngineSession, C: Cipher>(
    any: &C,
    payloads: PlainPayloads<'_, 'a, S>,
    cipher: impl Fn(&'a S) -> &'a C,
) {
    let one = payloads.is_of_one_session();
    let first = payloads.sessions().next();
    match first.filter(|_| one) {
        Some(session) => run_columns(any, &[cipher(session)], payloads.columns()),
        None => run_many(any, payloads, cipher),
    }
}

/// [`run_plain`], for operations of several sessions. On its own: what runs a single operation keeps
/// its few values in registers.
#[inline(never)]
fn run_many<'a, S: EngineSession, C: Cipher>(
    any: &C,
    payloads: PlainPayloads<'_, 'a, S>,
    cipher: impl Fn(&'a S) -> &'a C,
) {
    let mut ciphers = ArrayVec::<&C, BURST>::new();
    append(&mut ciphers, Mapped::new(payloads.sessions(), &cipher));
    run_columns(any, &ciphers, payloads.columns());
}

/// Runs plain payloads, of one cipher or each of its own.
#[inline(always)]
fn run_columns<C: Cipher>(any: &C, ciphers: &[&C], columns: Columns<'_>) {
    let messages = PlainMessages { columns, ciphers };
    // SAFETY: as in `run_any`.
    unsafe { any.run(messages) };
}

/// [`run_payloads`], for operations that may be of any form.
#[inline(never)]
fn run_any<'a, S: EngineSession, C: Cipher>(
    any: &C,
    batch: &mut Batch<'_, 'a>,
    cipher: impl Fn(&'a S) -> &'a C,
) {
    let mut scattered = 0;
    let messages = AnyMessages {
        ops: batch.ops(),
        number: 0,
        scattered: &mut scattered,
        cipher: &cipher,
        last: LastSession::default(),
    };
    // SAFETY: the memory of IVs and texts is the operations' for as long as the batch is borrowed,
    // and no reference to it was kept. Input and output of a text are alike or disjoint; outputs of
    // different operations are disjoint from each other and from what is read, as they were
    // borrowed exclusively (or promised to be, where raw pointers were given). A batch is of one
    // group.
    unsafe { any.run(messages) };
    if scattered != 0 {
        run_scattered(any, batch, scattered, cipher);
    }
}

/// The session of a cipher.
pub(crate) struct CipherSession<C> {
    cipher: C,
    group: Group,
}

impl<C: Cipher> CipherSession<C> {
    pub(crate) fn boxed(group: Group, cipher: C) -> Box<dyn EngineSession> {
        Box::new(Self { cipher, group })
    }

    #[inline]
    fn cipher(&self) -> &C {
        &self.cipher
    }

    #[inline(always)]
    fn message(payload: FedPayload<'_, Self>) -> Message<'_, C> {
        Message {
            cipher: &payload.session.cipher,
            iv: payload.iv.cast(),
            text: Text {
                source: payload.source,
                target: payload.target,
                len: payload.len as usize,
            },
        }
    }
}

impl<C: Cipher> EngineSession for CipherSession<C> {
    fn group(&self) -> u16 {
        self.group.number()
    }

    fn process(&self, _: &mut QueueToken, batch: &mut Batch<'_, '_>) {
        batch.for_each_stretch(BURST, |batch| {
            run_payloads(&self.cipher, batch, Self::cipher);
            batch.complete(Status::Success);
        });
    }

    fn fed(&self) -> Fed {
        self.cipher.fed()
    }

    fn feed(&self, feed: &mut Feed<'_, '_>) {
        let len = feed.first_len();
        let messages = Mapped::new(feed.payloads::<Self>(), Self::message);
        // SAFETY: as in `run_any`: the operations are borrowed for as long as the feed is.
        unsafe { self.cipher.run_fed(len, messages) };
    }

    fn process_lone(&self, _: &mut QueueToken, mut op: Lone<'_, '_>) -> Status {
        // SAFETY: as in `run_any`, of one operation.
        unsafe { self.cipher.run_lone(|| Self::message(op.payload(self))) };
        Status::Success
    }

    fn memory(&self) -> SessionMemory {
        memory::<Self>()
    }
}
