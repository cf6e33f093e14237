use lanelock_jobs::per_tier;
use lanelock_kernels::Machine;
use lanelock_kernels::aes::cfb::encrypt_many;
use lanelock_kernels::aes::{EncryptKey, Part};

per_tier!(agrees_with_the_published_vector);

/// SP 800-38A, F.3.13: the first two blocks of CFB128-AES128.
fn agrees_with_the_published_vector(machine: Machine) {
    let key = 0x2b7e_1516_28ae_d2a6_abf7_1588_09cf_4f3c_u128.to_be_bytes();
    let key = EncryptKey::new(machine, &key).unwrap();
    let plain = [
        0x6bc1_bee2_2e40_9f96_e93d_7e11_7393_172a_u128.to_be_bytes(),
        0xae2d_8a57_1e03_ac9c_9eb7_6fac_45af_8e51_u128.to_be_bytes(),
    ];
    let expected = [
        0x3b3f_d92e_b72d_ad20_3334_49f8_e83c_fb4a_u128.to_be_bytes(),
        0xc8a6_4537_a0b3_a93f_cde3_cdad_9f1c_e58b_u128.to_be_bytes(),
    ];
    for count in [1, 2, 5, 40] {
        let mut data = vec![plain; count];
        let mut jobs: Vec<_> = data
            .iter_mut()
            .map(|data| Part {
                source: data.as_ptr().cast(),
                target: data.as_mut_ptr().cast(),
                len: 32,
                more: &[],
                key: &key,
                iv: core::array::from_fn(|i| u8::try_from(i).unwrap()),
            })
            .collect();
        // SAFETY: in place, on arrays of that length.
        unsafe { encrypt_many(machine, &mut jobs) };
        assert_eq!(data, vec![expected; count]);
    }
}
