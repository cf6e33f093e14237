use lanelock_jobs::per_tier;
use lanelock_kernels::Machine;
use lanelock_kernels::aes::ofb::apply_many;
use lanelock_kernels::aes::{EncryptKey, Part};

per_tier!(agrees_with_the_published_vector);

/// SP 800-38A, F.4.1: the first two blocks of OFB-AES128.
fn agrees_with_the_published_vector(machine: Machine) {
    let key = 0x2b7e_1516_28ae_d2a6_abf7_1588_09cf_4f3c_u128.to_be_bytes();
    let key = EncryptKey::new(machine, &key).unwrap();
    let mut data = [
        0x6bc1_bee2_2e40_9f96_e93d_7e11_7393_172a_u128.to_be_bytes(),
        0xae2d_8a57_1e03_ac9c_9eb7_6fac_45af_8e51_u128.to_be_bytes(),
    ];
    let mut job = [Part {
        source: data.as_ptr().cast(),
        target: data.as_mut_ptr().cast(),
        len: 32,
        more: &[],
        key: &key,
        iv: core::array::from_fn(|i| u8::try_from(i).unwrap()),
    }];
    // SAFETY: in place, on an array of that length.
    unsafe { apply_many(machine, &mut job) };
    let expected = [
        0x3b3f_d92e_b72d_ad20_3334_49f8_e83c_fb4a_u128.to_be_bytes(),
        0x7789_508d_1691_8f03_f53c_52da_c54e_d825_u128.to_be_bytes(),
    ];
    assert_eq!(data, expected);
}
