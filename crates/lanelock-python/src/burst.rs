//! A unit in bursts, straight into its part of the output.

use lanelock::QueuePair;

use crate::failure::Reason;
use crate::offsets::{self, Ends};
use crate::prefetch;
use crate::unit::Unit;
use crate::work::{BURST, Results, Row, Rows, Work};

/// A unit, and its part of the output.
pub(crate) struct Task<'a, 'o> {
    pub(crate) unit: Unit<'a>,
    pub(crate) data: &'o mut [u8],
    pub(crate) form: Form<'o>,
}

/// Where the values of the output are.
pub(crate) enum Form<'o> {
    /// One after the other.
    Ends(Ends<'o>),
    /// Each in a slot of so many bytes; of null rows zeros.
    Wide(usize),
}

/// What has come of a unit.
#[derive(Default)]
pub(crate) struct Done {
    /// Rows of the chunk, in their order.
    pub(crate) failures: Vec<(usize, Reason)>,
    /// Bytes of its output, from the first.
    pub(crate) used: usize,
}

/// A unit on its way.
struct Running<'r, 'a, 'o, W: Work> {
    work: &'r W,
    state: &'r mut W::State,
    queue: &'r mut QueuePair,
    unit: &'r Unit<'a>,
    data: &'r mut [u8],
    ends: &'r mut Ends<'o>,
    done: Done,
    /// The first row that has not run.
    next: usize,
}

impl Task<'_, '_> {
    pub(crate) fn run<W: Work>(
        self,
        work: &W,
        state: &mut W::State,
        queue: &mut QueuePair,
    ) -> Done {
        let Task { unit, data, form } = self;
        let mut run = |data: &mut [u8], ends: &mut Ends<'_>| {
            let mut running = Running {
                work,
                state: &mut *state,
                queue: &mut *queue,
                unit: &unit,
                data,
                ends,
                done: Done::default(),
                next: 0,
            };
            running.all();
            running.done
        };
        let width = match form {
            Form::Ends(mut ends) => return run(data, &mut ends),
            Form::Wide(width) => width,
        };
        let mut bytes = vec![0; offsets::width(true) * unit.rows.len()];
        let mut ends = Ends {
            bytes: &mut bytes,
            large: true,
            base: 0,
        };
        let room = unit.room(work);
        if W::EXACT && room == data.len() && !unit.chunk.has_nulls() {
            let done = run(data, &mut ends);
            if (0..unit.rows.len()).all(|at| ends.get(at) == width * (at + 1)) {
                return done;
            }
            // Bytes that are too few for some rows are too many for others.
            let values = data.to_vec();
            return spread(&unit, done, &values, &ends, width, data);
        }
        let mut values = vec![0; room];
        let done = run(&mut values, &mut ends);
        spread(&unit, done, &values, &ends, width, data)
    }
}

/// Puts each of a unit's values into its slot, and zeros where there is none. A value of another length
/// fails.
fn spread(
    unit: &Unit<'_>,
    mut done: Done,
    values: &[u8],
    ends: &Ends<'_>,
    width: usize,
    data: &mut [u8],
) -> Done {
    let mut from = 0;
    let mut wrong = Vec::new();
    for at in 0..unit.rows.len() {
        let value = &values[from..ends.get(at)];
        from = ends.get(at);
        let slot = &mut data[width * at..][..width];
        if value.len() == width {
            slot.copy_from_slice(value);
            continue;
        }
        slot.fill(0);
        let row = unit.rows.start + at;
        let failed = done.failures.binary_search_by_key(&row, |(row, _)| *row);
        if failed.is_err() && !unit.chunk.is_null(row) {
            let given = value.len();
            let why = format!("the value has {given} bytes; its type has {width}");
            wrong.push((row, Reason::Type(why)));
        }
    }
    done.failures.extend(wrong);
    done.failures.sort_by_key(|(row, _)| *row);
    done
}

