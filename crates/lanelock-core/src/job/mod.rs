//! An operation that owns its memory, for the queue pair's `enqueue` and `dequeue`.

mod queue;

use std::ops::Range;

pub(crate) use queue::JobQueue;

use crate::op::OpError;
use crate::session::Session;
use crate::status::Status;

/// Memory that a job can own: vectors, boxed slices, or a type of the application's.
///
/// ```
/// # use lanelock_core as lanelock;
/// # let device = lanelock_testkit::device();
/// use lanelock::{Hash, Job, QueuePair, Transform};
///
/// let session = device.session(Transform::hash(Hash::Sha256))?;
/// let mut queue_pair: QueuePair<Box<[u8]>> = device.queue_pair_of(8);
/// let message: Box<[u8]> = Box::from(*b"boxed");
/// assert_eq!(queue_pair.enqueue(&mut vec![Job::in_place(&session, message)]), 1);
/// # Ok::<(), lanelock::SessionError>(())
/// ```
pub trait OwnedBuffer: AsRef<[u8]> + AsMut<[u8]> + Send + 'static {}

impl<T: AsRef<[u8]> + AsMut<[u8]> + Send + 'static> OwnedBuffer for T {}

/// One message with the memory it needs, handed over by value and given back in every outcome.
///
/// Ranges and offsets mean what they mean in [`crate::Op`]. A job that came back can be changed
/// through its accessors and enqueued again after [`Job::rearm`], which allocates nothing.
///
/// ```
/// # use lanelock_core as lanelock;
/// # let device = lanelock_testkit::device();
/// use lanelock::{Aead, Job, Status, Transform};
///
/// let session = device.session(Transform::seal(Aead::AesGcm, &[7; 16]))?;
/// let mut queue_pair = device.queue_pair(8);
/// let mut jobs = vec![Job::in_place(&session, b"a message".to_vec()).iv(&[1; 12]).user_data(42)];
/// assert_eq!(queue_pair.enqueue(&mut jobs), 1);
/// let mut done = Vec::new();
/// queue_pair.dequeue(&mut done, 8);
/// let job = done.remove(0);
/// assert_eq!((job.status(), job.data()), (Status::Success, 42));
/// assert_eq!((job.input().to_vec().len(), job.tag().len()), (9, 16));
/// # Ok::<(), lanelock::SessionError>(())
/// ```
#[derive(Debug)]
pub struct Job<B: OwnedBuffer = Vec<u8>> {
    session: Session,
    input: JobBuffer<B>,
    output: Option<JobBuffer<B>>,
    layout: Layout,
    iv: Vec<u8>,
    aad: Vec<u8>,
    tag: Vec<u8>,
    user_data: u64,
    status: Status,
    error: Option<OpError>,
}

/// One buffer, or several that follow each other.
///
/// ```
/// # use lanelock_core as lanelock;
/// # let device = lanelock_testkit::device();
/// use lanelock::{Cipher, Job, JobBuffer, Transform};
///
/// let session = device.session(Transform::encrypt(Cipher::AesCtr, &[7; 16]))?;
/// let segments = JobBuffer::Segments(vec![b"head".to_vec(), b"body".to_vec()]);
/// let job = Job::in_place(&session, segments).iv(&[0; 16]);
/// assert_eq!(job.input().to_vec(), b"headbody");
/// # Ok::<(), lanelock::SessionError>(())
/// ```
#[derive(Debug)]
pub enum JobBuffer<B> {
    /// One run of bytes.
    One(B),
    /// Segments in order; empty ones are legal.
    Segments(Vec<B>),
}

/// Ranges of a job; `None` leaves the default.
#[derive(Clone, Debug, Default)]
struct Layout {
    cipher: Option<Range<usize>>,
    auth: Option<Range<usize>>,
    aad: Option<Range<usize>>,
    iv_at: Option<usize>,
    tag_at: Option<usize>,
    output_at: Option<usize>,
}

impl<B: OwnedBuffer> Job<B> {
    /// A job whose result replaces its input.
    #[must_use]
    pub fn in_place(session: &Session, data: impl Into<JobBuffer<B>>) -> Self {
        Self::new(session, data.into(), None)
    }

    /// A job with an output of its own.
    #[must_use]
    pub fn separate(
        session: &Session,
        input: impl Into<JobBuffer<B>>,
        output: impl Into<JobBuffer<B>>,
    ) -> Self {
        Self::new(session, input.into(), Some(output.into()))
    }

    fn new(session: &Session, input: JobBuffer<B>, output: Option<JobBuffer<B>>) -> Self {
        Self {
            session: session.clone(),
            input,
            output,
            layout: Layout::default(),
            iv: Vec::new(),
            aad: Vec::new(),
            tag: Vec::new(),
            user_data: 0,
            status: Status::NotProcessed,
            error: None,
        }
    }

