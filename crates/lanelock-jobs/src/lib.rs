//! Every symmetric kernel, described once for all that run it: the tests, the taint check and the
//! bench `kernels`.
//!
//! A [`Row`] says which messages its kernel takes, how a burst of them becomes jobs, and what its
//! [`reference`](mod@reference) makes of one. `tests` has the test of each row on every tier, and what
//! else is said of kernels through their entry points: programs that link `lanelock-kernels` and this table as
//! they are built once, where unit tests would compile every kernel anew.

use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;

use lanelock_kernels::Machine;

mod aead;
mod aes;
mod chacha;
mod hash;
mod interleave;
mod keccak;
pub mod reference;
pub mod testing;

/// A kernel.
pub struct Row {
    name: String,
    /// The number in a name, from the length of a key.
    number: fn(usize) -> usize,
    /// Lengths of keys in bytes; 0 alone for a kernel without keys.
    pub keys: Vec<usize>,
    /// Whether the keys of a burst may differ in length.
    pub mixes_keys: bool,
    /// Messages have multiples of so many bytes.
    pub unit: usize,
    /// Messages have at least so many bytes.
    pub least: usize,
    /// Lengths of IVs in bytes, the usual one first.
    pub ivs: Vec<usize>,
    /// Lengths of tags in bytes, the usual one first; none for a kernel without.
    pub tags: Vec<usize>,
    /// Whether messages have additional data.
    pub has_aad: bool,
    /// Whether it writes a text; if not, it only reads.
    pub writes: bool,
    /// Whether it compares tags: then that of a message has to be right, and the text of one that is
    /// not stays or becomes zeros.
    pub verifies: bool,
    /// Tags are as secret as the text from this length of it on.
    pub secret_from: usize,
    /// What it runs on.
    pub registers: Registers,
    /// Whether it runs in another way on a CPU of another pace ([`Machine::paces`]): a chain, whose lanes
    /// under many keys depend on it, or one that multiplies blocks.
    pub has_paces: bool,
    prepare: Prepare,
    reference: Reference,
}

type Prepare = Box<dyn Fn(Machine, &Burst<'_>, Then<'_>)>;
type Reference = Box<dyn Fn(&[u8], &Given<'_>, &mut [u8]) -> Vec<u8>>;
type Then<'t> = &'t mut dyn FnMut(&mut dyn Run);

/// The part of a machine that a kernel runs on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Registers {
    /// Registers of AES blocks.
    Blocks,
    /// Registers of words.
    Words,
    /// Registers of words, or the SHA extensions.
    WordsOrSha,
    /// The SHA extensions alone, beside those of AES.
    Sha,
}

impl Row {
    /// One that takes and writes any text, with an IV of a block and no tag.
    fn new(
        name: impl Into<String>,
        registers: Registers,
        prepare: impl Fn(Machine, &Burst<'_>, Then<'_>) + 'static,
        reference: impl Fn(&[u8], &Given<'_>, &mut [u8]) -> Vec<u8> + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            number: |bytes| bytes,
            keys: vec![0],
            mixes_keys: false,
            unit: 1,
            least: 0,
            ivs: vec![16],
            tags: Vec::new(),
            has_aad: false,
            writes: true,
            verifies: false,
            secret_from: 0,
            registers,
            has_paces: false,
            prepare: Box::new(prepare),
            reference: Box::new(reference),
        }
    }

    /// Its name with keys of so many bytes.
    pub fn name(&self, key: usize) -> String {
        self.name.replace('*', &(self.number)(key).to_string())
    }

    /// The closest length of a message below `len`, or the shortest.
    pub fn fit(&self, len: usize) -> usize {
        (len / self.unit * self.unit).max(self.least)
    }

    /// Whether `machine` has a kernel for it.
    pub fn runs_on(&self, machine: Machine) -> bool {
        self.registers != Registers::Sha || machine.has_sha()
    }

    /// Prepares the keys of `burst` and hands `then` what runs its messages.
    #[expect(
        clippy::missing_panics_doc,
        reason = "each row calls what it is handed"
    )]
    pub fn prepare<T>(
        &self,
        machine: Machine,
        burst: &Burst<'_>,
        then: impl FnOnce(&mut dyn Run) -> T,
    ) -> T {
        let (mut then, mut result) = (Some(then), None);
        (self.prepare)(machine, burst, &mut |run| {
            result = then.take().map(|then| then(run));
        });
        result.expect("a row hands over what it has prepared")
    }

    /// What the reference makes of one message: turns its text in place, returns its tag.
    pub fn reference(&self, key: &[u8], given: &Given<'_>, text: &mut [u8]) -> Vec<u8> {
        (self.reference)(key, given, text)
    }
}

impl fmt::Debug for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// Messages that run together, and their keys.
#[derive(Debug)]
pub struct Burst<'m> {
    /// Each of a length of the row.
    pub keys: &'m [Vec<u8>],
    /// Any number.
    pub messages: Vec<Message<'m>>,
}

/// A text in memory, and what is given with it.
#[derive(Debug)]
pub struct Message<'m> {
    /// Valid for reads of `len` bytes.
    source: *const u8,
    /// Valid for writes of `len` bytes, which no other message has; `source`, or disjoint from it.
    target: *mut u8,
    len: usize,
    given: Given<'m>,
    /// Where a kernel writes the tag, if it takes a place for it.
    place: Box<[Cell<u8>]>,
    /// Keeps both borrowed.
    memory: PhantomData<&'m mut [u8]>,
}

