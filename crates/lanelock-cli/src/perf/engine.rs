//! A lanelock engine as a contestant.

use std::sync::Arc;
use std::time::Duration;

use lanelock::{Device, QueuePair, Session, SessionError};

use super::bench;
use super::contestant::{Contestant, Entry, Lap};
use super::crew::{Crew, Post};
use super::drive::{Driver, once};
use super::latencies::Latencies;
use super::null_engine::NullEngine;
use super::pool::{Memory, Message};
use super::shape::Shape;
use crate::failure::Failure;

/// An engine with its sessions, and threads that share them.
pub struct EngineContestant {
    name: String,
    /// Whether it has results to compare.
    works: bool,
    crew: Crew<Request, Answer>,
}

#[derive(Clone, Copy, Debug)]
enum Request {
    Digest,
    Lap(Duration),
    Latencies(Duration),
}

enum Answer {
    Digest(u64),
    Lap(Lap),
    Latencies(Latencies),
}

/// Everything that is made once and shared by the threads.
struct Keys {
    sessions: Vec<Session>,
    /// Sessions that make the input; empty if it is free.
    sealing: Vec<Session>,
}

impl EngineContestant {
    /// Prepares `engine` of `device` for the work.
    ///
    /// # Errors
    /// [`Failure::Failed`] if a session cannot be made, for another reason than that the engine
    /// does not offer it.
    pub fn open(device: &Device, engine: &str, shape: &Shape) -> Result<Entry<Self>, Failure> {
        let keys = match Keys::open(device, engine, shape) {
            Ok(keys) => Arc::new(keys),
            Err(error @ SessionError::Unsupported { .. }) => {
                return Ok(Entry::NotOffered(error.to_string()));
            }
            Err(error) => return Err(Failure::of(error)),
        };
        let crew = Crew::hire(shape.threads, |_| {
            let (keys, shape, queue) = (keys.clone(), shape.clone(), device.queue_pair(1));
            move |post: &Post<_, _>| work(post, &keys, queue, &shape)
        });
        Ok(Entry::Ready(Self {
            name: engine.to_owned(),
            works: engine != NullEngine::NAME,
            crew,
        }))
    }

    /// The same under another name.
    pub fn named(self, name: &str) -> Self {
        Self {
            name: name.to_owned(),
            ..self
        }
    }

    /// Works for about `span`, looking at the clock before and after each burst.
    ///
    /// # Errors
    /// [`Failure::Failed`] if an operation failed.
    pub fn latencies(&mut self, span: Duration) -> Result<Latencies, Failure> {
        let mut all = Latencies::new();
        for answer in self.crew.ask(&Request::Latencies(span))? {
            if let Answer::Latencies(latencies) = answer {
                all.add(&latencies);
            }
        }
        Ok(all)
    }
}

impl Contestant for EngineContestant {
    fn name(&self) -> &str {
        &self.name
    }

    fn digest(&mut self) -> Result<Option<u64>, Failure> {
        let mut digests = Vec::new();
        for answer in self.crew.ask(&Request::Digest)? {
            if let Answer::Digest(digest) = answer {
                digests.push(digest);
            }
        }
        if digests.iter().any(|&digest| digest != digests[0]) {
            let name = &self.name;
            let text = format!("{name}: threads with the same messages got different results");
            return Err(Failure::Failed(text));
        }
        Ok(self.works.then(|| digests[0]))
    }

    fn lap(&mut self, span: Duration) -> Result<Lap, Failure> {
        let answers = self.crew.ask(&Request::Lap(span))?;
        Ok(Lap::side_by_side(answers.into_iter().filter_map(
            |answer| match answer {
                Answer::Lap(lap) => Some(lap),
                _ => None,
            },
        )))
    }
}

impl Keys {
    fn open(device: &Device, engine: &str, shape: &Shape) -> Result<Self, SessionError> {
        let open = |transform| bench::session(device, engine, transform);
        let all = 0..shape.sessions;
        let sessions = all.clone().map(|n| shape.transform(n));
        let sealing = all.filter_map(|n| shape.sealing_transform(n));
        Ok(Self {
            sessions: sessions.map(open).collect::<Result<_, _>>()?,
            sealing: sealing.map(open).collect::<Result<_, _>>()?,
        })
    }
}

/// One thread: messages of its own, sessions that are everybody's.
fn work(
    post: &Post<Request, Answer>,
    keys: &Keys,
    mut queue: QueuePair,
    shape: &Shape,
) -> Result<(), Failure> {
    let mut memory = Memory::new(shape);
    let mut messages = memory.messages(shape, &keys.sessions);
    if !keys.sealing.is_empty() {
        seal(&mut queue, &mut messages, &keys.sealing)?;
    }
    let mut driver = Driver::new(queue, messages, shape);
    post.serve(|request| {
        Ok(match request {
            Request::Digest => Answer::Digest(driver.digest(shape)?),
            Request::Lap(span) => Answer::Lap(driver.run(span)?),
            Request::Latencies(span) => Answer::Latencies(driver.latencies(span)?),
        })
    })
}

/// Makes the input of decryption and verification from the messages' first content.
fn seal(
    queue: &mut QueuePair,
    messages: &mut [Message<'_>],
    sessions: &[Session],
) -> Result<(), Failure> {
    for (n, message) in messages.iter_mut().enumerate() {
        once(queue, &sessions[n % sessions.len()], message)?;
    }
    Ok(())
}
