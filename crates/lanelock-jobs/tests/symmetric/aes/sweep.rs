use lanelock_jobs::per_tier;
use lanelock_jobs::reference::aes::{
    cbc as cbc_reference, cfb as cfb_reference, ctr as ctr_reference, decrypt_block, encrypt_block,
};
use lanelock_jobs::testing::Random;
use lanelock_kernels::Machine;
use lanelock_kernels::aes::{BLOCK, DecryptKey, EncryptKey, Message, Records, cbc, cfb, ctr, ecb};

per_tier!(runs_of_one_length);

/// A mode on records, and its reference on one message.
type Run<Key> = fn(Machine, &EncryptKey, &Records<'_, Key>);
type Reference = fn(&EncryptKey, [u8; BLOCK], &mut [u8]);

fn runs_of_one_length(machine: Machine) {
    check::<EncryptKey>(
        machine,
        Clone::clone,
        // SAFETY: as `check` promises.
        |machine, key, records| unsafe { ctr::apply_records(machine, key.size(), records) },
        ctr_reference::apply,
    );
    check::<EncryptKey>(
        machine,
        Clone::clone,
        // SAFETY: as `check` promises.
        |machine, key, records| unsafe { cfb::decrypt_records(machine, key.size(), records) },
        |key, mut iv, text| cfb_reference::decrypt(key, &mut iv, text),
    );
    check::<DecryptKey>(
        machine,
        DecryptKey::new,
        // SAFETY: as `check` promises.
        |machine, key, records| unsafe { cbc::decrypt_records(machine, key.size(), records) },
        |key, mut iv, text| cbc_reference::decrypt(key, &mut iv, text),
    );
    check::<EncryptKey>(
        machine,
        Clone::clone,
        // SAFETY: as `check` promises.
        |machine, key, records| unsafe { ecb::encrypt_records(machine, key.size(), records) },
        |key, _, text| each_block(text, |block| encrypt_block(key, block)),
    );
    check::<DecryptKey>(
        machine,
        DecryptKey::new,
        // SAFETY: as `check` promises.
        |machine, key, records| unsafe { ecb::decrypt_records(machine, key.size(), records) },
        |key, _, text| each_block(text, |block| decrypt_block(key, block)),
    );
}

fn each_block(text: &mut [u8], cipher: impl Fn([u8; BLOCK]) -> [u8; BLOCK]) {
    for block in text.as_chunks_mut().0 {
        *block = cipher(*block);
    }
}

/// Runs of messages of one length between messages of another, under one key and under several, in
/// place; one of the counters may carry.
fn check<Key>(
    machine: Machine,
    schedule: fn(&EncryptKey) -> Key,
    run: Run<Key>,
    reference: Reference,
) {
    let mut random = Random::new(14);
    for key_len in [16, 24, 32] {
        let keys: Vec<EncryptKey> = (0..3)
            .map(|_| EncryptKey::new(machine, &random.bytes(key_len)).unwrap())
            .collect();
        let schedules: Vec<Key> = keys.iter().map(schedule).collect();
        for (len, count) in [16, 32, 64]
            .into_iter()
            .flat_map(|len| (1..=20).map(move |n| (len, n)))
        {
            for (shared, carries) in [(true, false), (false, false), (true, true), (false, true)] {
                let key_of = |i: usize| if shared { 0 } else { i % 3 };
                let mut texts: Vec<Vec<u8>> = (0..count).map(|_| random.bytes(len)).collect();
                texts.insert(random.below(count + 1), random.bytes(len + BLOCK));
                let mut ivs: Vec<[u8; BLOCK]> = texts.iter().map(|_| random.block()).collect();
                if carries {
                    let at = random.below(ivs.len());
                    ivs[at][8..].fill(0xff);
                }
                let mut expected = texts.clone();
                for (i, text) in expected.iter_mut().enumerate() {
                    reference(&keys[key_of(i)], ivs[i], text);
                }
                let messages: Vec<Message<'_, Key>> = texts
                    .iter_mut()
                    .enumerate()
                    .map(|(i, text)| Message {
                        source: text.as_ptr(),
                        target: text.as_mut_ptr(),
                        len: u32::try_from(text.len()).unwrap(),
                        key: &schedules[key_of(i)],
                        iv: &raw const ivs[i],
                    })
                    .collect();
                let mut records = Records::of(&messages).unwrap();
                if shared {
                    records.key_stride = 0;
                }
                // Texts of their own, in place, of whole blocks; keys of one size.
                run(machine, &keys[0], &records);
                assert_eq!(texts, expected, "{count} of {len} bytes, shared: {shared}");
            }
        }
    }
}