    /// Copies the IV into the job.
    #[must_use]
    pub fn iv(mut self, iv: &[u8]) -> Self {
        self.set_iv(iv);
        self
    }

    /// The IV lies in the input from `offset`.
    #[must_use]
    pub fn iv_at(mut self, offset: usize) -> Self {
        self.layout.iv_at = Some(offset);
        self
    }

    /// Copies additional data into the job.
    #[must_use]
    pub fn aad(mut self, aad: &[u8]) -> Self {
        self.set_aad(aad);
        self
    }

    /// Additional data that lies in the input.
    #[must_use]
    pub fn aad_range(mut self, range: Range<usize>) -> Self {
        self.layout.aad = Some(range);
        self
    }

    /// The bytes that are encrypted or decrypted.
    #[must_use]
    pub fn cipher_range(mut self, range: Range<usize>) -> Self {
        self.layout.cipher = Some(range);
        self
    }

    /// The bytes that a MAC, hash or chain authenticates.
    #[must_use]
    pub fn auth_range(mut self, range: Range<usize>) -> Self {
        self.layout.auth = Some(range);
        self
    }

    /// Where the payload starts in a separate output.
    #[must_use]
    pub fn output_at(mut self, offset: usize) -> Self {
        self.layout.output_at = Some(offset);
        self
    }

    /// Copies the tag to compare into the job.
    #[must_use]
    pub fn expected_tag(mut self, tag: &[u8]) -> Self {
        self.set_tag(tag);
        self
    }

    /// The tag lies in the output (to compute) or in the input (to verify) from `offset`. Without
    /// it, and without [`Job::expected_tag`], a computed tag is kept in the job: [`Job::tag`].
    #[must_use]
    pub fn tag_at(mut self, offset: usize) -> Self {
        self.layout.tag_at = Some(offset);
        self
    }

    /// A number for the caller's own use, which stays with the job.
    #[must_use]
    pub fn user_data(mut self, data: u64) -> Self {
        self.user_data = data;
        self
    }

    /// Replaces the IV.
    pub fn set_iv(&mut self, iv: &[u8]) {
        self.iv.clear();
        self.iv.extend_from_slice(iv);
    }

    /// Replaces the additional data.
    pub fn set_aad(&mut self, aad: &[u8]) {
        self.aad.clear();
        self.aad.extend_from_slice(aad);
    }

    /// Replaces the tag to compare.
    pub fn set_tag(&mut self, tag: &[u8]) {
        self.tag.clear();
        self.tag.extend_from_slice(tag);
    }

    /// Makes a finished job ready to be enqueued again.
    pub fn rearm(&mut self) {
        self.status = Status::NotProcessed;
        self.error = None;
    }

    /// The number given with [`Job::user_data`].
    #[must_use]
    pub fn data(&self) -> u64 {
        self.user_data
    }

    /// The session.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The result of the job.
    #[must_use]
    pub fn status(&self) -> Status {
        self.status
    }

    /// Why the job was refused; `None` unless the status is [`Status::InvalidArgs`].
    #[must_use]
    pub fn error(&self) -> Option<&OpError> {
        self.error.as_ref()
    }

    /// The computed tag, or the one to compare.
    #[must_use]
    pub fn tag(&self) -> &[u8] {
        &self.tag
    }

    /// The input; the result too, if the job has no output of its own.
    #[must_use]
    pub fn input(&self) -> &JobBuffer<B> {
        &self.input
    }

    /// The input, to refill it.
    #[must_use]
    pub fn input_mut(&mut self) -> &mut JobBuffer<B> {
        &mut self.input
    }

    /// The separate output.
    #[must_use]
    pub fn output(&self) -> Option<&JobBuffer<B>> {
        self.output.as_ref()
    }

    /// The separate output, to read or reuse.
    #[must_use]
    pub fn output_mut(&mut self) -> Option<&mut JobBuffer<B>> {
        self.output.as_mut()
    }

    /// Gives the buffers back: input and separate output.
    #[must_use]
    pub fn into_buffers(self) -> (JobBuffer<B>, Option<JobBuffer<B>>) {
        (self.input, self.output)
    }
}

impl<B: OwnedBuffer> JobBuffer<B> {
    /// The bytes in one run; a copy if there are several segments.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u8> {
        self.parts()
            .flat_map(|part| part.as_ref().iter().copied())
            .collect()
    }

    fn parts(&self) -> impl Iterator<Item = &B> {
        match self {
            Self::One(data) => std::slice::from_ref(data).iter(),
            Self::Segments(list) => list.iter(),
        }
    }
}

impl<B: OwnedBuffer> From<B> for JobBuffer<B> {
    fn from(data: B) -> Self {
        Self::One(data)
    }
}
