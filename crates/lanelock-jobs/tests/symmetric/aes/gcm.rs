use lanelock_jobs::per_tier;
use lanelock_jobs::reference::aes::gcm;
use lanelock_jobs::testing::Random;
use lanelock_kernels::Machine;
use lanelock_kernels::aes::Piece;
use lanelock_kernels::aes::gcm::{
    J0, Job, Key, Known, LoneKernel, Part, decrypt_many, decrypt_parts, encrypt_many, encrypt_parts,
};

per_tier!(
    runs_any_number_of_messages_together,
    runs_messages_of_a_few_blocks_together,
    runs_short_messages_of_a_mix_together,
    continues_anywhere,
    runs_a_message_alone,
    hashes_additional_data_of_any_length,
    takes_ivs_of_any_length,
    counts_modulo_two_to_the_32,
);

/// Every number of messages up to four lots and more, of each number of registers that runs side
/// by side and a little above, of equal and of unequal lengths, with one key and with many.
fn runs_any_number_of_messages_together(machine: Machine) {
    let keys = keys(machine, 16);
    let mut random = Random::new(17);
    for registers in 1..=11 {
        for count in 1..=17 {
            for shape in 0..8 {
                let encrypt = shape % 2 == 0;
                let (one_key, equal) = (shape & 2 == 0, shape & 4 == 0);
                let len = 64 * registers - random.below(64);
                let mut texts: Vec<_> = (0..count)
                    .map(|_| {
                        let less = if equal { 0 } else { random.below(len.min(130)) };
                        random.bytes(len - less)
                    })
                    .collect();
                let aad_len = random.below(18);
                let aads: Vec<_> = (0..count)
                    .map(|_| {
                        let other = random.below(18);
                        random.bytes(if equal { aad_len } else { other })
                    })
                    .collect();
                let mut expected = texts.clone();
                // Every other tag of an encryption has a place of its own.
                let mut places = vec![[0; 16]; count];
                let j0s: Vec<_> = (0..count).map(|_| first_block(&mut random)).collect();
                let mut jobs: Vec<_> = texts
                    .iter_mut()
                    .zip(&aads)
                    .zip(&mut places)
                    .enumerate()
                    .map(|(i, ((text, aad), place))| {
                        let key = &keys[if one_key { 3 } else { i }];
                        let mut job = job(key, text, aad, &j0s[i]);
                        if encrypt && i % 2 == 1 {
                            job.place = place;
                        }
                        job
                    })
                    .collect();
                run(machine, encrypt, &mut jobs, count % 3 != 0);
                for (i, job) in jobs.iter().enumerate() {
                    let tag = turn(encrypt, job.key, &j0s[i], &aads[i], &mut expected[i]);
                    // SAFETY: null, or a block.
                    let found = unsafe { job.place.as_ref() }.unwrap_or(&job.block);
                    assert_eq!(*found, tag, "{count} of {registers} registers, {shape}");
                }
                drop(jobs);
                assert_eq!(texts, expected, "{count} of {registers} registers, {shape}");
            }
        }
    }
}

