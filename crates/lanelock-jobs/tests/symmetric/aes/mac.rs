use lanelock_jobs::per_tier;
use lanelock_jobs::reference::aes::mac;
use lanelock_kernels::Machine;
use lanelock_kernels::aes::EncryptKey;
use lanelock_kernels::aes::mac::{Job, Subkeys, authenticate_many};

per_tier!(continues_cmac);

fn continues_cmac(machine: Machine) {
    let key = EncryptKey::new(machine, &[3; 16]).unwrap();
    let subkeys = Subkeys::new(machine, &key);
    let data: [u8; 150] = core::array::from_fn(|i| i.to_le_bytes()[0]);
    let mut chain = [0; 16];
    for (from, to) in [(0, 16), (16, 112), (112, 150)] {
        let subkeys = (to == 150).then_some(&subkeys);
        let source = data[from..to].as_ptr();
        let mut job = [Job {
            source,
            len: to - from,
            more: &[],
            key: &key,
            subkeys,
            chain,
        }];
        // SAFETY: the source is a slice of that length.
        unsafe { authenticate_many(machine, &mut job) };
        chain = job[0].chain;
    }
    assert_eq!(chain, mac::cmac(&key, &data));
}
