use super::{Job, Nonce, encrypt_many};
use crate::aes::reference::ccm;
use crate::aes::EncryptKey;
use crate::testing::{Random, per_tier};
use crate::machine::Machine;

per_tier!(hashes_additional_data_of_any_length);

fn hashes_additional_data_of_any_length(machine: Machine) {
    let key = EncryptKey::new(machine, &[1; 16]).unwrap();
    let aad = Random::new(1).bytes(66_000);
    for len in (0..100).chain([65_279, 65_280, 65_281, 65_536, 66_000]) {
        let (aad, nonce, tag_len) = (&aad[..len], &[7; 12], 8);
        let mut data = [9_u8; 33];
        let mut job = [Job {
            source: data.as_ptr(),
            target: data.as_mut_ptr(),
            len: data.len(),
            aad: aad.as_ptr(),
            aad_len: len,
            key: &key,
            nonce: Nonce::new(nonce),
            tag_len,
            tag: [0; 16],
        }];
        // SAFETY: in place, on an array of that length.
        unsafe { encrypt_many(machine, &mut job) };
        let mut expected = [9_u8; 33];
        assert_eq!(
            job[0].tag,
            ccm::encrypt(&key, nonce, tag_len, aad, &mut expected)
        );
        assert_eq!(data, expected);
    }
}