/// Texts and additional data around the ends of blocks, alike, with one key and with many; no text at all
/// is GMAC.
fn runs_messages_of_a_few_blocks_together(machine: Machine) {
    let mut random = Random::new(18);
    let lens = [0, 1, 15, 16, 17, 31, 32, 33, 47, 48, 49, 63, 64, 65];
    for (shape, len) in (0..12).flat_map(|shape| lens.map(|len| (shape, len))) {
        let keys = keys(machine, [16, 24, 32][shape / 4]);
        let (encrypt, one_key) = (shape % 2 == 0, shape & 2 == 0);
        for (count, aad_len) in [(2, 0), (2, 16), (3, 7), (4, 1), (5, 16), (9, 15), (65, 13)] {
            let texts: Vec<_> = (0..count).map(|_| random.bytes(len)).collect();
            let aads: Vec<_> = (0..count).map(|_| random.bytes(aad_len)).collect();
            let j0s: Vec<_> = (0..count).map(|_| first_block(&mut random)).collect();
            let mut found = texts.clone();
            let mut jobs: Vec<_> = (0..)
                .zip(found.iter_mut().zip(&aads))
                .map(|(i, (text, aad))| {
                    let key = &keys[if one_key { 3 } else { i % 40 }];
                    job(key, text, aad, &j0s[i])
                })
                .collect();
            run(machine, encrypt, &mut jobs, count != 4);
            for (i, job) in jobs.iter().enumerate() {
                let mut expected = texts[i].clone();
                let tag = turn(encrypt, job.key, &j0s[i], &aads[i], &mut expected);
                let what = format!("{i} of {count}: {len} bytes, {aad_len} more, {shape}");
                assert_eq!(job.block, tag, "{what}");
                // SAFETY: the text of the job, which has run.
                let text = unsafe { std::slice::from_raw_parts(job.source, len) };
                assert_eq!(text, expected, "{what}");
            }
        }
    }
}

/// Messages of one or two lengths up to a register, among longer ones, with one key and with many.
fn runs_short_messages_of_a_mix_together(machine: Machine) {
    let mut random = Random::new(19);
    let keys = keys(machine, 32);
    for (short, other) in [(40, 40), (16, 16), (64, 64), (1, 1), (40, 41), (64, 9)] {
        for (count, shape) in (2..40).flat_map(|count| [0, 1, 2, 3].map(|shape| (count, shape))) {
            let (encrypt, one_key) = (shape % 2 == 0, shape & 2 == 0);
            let texts: Vec<_> = (0..count)
                .map(|i| random.bytes([short, short, 600, other, short, 1500][i % 6]))
                .collect();
            let aad = random.bytes(12);
            let ivs_alone = count % 2 == 0;
            let j0s: Vec<_> = (0..count)
                .map(|_| match ivs_alone {
                    true => J0::of_iv12(random.block().first_chunk().expect("twelve bytes")),
                    false => first_block(&mut random),
                })
                .collect();
            let mut found = texts.clone();
            let mut jobs: Vec<_> = found
                .iter_mut()
                .enumerate()
                .map(|(i, text)| {
                    let key = &keys[if one_key { 3 } else { i }];
                    job(key, text, &aad, &j0s[i])
                })
                .collect();
            run(machine, encrypt, &mut jobs, true);
            for (i, job) in jobs.iter().enumerate() {
                let mut expected = texts[i].clone();
                let tag = turn(encrypt, job.key, &j0s[i], &aad, &mut expected);
                let what = format!("{i} of {count}: {short} and {other} bytes, {shape}");
                assert_eq!(job.block, tag, "{what}");
                // SAFETY: the text of the job, which has run.
                let text = unsafe { std::slice::from_raw_parts(job.source, expected.len()) };
                assert_eq!(text, expected, "{what}");
            }
        }
    }
}

