//! From words to numbers that can be believed.

use std::time::{Duration, SystemTime};

use super::error::PageError;
use super::stats::{Owner, QueueStats, Snapshot, Stats};
use crate::Inactive;
use crate::histogram::{BUCKETS, Histogram};
use crate::layout::{
    BLOCK_WORDS, BLOCKS, HEADER_WORDS, LANES_FILLED_WORDS, MAGIC, VERSION, block, header, name_of,
    state,
};

/// The process number in a header.
pub(super) fn pid(words: &[u64]) -> Result<u32, PageError> {
    if words.len() != HEADER_WORDS {
        return Err(PageError::Short { at: words.len() });
    }
    if words[header::MAGIC] != MAGIC {
        return Err(PageError::NoMagic(words[header::MAGIC]));
    }
    if words[header::VERSION] != VERSION {
        return Err(PageError::Version(words[header::VERSION]));
    }
    let sizes = [
        ("words of a block", header::BLOCK_WORDS, BLOCK_WORDS as u64),
        ("number of blocks", header::BLOCKS, BLOCKS as u64),
    ];
    for (field, at, expected) in sizes {
        if words[at] != expected {
            let value = words[at];
            return Err(PageError::Field { field, value });
        }
    }
    number("process", words[header::PID])
}

/// A page from its header and, one by one, its blocks.
pub(super) fn page(
    words: &[u64],
    mut read: impl FnMut(usize) -> Result<Vec<u64>, PageError>,
) -> Result<Snapshot, PageError> {
    let pid = pid(words)?;
    let started = words[header::STARTED];
    let started = SystemTime::UNIX_EPOCH
        .checked_add(Duration::from_secs(started))
        .ok_or(PageError::Field {
            field: "start",
            value: started,
        })?;
    let mut snapshot = Snapshot {
        pid,
        started,
        is_module: flag("module", words[header::IS_MODULE])?,
        outside_jobs: flag("outside of jobs", words[header::OUTSIDE_JOBS])?,
        inactive: inactive(words[header::INACTIVE])?,
        uncounted: words[header::UNPLACED],
        queues: Vec::new(),
    };
    for index in 0..BLOCKS {
        snapshot.queues.extend(queue(index, &read(index)?)?);
    }
    Ok(snapshot)
}

/// A block; `None` if it is free.
fn queue(index: usize, words: &[u64]) -> Result<Option<QueueStats>, PageError> {
    if words.len() != BLOCK_WORDS {
        return Err(PageError::Short { at: words.len() });
    }
    let wrong = |field, at: usize| PageError::Block {
        index,
        field,
        value: words[at],
    };
    let owner = match words[block::STATE] {
        state::FREE => return Ok(None),
        state::LIVE => Owner::Thread(
            number("thread", words[block::THREAD]).map_err(|_| wrong("thread", block::THREAD))?,
        ),
        state::ENDED => Owner::Ended,
        _ => return Err(wrong("state", block::STATE)),
    };
    let name = &words[block::NAME..block::NAME + block::NAME_WORDS];
    let algorithm = name_of(name).ok_or_else(|| wrong("algorithm", block::NAME))?;
    let histogram = |at: usize, sum: usize, max: usize| {
        Histogram::of(words[at..at + BUCKETS].to_vec(), words[sum], words[max])
    };
    let lanes = &words[block::LANES_FILLED..block::LANES_FILLED + LANES_FILLED_WORDS];
    let stats = Stats {
        submitted: words[block::SUBMITTED],
        completed: words[block::COMPLETED],
        failed: words[block::FAILED],
        cancelled: words[block::CANCELLED],
        singles: words[block::SINGLES],
        batches: words[block::BATCHES],
        in_lanes: words[block::IN_LANES],
        lanes_filled: lanes.to_vec(),
        wait: histogram(block::WAIT, block::WAIT_SUM, block::WAIT_MAX),
        compute: histogram(block::COMPUTE, block::COMPUTE_SUM, block::COMPUTE_MAX),
    };
    Ok(Some(QueueStats {
        owner,
        algorithm,
        stats,
    }))
}

fn flag(field: &'static str, value: u64) -> Result<bool, PageError> {
    match value {
        0 | 1 => Ok(value == 1),
        _ => Err(PageError::Field { field, value }),
    }
}

