//! Symmetric kernels, from their own table.

use std::rc::Rc;

use lanelock_jobs::{self as jobs, Burst, Given, Message, Registers};

use super::Row;
use crate::inputs::{self, Inputs};
use crate::tier::Tier;

pub fn rows() -> Vec<Row> {
    let cells = |row: jobs::Row| {
        let row = Rc::new(row);
        row.keys.clone().into_iter().map(move |key| {
            let (name, tiers, row) = (row.name(key), tiers(&row), Rc::clone(&row));
            let run = move |tier, inputs: &mut Inputs| run(&row, key, tier, inputs);
            Row::new(name, tiers, run)
        })
    };
    jobs::rows().into_iter().flat_map(cells).collect()
}

fn tiers(row: &jobs::Row) -> &'static [Tier] {
    match row.registers {
        Registers::Blocks => &[
            Tier::Portable,
            Tier::AesNi,
            Tier::Avx2,
            Tier::Vaes256,
            Tier::Avx512,
        ],
        Registers::Words => &[Tier::Portable, Tier::Avx2, Tier::Avx512Bw, Tier::Avx512],
        Registers::WordsOrSha => &[
            Tier::Portable,
            Tier::Avx2,
            Tier::ShaNi,
            Tier::Avx512Bw,
            Tier::Avx512,
        ],
        Registers::Sha => &[Tier::ShaNi],
    }
}

fn run(row: &jobs::Row, key: usize, tier: Tier, inputs: &mut Inputs) -> Vec<Vec<u8>> {
    let mut outputs = Vec::new();
    // Of what is opened the key alone is secret.
    let mut public = Inputs::plain();
    let from = if row.verifies {
        &mut public
    } else {
        &mut *inputs
    };
    for burst in from.bursts(key, row.unit, row.least.max(row.unit)) {
        outputs.extend(turn(row, tier, burst, inputs));
    }
    outputs
}

/// Runs one burst in place and returns what is secret of it.
fn turn(
    row: &jobs::Row,
    tier: Tier,
    mut burst: Vec<inputs::Message>,
    inputs: &Inputs,
) -> Vec<Vec<u8>> {
    let machine = tier.machine().expect("a tier of the row that can run");
    let of = |lengths: &[usize], i: usize| lengths.get(i % lengths.len().max(1)).copied();
    let mut tags: Vec<_> = (0..burst.len())
        .map(|i| vec![0x5a; of(&row.tags, i).unwrap_or(0)])
        .collect();
    // As long as the longest.
    let mut ivs: Vec<_> = burst.iter().map(|m| m.iv.repeat(8)).collect();
    for (i, iv) in ivs.iter_mut().enumerate() {
        iv.truncate(of(&row.ivs, i).unwrap_or(0));
    }
    if row.verifies {
        for (i, message) in burst.iter_mut().enumerate() {
            let given = given(row, i, &ivs[i], &message.aad, &tags[i]);
            tags[i] = row.reference(&message.key, &given, &mut message.data.clone());
            // One in three is wrong.
            tags[i][15] ^= u8::from(i % 3 == 0);
            message.key = inputs.hide(std::mem::take(&mut message.key));
        }
    }
    let keys = burst
        .iter_mut()
        .map(|message| std::mem::take(&mut message.key));
    let keys: Vec<_> = keys.collect();
    let messages = burst.iter_mut().enumerate().map(|(i, message)| {
        let given = given(row, i, &ivs[i], &message.aad, &tags[i]);
        Message::in_place(&mut message.data, given)
    });
    let ready = Burst {
        keys: &keys,
        messages: messages.collect(),
    };
    let left = row.prepare(machine, &ready, |run| {
        run.run();
        run.tags()
    });
    drop(ready);
    let mut outputs = Vec::new();
    for (i, (message, tag)) in burst.into_iter().zip(left).enumerate() {
        // The verdict is public; what did not verify is the ciphertext still.
        let verified = !tag.is_empty();
        assert!(
            !row.verifies || verified == (i % 3 != 0),
            "verdict of message {i}"
        );
        let has_secret_tag = message.data.len() >= row.secret_from && !tag.is_empty();
        if row.writes && (verified || !row.verifies) {
            outputs.push(message.data);
        }
        if has_secret_tag {
            outputs.push(tag);
        }
    }
    outputs
}

fn given<'m>(row: &jobs::Row, key: usize, iv: &'m [u8], aad: &'m [u8], tag: &'m [u8]) -> Given<'m> {
    let aad = if row.has_aad { aad } else { &[] };
    Given { key, iv, aad, tag }
}