/// Messages with several keys in one call after the other, each in pieces of any size.
fn continues_anywhere(machine: Machine) {
    let keys = keys(machine, 32);
    let mut random = Random::new(3);
    for round in 0..60 {
        let encrypt = round % 2 == 0;
        let mut messages: Vec<_> = (0..1 + round % 5)
            .map(|n| {
                let key = &keys[(round + n) % 40];
                let most = [20, 100, 3000][random.below(3)];
                let (aad_len, len) = (random.below(50), random.below(most));
                let (aad, data) = (random.bytes(aad_len), random.bytes(len));
                (key, first_block(&mut random), aad, data)
            })
            .collect();
        let expected: Vec<_> = messages
            .iter()
            .map(|(key, j0, aad, data)| {
                let mut data = data.clone();
                let tag = turn(encrypt, key, j0, aad, &mut data);
                (tag, data)
            })
            .collect();
        // Additional data is hashed with the first pieces, or before them.
        let mut states: Vec<_> = messages
            .iter()
            .map(|(key, _, aad, _)| {
                let mut hash = [0; 16];
                let before = random.below(2) * (aad.len() / 16 * 16);
                key.absorb(&machine, &mut hash, &aad[..before]);
                if before > 0 {
                    key.absorb(&machine, &mut hash, &aad[before..]);
                }
                (hash, if before > 0 { 0 } else { aad.len() }, 0, false)
            })
            .collect();
        while states.iter().any(|state| !state.3) {
            let pieces: Vec<Vec<_>> = messages
                .iter_mut()
                .zip(&states)
                .map(|((.., data), &(_, _, done, ended))| {
                    let mut pieces = Vec::new();
                    let (mut at, full) = (16 * done, random.below(12));
                    while at < data.len() && !ended && pieces.len() < full {
                        let most = [3, 20, 60][random.below(3)];
                        let len = (16 * (1 + random.below(most))).min(data.len() - at);
                        pieces.push(Piece {
                            source: data[at..].as_ptr(),
                            target: data[at..].as_mut_ptr(),
                            len,
                        });
                        at += len;
                    }
                    pieces
                })
                .collect();
            let lens: Vec<_> = messages.iter().map(|message| message.3.len()).collect();
            let mut parts: Vec<_> = messages
                .iter()
                .zip(&states)
                .zip(pieces.iter().zip(&lens))
                .filter(|((_, state), _)| !state.3)
                .map(|(((key, j0, aad, _), state), (pieces, &len))| {
                    let taken: usize = pieces.iter().map(|piece| piece.len).sum();
                    Part {
                        pieces,
                        aad: aad.as_ptr(),
                        aad_len: state.1,
                        key,
                        j0: *j0,
                        before: state.2,
                        ends: (16 * state.2 + taken == len).then_some([aad.len(), len]),
                        hash: state.0,
                    }
                })
                .collect();
            // SAFETY: the pieces are parts of slices, in place.
            unsafe {
                match encrypt {
                    true => encrypt_parts(machine, &mut parts),
                    false => decrypt_parts(machine, &mut parts),
                }
            }
            for (state, part) in states.iter_mut().filter(|state| !state.3).zip(&parts) {
                let taken: usize = part.pieces.iter().map(|piece| piece.len).sum();
                *state = (
                    part.hash,
                    0,
                    state.2 + taken.div_ceil(16),
                    part.ends.is_some(),
                );
            }
        }
        for (((.., data), state), (tag, turned)) in messages.iter().zip(&states).zip(&expected) {
            assert_eq!(state.0, *tag);
            assert_eq!(data, turned);
        }
    }
}

/// Lengths around those that one sum and eight registers hold, and beyond.
fn runs_a_message_alone(machine: Machine) {
    let mut random = Random::new(5);
    let registers = 16 * machine.aes_blocks();
    let longest_aad = 16 * (39 - 8 * machine.aes_blocks());
    for key in [16, 24, 32].map(|bytes| keys(machine, bytes).swap_remove(2)) {
        for len in (0..=8 * registers + 2).chain([1000, 3001]) {
            let other = random.below(longest_aad);
            for aad_len in [0, 12, 16, 17, other, longest_aad, longest_aad + 1, 2000] {
                let (aad, iv) = (random.bytes(aad_len), random.block());
                let iv: &[u8; 12] = iv.first_chunk().unwrap();
                let text = random.bytes(len);
                for encrypt in [true, false] {
                    let (mut found, mut tag) = (text.clone(), [7; 16]);
                    let j0 = J0::of_iv12(iv);
                    let mut job = job(&key, &mut found, &aad, &j0);
                    let placed = encrypt && aad_len % 2 == 0;
                    if placed {
                        job.place = &mut tag;
                    }
                    let size = key.cipher().size();
                    let kernel = match encrypt {
                        true => LoneKernel::encrypting(&machine, size),
                        false => LoneKernel::decrypting(&machine, size),
                    };
                    // SAFETY: in place, on vectors of these lengths.
                    unsafe { kernel.run(&mut job) };
                    if !placed {
                        tag = job.block;
                    }
                    let mut expected = text.clone();
                    let expected_tag = turn(encrypt, &key, &j0, &aad, &mut expected);
                    let what = format!("{len} bytes, {aad_len} of additional data, {encrypt}");
                    assert!(found == expected, "{what}");
                    assert_eq!(tag, expected_tag, "{what}");
                }
            }
        }
    }
}