fn inactive(value: u64) -> Result<Option<Inactive>, PageError> {
    if value == 0 {
        return Ok(None);
    }
    let reason = Inactive::from_code(value);
    reason.map(Some).ok_or(PageError::Field {
        field: "reason of the inactive module",
        value,
    })
}

fn number(field: &'static str, value: u64) -> Result<u32, PageError> {
    match i32::try_from(value) {
        Ok(number @ 1..) => Ok(number.unsigned_abs()),
        _ => Err(PageError::Field { field, value }),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::layout::name_words;

    fn header() -> Vec<u64> {
        let mut words = vec![0; HEADER_WORDS];
        words[header::MAGIC] = MAGIC;
        words[header::VERSION] = VERSION;
        words[header::BLOCK_WORDS] = BLOCK_WORDS as u64;
        words[header::BLOCKS] = BLOCKS as u64;
        words[header::PID] = 77;
        words
    }

    fn block(name: &str) -> Vec<u64> {
        let mut words = vec![0; BLOCK_WORDS];
        words[block::STATE] = state::LIVE;
        words[block::THREAD] = 78;
        words[block::NAME..block::NAME + block::NAME_WORDS]
            .copy_from_slice(&name_words(name.as_bytes()));
        words
    }

    /// A page whose first block is `first`.
    fn read(header: &[u64], first: &[u64]) -> Result<Snapshot, PageError> {
        page(header, |index| {
            Ok(if index == 0 {
                first.to_vec()
            } else {
                vec![0; BLOCK_WORDS]
            })
        })
    }

    #[test]
    fn each_field_of_the_header_is_refused_by_name() {
        let cases = [
            (header::MAGIC, 0, "its first word is 0x0000000000000000"),
            (header::VERSION, 1, "its layout is version 1,"),
            (header::BLOCK_WORDS, 8, "words of a block cannot be 8"),
            (header::BLOCKS, 1 << 60, "number of blocks cannot be"),
            (header::PID, 0, "process cannot be 0"),
            (header::PID, 1 << 31, "process cannot be 2147483648"),
            (header::STARTED, u64::MAX, "start cannot be"),
            (header::IS_MODULE, 2, "module cannot be 2"),
            (header::OUTSIDE_JOBS, 9, "outside of jobs cannot be 9"),
            (
                header::INACTIVE,
                99,
                "reason of the inactive module cannot be 99",
            ),
        ];
        let good = block("x25519-derive");
        assert!(read(&header(), &good).is_ok());
        for (at, value, expected) in cases {
            let mut words = header();
            words[at] = value;
            let error = read(&words, &good).expect_err(expected).to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn each_field_of_a_block_is_refused_by_name() {
        let escape = u64::from_ne_bytes(*b"\x1b[2Jname");
        let cases = [
            (block::STATE, 3, "block 0: state cannot be 0x3"),
            (block::THREAD, 0, "block 0: thread cannot be 0x0"),
            (block::NAME, 0, "block 0: algorithm cannot be 0x0"),
            (block::NAME, escape, "block 0: algorithm cannot be"),
            // Behind the name's end.
            (block::NAME + 5, 7, "block 0: algorithm cannot be"),
        ];
        for (at, value, expected) in cases {
            let mut words = block("p256-sign");
            words[at] = value;
            let error = read(&header(), &words).expect_err(expected).to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    proptest! {
        /// Whatever a page holds, it is refused, or gives a snapshot that can be looked at.
        #[test]
        fn corrupted_pages_are_refused_or_harmless(
            changes in proptest::collection::vec((0..HEADER_WORDS + BLOCK_WORDS, any::<u64>()), 0..40),
            small in proptest::collection::vec((0..HEADER_WORDS + 16, 0..4_u64), 0..3),
        ) {
            let mut header = header();
            let mut block = block("rsa-2048-sign");
            for (at, value) in changes.into_iter().chain(small) {
                match at.checked_sub(HEADER_WORDS) {
                    Some(at) => block[at] = value,
                    None => header[at] = value,
                }
            }
            if let Ok(snapshot) = read(&header, &block) {
                prop_assert!(snapshot.queues.len() <= 1);
                for (name, stats) in snapshot.by_algorithm() {
                    prop_assert!(!name.contains(|c: char| !c.is_ascii_graphic()));
                    prop_assert!(stats.mean_lanes().is_none_or(f64::is_finite));
                    prop_assert!(stats.wait.quantile(0.5) <= stats.wait.quantile(0.99));
                }
            }
        }
    }
}
