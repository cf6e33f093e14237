use lanelock_jobs::per_tier;
use lanelock_jobs::reference::aes::siv::siv_encrypt;
use lanelock_jobs::testing::Random;
use lanelock_kernels::Machine;
use lanelock_kernels::aes::BLOCK;
use lanelock_kernels::aes::siv::{Job, Key, encrypt_many};

per_tier!(
    agrees_with_the_published_vectors,
    pieces_give_the_tag_of_the_whole,
);

/// RFC 5297, A.1: deterministic, one component of additional data.
fn agrees_with_the_published_vectors(machine: Machine) {
    let key: Vec<u8> = [
        0xfffe_fdfc_fbfa_f9f8_f7f6_f5f4_f3f2_f1f0_u128.to_be_bytes(),
        0xf0f1_f2f3_f4f5_f6f7_f8f9_fafb_fcfd_feff_u128.to_be_bytes(),
    ]
    .concat();
    let aad: Vec<u8> = (0x10..0x28).collect();
    let mut text = [
        0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee,
    ];
    let key = Key::new(machine, &key).unwrap();
    let mut job = Job::new(&key, aad.as_slice(), None, [0; BLOCK]);
    (job.source, job.target, job.len) = (text.as_ptr(), text.as_mut_ptr(), text.len());
    // SAFETY: in place, on an array of that length.
    unsafe { encrypt_many(machine, core::slice::from_mut(&mut job)) };
    assert_eq!(
        u128::from_be_bytes(job.tag),
        0x8563_2d07_c6e8_f37f_950a_cd32_0a2e_cc93
    );
    let expected = [
        0x40, 0xc0, 0x2b, 0x96, 0x90, 0xc4, 0xdc, 0x04, 0xda, 0xef, 0x7f, 0x6a, 0xfe, 0x5c,
    ];
    assert_eq!(text, expected);
}

fn pieces_give_the_tag_of_the_whole(machine: Machine) {
    let mut random = Random::new(5);
    let bytes = random.bytes(48);
    let key = Key::new(machine, &bytes).unwrap();
    for len in 0..100 {
        let (aad, nonce, text) = (random.bytes(len), random.bytes(9), random.bytes(len));
        let mut stream = key.stream(machine);
        let whole = len.saturating_sub(1) / BLOCK * BLOCK;
        stream.absorb(&aad[..whole]);
        stream.end_aad(&aad[whole..]);
        stream.end_nonce(&nonce);
        let before = len.saturating_sub(BLOCK) / BLOCK * BLOCK;
        stream.absorb(&text[..before]);
        let tag = stream.end_text(&text[before..]);
        assert_eq!(
            tag,
            siv_encrypt(&bytes, &aad, Some(&nonce), [0; BLOCK], &mut text.clone())
        );
    }
}