fn hashes_additional_data_of_any_length(machine: Machine) {
    let key = &keys(machine, 16)[5];
    let aad = Random::new(1).bytes(1300);
    let j0 = J0::of_block([1; 16]);
    for len in 0..aad.len() {
        for text in [0, 77] {
            let mut data = [9_u8; 77];
            let mut job = [job(key, &mut data[..text], &aad[..len], &j0)];
            run(machine, true, &mut job, true);
            let expected =
                gcm::encrypt(key.cipher(), [1; 16], &aad[..len], &mut [9_u8; 77][..text]);
            assert_eq!(job[0].block, expected, "{len} bytes of additional data");
        }
    }
}

fn takes_ivs_of_any_length(machine: Machine) {
    let key = &keys(machine, 16)[7];
    for len in 1..300 {
        let iv = Random::new(len).bytes(len.try_into().unwrap());
        assert_eq!(*key.j0(&machine, &iv).block(), gcm::j0(key.cipher(), &iv));
    }
    assert_eq!(
        *J0::of_iv12(&[8; 12]).block(),
        gcm::j0(key.cipher(), &[8; 12])
    );
}

fn counts_modulo_two_to_the_32(machine: Machine) {
    let key = &keys(machine, 16)[9];
    for before in 0..40_u8 {
        let mut j0 = [0xff; 16];
        j0[15] -= before;
        let mut data = [1; 1000];
        let start = J0::of_block(j0);
        let mut job = [job(key, &mut data, &[], &start)];
        run(machine, true, &mut job, true);
        let mut expected = [1; 1000];
        assert_eq!(
            job[0].block,
            gcm::encrypt(key.cipher(), j0, &[], &mut expected)
        );
        assert_eq!(data, expected);
    }
}

/// The block before the first counter: of an IV of twelve bytes, which counts as one, or of another.
fn first_block(random: &mut Random) -> J0 {
    let block = random.block();
    match block[15] % 2 {
        0 => J0::of_block(block),
        _ => J0::of_iv12(block.first_chunk().expect("twelve bytes")),
    }
}

fn turn(encrypt: bool, key: &Key, j0: &J0, aad: &[u8], data: &mut [u8]) -> [u8; 16] {
    match encrypt {
        true => gcm::encrypt(key.cipher(), *j0.block(), aad, data),
        false => gcm::decrypt(key.cipher(), *j0.block(), aad, data),
    }
}

fn keys(machine: Machine, bytes: usize) -> Vec<Key> {
    let mut random = Random::new(11);
    (0..40)
        .map(|_| Key::new(machine, &random.bytes(bytes)).unwrap())
        .collect()
}

/// A job without a place for its tag; `j0` is the block before its first counter.
fn job<'k>(key: &'k Key, data: &mut [u8], aad: &[u8], j0: &'k J0) -> Job<'k> {
    let job = match j0.iv12() {
        Some(iv) => Job::new(key, iv),
        None => Job::of_block(key, *j0.block()),
    };
    let target = data.as_mut_ptr();
    job.text(target, target, data.len())
        .aad(aad.as_ptr(), aad.len())
}

/// Runs jobs that are as `job` makes them of texts of their own. `told`: what they have in common is.
fn run(machine: Machine, encrypt: bool, jobs: &mut [Job<'_>], told: bool) {
    let known = if told {
        Known::of(jobs)
    } else {
        Known::default()
    };
    // SAFETY: in place, on slices; the caller's promise.
    unsafe {
        match encrypt {
            true => encrypt_many(&machine, jobs, known),
            false => decrypt_many(&machine, jobs, known),
        }
    }
}