/// What is given with a text.
#[derive(Clone, Copy, Debug)]
pub struct Given<'m> {
    /// Which of the burst's keys.
    pub key: usize,
    /// Of a length of the row.
    pub iv: &'m [u8],
    /// Empty if the row has none.
    pub aad: &'m [u8],
    /// As long as the tag is to be. A kernel that verifies compares with it, AES-SIV and
    /// AES-GCM-SIV decrypt under it.
    pub tag: &'m [u8],
}

impl<'m> Message<'m> {
    /// A text that is turned where it lies.
    pub fn in_place(text: &'m mut [u8], given: Given<'m>) -> Self {
        let target = text.as_mut_ptr();
        Self::new(target, target, text.len(), given)
    }

    /// A text that is written to other memory.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn apart(source: &'m [u8], target: &'m mut [u8], given: Given<'m>) -> Self {
        assert_eq!(source.len(), target.len(), "as much room as text");
        Self::new(source.as_ptr(), target.as_mut_ptr(), source.len(), given)
    }

    fn new(source: *const u8, target: *mut u8, len: usize, given: Given<'m>) -> Self {
        Self {
            source,
            target,
            len,
            given,
            place: vec![Cell::new(0); given.tag.len()].into(),
            memory: PhantomData,
        }
    }

    /// The text.
    fn source(&self) -> &[u8] {
        // SAFETY: borrowed for `'m`; kernels write to it only while a burst runs, when nobody
        // holds what this returned.
        unsafe { core::slice::from_raw_parts(self.source, self.len) }
    }

    /// As long as the tag.
    ///
    /// # Safety
    /// What was returned before is not used any more, and [`Message::placed`] does not run while
    /// this is used.
    #[expect(clippy::mut_from_ref)] // see its contract
    unsafe fn place(&self) -> &mut [u8] {
        let place: *const Cell<u8> = self.place.as_ptr();
        // SAFETY: cells, which may be written to; the caller does not use them twice.
        unsafe { core::slice::from_raw_parts_mut(place.cast_mut().cast(), self.place.len()) }
    }

    /// What a kernel wrote to the place.
    fn placed(&self) -> Vec<u8> {
        self.place.iter().map(Cell::get).collect()
    }
}

impl Given<'_> {
    /// The IV, in a kernel with IVs of one length.
    fn iv<const N: usize>(&self) -> [u8; N] {
        self.iv.try_into().expect("an IV of a length of the row")
    }

    /// The tag, in a kernel with tags of one length.
    fn tag<const N: usize>(&self) -> [u8; N] {
        self.tag.try_into().expect("a tag of a length of the row")
    }
}

/// A burst with its keys prepared.
pub trait Run {
    /// Makes the jobs and runs them, each time from the beginning.
    fn run(&mut self);

    /// What the last run left of each message besides its text: the tag, the digest, the IV for the
    /// next part. Empty where a tag was refused, and in a kernel without.
    fn tags(&self) -> Vec<Vec<u8>>;
}

impl<'m> Burst<'m> {
    fn keys<K>(&self, prepare: impl Fn(&[u8]) -> K) -> Vec<K> {
        self.keys.iter().map(|key| prepare(key)).collect()
    }

    /// Hands `then` what makes a job of each message with `job` and runs them with `many`.
    fn each_time<'b, J>(
        &'b self,
        then: Then<'_>,
        job: impl Fn(&'b Message<'m>) -> J,
        many: impl Fn(&mut [J]),
        tag: impl Fn(&'b Message<'m>, &J) -> Vec<u8>,
    ) {
        then(&mut Prepared {
            messages: &self.messages,
            jobs: Vec::with_capacity(self.messages.len()),
            job,
            many,
            tag,
        });
    }
}

struct Prepared<'b, 'm, J, M, R, T> {
    messages: &'b [Message<'m>],
    jobs: Vec<J>,
    job: M,
    many: R,
    tag: T,
}

impl<'b, 'm, J, M, R, T> Run for Prepared<'b, 'm, J, M, R, T>
where
    M: Fn(&'b Message<'m>) -> J,
    R: Fn(&mut [J]),
    T: Fn(&'b Message<'m>, &J) -> Vec<u8>,
{
    fn run(&mut self) {
        self.jobs.clear();
        self.jobs.extend(self.messages.iter().map(&self.job));
        (self.many)(&mut self.jobs);
    }

    fn tags(&self) -> Vec<Vec<u8>> {
        let pairs = self.messages.iter().zip(&self.jobs);
        pairs
            .map(|(message, job)| (self.tag)(message, job))
            .collect()
    }
}

/// Every row.
pub fn rows() -> Vec<Row> {
    let families = [
        aes::rows(),
        aead::rows(),
        hash::rows(),
        keccak::rows(),
        chacha::rows(),
        interleave::rows(),
    ];
    families.into_iter().flatten().collect()
}

/// The rows of a file, each by an expression or a function of its name.
macro_rules! table {
    ($($name:ident $(: $row:expr)?,)*) => {
        $($(fn $name() -> $crate::Row { $row })?)*

        /// The rows of this file.
        pub(super) fn rows() -> Vec<$crate::Row> {
            vec![$($name()),*]
        }
    };
}
use table;
