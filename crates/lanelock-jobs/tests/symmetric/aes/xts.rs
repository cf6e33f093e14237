use lanelock_jobs::per_tier;
use lanelock_jobs::reference::aes::xts;
use lanelock_jobs::testing::Random;
use lanelock_kernels::Machine;
use lanelock_kernels::aes::EncryptKey;
use lanelock_kernels::aes::xts::{Job, encrypt_many};

per_tier!(continues_where_it_left);

fn continues_where_it_left(machine: Machine) {
    let [key, tweak_key] = [1, 2].map(|byte| EncryptKey::new(machine, &[byte; 32]).unwrap());
    let mut random = Random::new(5);
    for _ in 0..100 {
        let tweak = random.block();
        let len = 100 + random.below(1000);
        let mut data = random.bytes(len);
        let mut expected = data.clone();
        xts::encrypt(&key, &tweak_key, tweak, &mut expected);
        let (head, tail) = data.split_at_mut(16 * (1 + random.below(len / 16 - 1)));
        let (mut tweak, mut begun) = (tweak, false);
        for part in [head, tail] {
            let (source, target, len) = (part.as_ptr(), part.as_mut_ptr(), part.len());
            let (key, tweak_key) = (&key, &tweak_key);
            let mut job = [Job {
                source,
                target,
                len,
                key,
                tweak_key,
                tweak,
                begun,
            }];
            // SAFETY: in place, on a slice of that length.
            unsafe { encrypt_many(machine, &mut job) };
            (tweak, begun) = (job[0].tweak, job[0].begun);
        }
        assert_eq!(data, expected);
    }
}
