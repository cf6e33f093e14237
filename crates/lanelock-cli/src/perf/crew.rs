//! Threads that wait for a word and then work at the same time, each on a core of its own.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier};
use std::thread;
use std::thread::JoinHandle;

use crate::failure::Failure;

/// One thread's way to hear requests `Q` and answer them.
#[derive(Debug)]
pub struct Post<Q, A> {
    requests: Receiver<Q>,
    answers: Sender<Result<A, Failure>>,
    start: Arc<Barrier>,
}

/// The threads, from outside. They end when this is dropped.
#[derive(Debug)]
pub struct Crew<Q, A> {
    members: Vec<Member<Q, A>>,
}

#[derive(Debug)]
struct Member<Q, A> {
    requests: Option<Sender<Q>>,
    answers: Receiver<Result<A, Failure>>,
    thread: Option<JoinHandle<()>>,
}

impl<Q: Clone + Send + 'static, A: Send + 'static> Crew<Q, A> {
    /// Starts `count` threads, each of which runs the `work` that `hire` makes for it.
    pub fn hire<W>(count: usize, mut hire: impl FnMut(usize) -> W) -> Self
    where
        W: FnOnce(&Post<Q, A>) -> Result<(), Failure> + Send + 'static,
    {
        let start = Arc::new(Barrier::new(count));
        let members = (0..count)
            .map(|index| {
                let work = hire(index);
                let (requests, hears) = channel();
                let (says, answers) = channel();
                let post = Post {
                    requests: hears,
                    answers: says,
                    start: start.clone(),
                };
                let thread = thread::spawn(move || {
                    pin(index);
                    if let Err(failure) = work(&post) {
                        let _crew_is_gone = post.answers.send(Err(failure));
                    }
                });
                Member {
                    requests: Some(requests),
                    answers,
                    thread: Some(thread),
                }
            })
            .collect();
        Self { members }
    }

    /// Every thread's answer to `request`, in the order of the threads.
    ///
    /// # Errors
    /// The first failure.
    pub fn ask(&self, request: &Q) -> Result<Vec<A>, Failure> {
        for member in &self.members {
            if let Some(requests) = &member.requests {
                // A thread that has failed does not listen; its failure waits to be read.
                let _failed_before = requests.send(request.clone());
            }
        }
        let gone = |_| Failure::Failed("a measuring thread ended early".to_owned());
        self.members
            .iter()
            .map(|member| {
                member
                    .answers
                    .recv()
                    .map_err(gone)
                    .and_then(|answer| answer)
            })
            .collect()
    }
}

impl<Q, A> Drop for Crew<Q, A> {
    fn drop(&mut self) {
        for member in &mut self.members {
            member.requests = None;
        }
        for member in &mut self.members {
            if let Some(thread) = member.thread.take() {
                let _its_panic_was_reported = thread.join();
            }
        }
    }
}

impl<Q, A> Post<Q, A> {
    /// Answers every request with what `work` makes of it, until the crew is dropped. Work on a
    /// request starts when all threads have heard it.
    ///
    /// # Errors
    /// Those of `work`, after they were passed on.
    pub fn serve(&self, mut work: impl FnMut(Q) -> Result<A, Failure>) -> Result<(), Failure> {
        while let Ok(request) = self.requests.recv() {
            self.start.wait();
            if self.answers.send(Ok(work(request)?)).is_err() {
                break;
            }
        }
        Ok(())
    }
}

/// Keeps the calling thread on one core, by its number among those the process may use. Where
/// the system does not allow it, the thread stays free.
pub fn pin(index: usize) {
    let cores = core_affinity::get_core_ids().unwrap_or_default();
    if !cores.is_empty() {
        core_affinity::set_for_current(cores[index % cores.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_thread_answers_in_its_place() {
        let crew = Crew::hire(3, |index| {
            move |post: &Post<usize, usize>| post.serve(|request| Ok(request + index))
        });
        assert_eq!(crew.ask(&10).unwrap(), [10, 11, 12]);
        assert_eq!(crew.ask(&20).unwrap(), [20, 21, 22]);
    }

    #[test]
    fn a_failure_before_the_first_request_is_its_answer() {
        let crew = Crew::<(), ()>::hire(1, |_| {
            |_: &Post<(), ()>| Err(Failure::Failed("no key".to_owned()))
        });
        let failure = crew.ask(&()).unwrap_err();
        assert_eq!(failure.to_string(), "no key");
    }
}
