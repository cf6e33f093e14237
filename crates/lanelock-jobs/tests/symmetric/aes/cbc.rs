use lanelock_jobs::per_tier;
use lanelock_jobs::reference::aes::cbc;
use lanelock_kernels::Machine;
use lanelock_kernels::aes::cbc::encrypt_many;
use lanelock_kernels::aes::{EncryptKey, Part};

per_tier!(continues_where_it_left);

fn continues_where_it_left(machine: Machine) {
    let key = EncryptKey::new(machine, &[3; 32]).unwrap();
    let mut whole = [7_u8; 320];
    let mut parts = whole;
    cbc::encrypt(&key, &mut [9; 16], &mut whole);
    let mut iv = [9; 16];
    for part in parts.chunks_mut(112) {
        let (source, target) = (part.as_ptr(), part.as_mut_ptr());
        let mut job = [Part {
            source,
            target,
            len: part.len(),
            more: &[],
            key: &key,
            iv,
        }];
        // SAFETY: in place, on a slice of that length.
        unsafe { encrypt_many(machine, &mut job) };
        iv = job[0].iv;
    }
    assert_eq!(parts, whole);
}
