//! A contestant at work on public-key operations.

use std::rc::Rc;
use std::time::{Duration, Instant};

use lanelock::Device;
use lanelock::public_key::{FlushPolicy, KeyDevice, KeyOp, KeyQueue, KeySession};

use super::super::contestant::{Contestant, Lap};
use super::who::Who;
use super::work::{Item, KeyWork};
use crate::failure::Failure;

/// Sessions for each key, and memory for one batch.
pub(super) struct KeyContestant {
    name: String,
    is_reference: bool,
    work: Rc<KeyWork>,
    device: Device,
    queue: KeyQueue,
    sessions: Vec<KeySession>,
    batch: usize,
    outputs: Vec<(Vec<u8>, Vec<u8>)>,
}

impl KeyContestant {
    /// Prepares `who` for batches of `batch`; `None` if the work is not on offer.
    pub(super) fn open(
        device: &Device,
        who: &Who,
        work: &Rc<KeyWork>,
        batch: usize,
    ) -> Result<Option<Self>, Failure> {
        let Some(sessions) = work.sessions(device, who)? else {
            return Ok(None);
        };
        let room = |at: usize| {
            let (item, session) = (&work.items[at], &sessions[at]);
            let output = vec![0; session.output_len(item.input.len())];
            (output, vec![0; session.second_output_len()])
        };
        Ok(Some(Self {
            name: who.name(),
            is_reference: who.is_reference(),
            work: work.clone(),
            device: device.clone(),
            queue: device.key_queue(1, FlushPolicy::default()),
            outputs: (0..batch).map(|at| room(at % work.items.len())).collect(),
            sessions,
            batch,
        }))
    }

    /// The same without the counters of a process that `lanelock stats` can read.
    pub(super) fn uncounted(mut self) -> Self {
        self.queue.set_observer(None);
        self.name.push_str(", uncounted");
        self
    }

    /// Whether others are compared with it.
    pub(super) fn is_reference(&self) -> bool {
        self.is_reference
    }

    /// Runs one batch, the keys in turn; `look` sees each finished operation.
    pub(super) fn run(&mut self, mut look: impl FnMut(&Item, &KeyOp<'_>)) -> Result<(), Failure> {
        let (items, sessions) = (&self.work.items, &self.sessions);
        let mut ops: Vec<_> = (0..self.batch)
            .zip(&mut self.outputs)
            .map(|(at, (output, second))| {
                let at = at % items.len();
                items[at].op(&sessions[at], output, second)
            })
            .collect();
        let outcome = self.queue.process(&mut ops);
        if outcome.failed > 0 {
            let error = ops.iter().find_map(KeyOp::error);
            let why = error.map_or(String::new(), |error| error.to_string());
            let (who, name) = (&self.name, &self.work.name);
            return Err(Failure::Failed(format!("{who}, {name}: {why}")));
        }
        for (at, op) in ops.iter().enumerate() {
            look(&items[at % items.len()], op);
        }
        Ok(())
    }
}

impl Contestant for KeyContestant {
    fn name(&self) -> &str {
        &self.name
    }

    /// Holds each answer against the one that is known, or verifies it: contestants that are all
    /// right agree.
    fn digest(&mut self) -> Result<Option<u64>, Failure> {
        let (device, mut checked) = (self.device.clone(), Ok(true));
        self.run(|item, op| {
            if let Ok(true) = checked {
                checked = item.is_right(&device, op.result());
            }
        })?;
        if !checked? {
            let (who, name) = (&self.name, &self.work.name);
            return Err(Failure::Failed(format!("{who}, {name}: a wrong result")));
        }
        Ok(Some(self.work.digest()))
    }

    fn lap(&mut self, span: Duration) -> Result<Lap, Failure> {
        let start = Instant::now();
        let mut lap = Lap::default();
        while lap.elapsed < span {
            self.run(|_, _| {})?;
            lap.ops += self.batch as u64;
            lap.elapsed = start.elapsed();
        }
        Ok(lap)
    }
}