impl<W: Work> Running<'_, '_, '_, W> {
    fn all(&mut self) {
        let plain = self.unit.plain(self.work);
        while self.next < self.unit.rows.len() {
            // Where some row of a plain burst fails, all go the long way, which finds the reason.
            match plain.and_then(|(aad, key)| self.plain(aad, key)) {
                Some(()) => {}
                None => self.burst(),
            }
        }
        self.done.failures.sort_by_key(|(row, _)| *row);
    }

    /// Rows that differ in nothing but their values; `None`, with nothing done, if one of them
    /// cannot run.
    fn plain(&mut self, aad: &[u8], key: usize) -> Option<()> {
        let Self {
            unit, data, ends, ..
        } = self;
        let count = BURST.min(unit.rows.len() - self.next);
        let first = unit.rows.start + self.next;
        let mut values = Rows::new();
        unit.chunk.values(first..first + count, &mut values)?;
        self.work.begin(self.state, self.queue).ok()?;
        let mut burst = W::Burst::default();
        let mut end = self.done.used;
        let mut rest = &mut data[end..];
        for (at, &value) in (self.next..).zip(&values) {
            let room = self.work.room(value.len(), key)?;
            let slot = rest.split_off_mut(..room)?;
            end += room;
            ends.set(at, end);
            let row = Row {
                value,
                aad,
                key,
                nonce: None,
                slot,
            };
            self.work.push(self.state, &mut burst, row);
        }
        if W::AHEAD {
            prefetch::behind(&values);
        }
        let results = self.work.run(self.state, self.queue, &mut burst);
        drop(burst);
        self.settle(self.next..self.next + count, results, self.next + count);
        Some(())
    }

    /// Rows of any kind.
    fn burst(&mut self) {
        let Self {
            unit, data, ends, ..
        } = self;
        let nulls = unit.chunk.has_nulls();
        let mut rows: Rows<usize> = Rows::new();
        let begun = self.work.begin(self.state, self.queue);
        let mut burst = W::Burst::default();
        let mut end = self.done.used;
        let mut rest = &mut data[end..];
        let mut next = self.next;
        while next < unit.rows.len() && !rows.is_full() {
            let (at, number) = (next, unit.rows.start + next);
            next += 1;
            if !(nulls && unit.chunk.is_null(number)) {
                let row = begun.clone().and_then(|()| unit.row(self.work, at));
                let row = row.and_then(|row| {
                    // It fits, unless the producer changed the array while it was read.
                    let slot = rest.split_off_mut(..row.room).ok_or(Reason::Malformed)?;
                    end += row.room;
                    Ok(Row {
                        value: row.value,
                        aad: row.aad,
                        key: row.key,
                        nonce: row.nonce,
                        slot,
                    })
                });
                match row {
                    Ok(row) => {
                        self.work.push(self.state, &mut burst, row);
                        rows.push(at);
                    }
                    Err(reason) => self.done.failures.push((number, reason)),
                }
            }
            ends.set(at, end);
        }
        let results = if rows.is_empty() {
            Results::new()
        } else {
            self.work.run(self.state, self.queue, &mut burst)
        };
        drop(burst);
        self.settle(rows.into_iter(), results, next);
    }

    /// Ends the rows before `next`, of which `ran` have run.
    fn settle(&mut self, ran: impl Iterator<Item = usize>, results: Results, next: usize) {
        let Self {
            unit, data, ends, ..
        } = self;
        if W::EXACT && results.is_empty() {
            self.done.used = ends.get(next - 1);
            self.next = next;
            return;
        }
        let (mut results, mut ran) = (results.into_iter(), ran.peekable());
        let (mut from, mut to) = (self.done.used, self.done.used);
        for at in self.next..next {
            let end = ends.get(at);
            if ran.next_if_eq(&at).is_some() {
                let room = end - from;
                let len = match results.next().unwrap_or(Err(Reason::Engine)) {
                    Ok(_) if W::EXACT => room,
                    Ok(len) => len,
                    Err(reason) => {
                        data[from..end].fill(0); // what the buffer's last user left
                        self.done.failures.push((unit.rows.start + at, reason));
                        if W::EXACT { room } else { 0 }
                    }
                };
                if from != to {
                    data.copy_within(from..from + len, to);
                }
                to += len;
            }
            from = end;
            ends.set(at, to);
        }
        self.next = next;
        self.done.used = to;
    }
}
