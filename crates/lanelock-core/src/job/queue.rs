//! The bounded queue behind `enqueue` and `dequeue`: jobs wait until the caller asks for results,
//! and then run together, so that a burst gathered job by job still fills an engine's lanes.

use std::collections::VecDeque;
use std::io::IoSliceMut;

use smallvec::SmallVec;

use super::{Job, JobBuffer, Layout, OwnedBuffer};
use crate::buffer::{Buffer, Sink};
use crate::burst::Burst;
use crate::op::{Op, OpError};
use crate::session::Session;
use crate::status::Status;
use crate::transform::Direction;

/// Jobs run together.
const BURST: usize = 64;

/// Segments of a burst that need no allocation.
const SEGMENTS: usize = 256;

/// Jobs in the order of their arrival, the finished ones in front.
#[derive(Debug)]
pub(crate) struct JobQueue<B: OwnedBuffer> {
    jobs: VecDeque<Job<B>>,
    finished: usize,
    depth: usize,
}

impl<B: OwnedBuffer> JobQueue<B> {
    pub(crate) fn new(depth: usize) -> Self {
        Self {
            jobs: VecDeque::with_capacity(depth),
            finished: 0,
            depth,
        }
    }

    pub(crate) fn enqueue(&mut self, jobs: &mut Vec<Job<B>>) -> usize {
        let room = (self.depth - self.jobs.len()).min(jobs.len());
        self.jobs.extend(jobs.drain(..room));
        room
    }

    pub(crate) fn dequeue(
        &mut self,
        lane: &mut Burst,
        done: &mut Vec<Job<B>>,
        limit: usize,
    ) -> usize {
        let count = limit.min(self.jobs.len());
        if count > self.finished {
            let (front, back) = self.jobs.as_mut_slices();
            let skip = self.finished.min(front.len());
            run(lane, &mut front[skip..]);
            run(lane, &mut back[self.finished - skip..]);
            self.finished = self.jobs.len();
        }
        self.finished -= count;
        done.extend(self.jobs.drain(..count));
        count
    }

    pub(crate) fn len(&self) -> usize {
        self.jobs.len()
    }

    pub(crate) fn depth(&self) -> usize {
        self.depth
    }
}

/// Runs `jobs` in bursts of up to [`BURST`].
fn run<B: OwnedBuffer>(lane: &mut Burst, jobs: &mut [Job<B>]) {
    for burst in jobs.chunks_mut(BURST) {
        let results = run_burst(lane, burst);
        for (job, (status, error)) in burst.iter_mut().zip(results) {
            if job.status != status {
                (job.status, job.error) = (status, error);
            }
        }
    }
}

type Results = SmallVec<[(Status, Option<OpError>); BURST]>;

fn run_burst<B: OwnedBuffer>(lane: &mut Burst, jobs: &mut [Job<B>]) -> Results {
    let mut list = SmallVec::<[IoSliceMut<'_>; SEGMENTS]>::new();
    let parts: SmallVec<[Parts<'_>; BURST]> = jobs
        .iter_mut()
        .map(|job| Parts::split(job, &mut list))
        .collect();
    let mut rest = &mut list[..];
    let mut ops: SmallVec<[Op<'_>; BURST]> =
        parts.into_iter().map(|part| part.op(&mut rest)).collect();
    let _each_job_has_its_own_status = lane.process(&mut ops);
    ops.iter().map(|op| (op.status(), op.error())).collect()
}

/// A job taken apart, so that its op can borrow each part.
struct Parts<'j> {
    session: &'j Session,
    input: Memory<'j>,
    output: Option<Memory<'j>>,
    layout: &'j Layout,
    iv: &'j [u8],
    aad: &'j [u8],
    tag: &'j mut [u8],
    status: Status,
}

/// One slice, or a number of entries of the burst's segment list.
enum Memory<'j> {
    One(&'j mut [u8]),
    Listed(usize),
}

impl<'j> Parts<'j> {
    fn split<B: OwnedBuffer>(
        job: &'j mut Job<B>,
        list: &mut SmallVec<[IoSliceMut<'j>; SEGMENTS]>,
    ) -> Self {
        let tag_len = job.session.tag_len();
        if job.session.direction() == Direction::Forward {
            job.tag.resize(
                if job.layout.tag_at.is_some() {
                    0
                } else {
                    tag_len
                },
                0,
            );
        }
        let status = job.status;
        if status == Status::NotProcessed {
            // What stays if the engine panics: a job that may have been encrypted is not run again.
            job.status = Status::EngineError;
        }
        Self {
            session: &job.session,
            input: Memory::new(&mut job.input, list),
            output: job.output.as_mut().map(|output| Memory::new(output, list)),
            layout: &job.layout,
            iv: &job.iv,
            aad: &job.aad,
            tag: &mut job.tag,
            status,
        }
    }

    /// The op over these parts; takes its segments from the front of `list`, where
    /// [`Parts::split`] has put them in the same order.
    fn op<'l>(self, list: &mut &'l mut [IoSliceMut<'j>]) -> Op<'l>
    where
        'j: 'l,
    {
        let input = self.input.take(list);
        let buffer = match self.output {
            None => Buffer::in_place(input),
            Some(output) => Buffer::separate(input, output.take(list)),
        };
        let mut op = Op::new(self.session, buffer);
        op.status = self.status;
        let Layout {
            cipher,
            auth,
            aad,
            iv_at,
            tag_at,
            output_at,
        } = self.layout.clone();
        op = match iv_at {
            Some(at) => op.iv_at(at),
            None if self.iv.is_empty() => op,
            None => op.iv(self.iv),
        };
        op = match aad {
            Some(range) => op.aad_range(range),
            None if self.aad.is_empty() => op,
            None => op.aad(self.aad),
        };
        op = match tag_at {
            Some(at) => op.tag_at(at),
            None if self.tag.is_empty() => op,
            None => op.tag(self.tag),
        };
        if let Some(range) = cipher {
            op = op.cipher_range(range);
        }
        if let Some(range) = auth {
            op = op.auth_range(range);
        }
        if let Some(offset) = output_at {
            op = op.output_at(offset);
        }
        op
    }
}

impl<'j> Memory<'j> {
    fn new<B: OwnedBuffer>(
        buffer: &'j mut JobBuffer<B>,
        list: &mut SmallVec<[IoSliceMut<'j>; SEGMENTS]>,
    ) -> Self {
        match buffer {
            JobBuffer::One(data) => Self::One(data.as_mut()),
            JobBuffer::Segments(parts) => {
                let count = parts.len();
                list.extend(parts.iter_mut().map(|part| IoSliceMut::new(part.as_mut())));
                Self::Listed(count)
            }
        }
    }

    fn take<'l>(self, list: &mut &'l mut [IoSliceMut<'j>]) -> Sink<'l>
    where
        'j: 'l,
    {
        match self {
            Self::One(data) => data.into(),
            Self::Listed(count) => {
                let (mine, rest) = std::mem::take(list).split_at_mut(count);
                *list = rest;
                mine.into()
            }
        }
    }
}
