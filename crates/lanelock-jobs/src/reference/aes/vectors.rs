//! The modes of the reference against published examples.

use lanelock_kernels::aes::EncryptKey;

use super::{cbc, ccm, ctr, encrypt_block, gcm, mac, xts};

/// SP 800-38A, appendix F: AES-128, first four blocks of every mode.
#[test]
fn modes_of_sp_800_38a() {
    let key = key("2b7e151628aed2a6abf7158809cf4f3c");
    let plaintext = hex(PLAINTEXT);
    let ecb = encrypt_block(&key, plaintext[..16].try_into().unwrap());
    assert_eq!(ecb.to_vec(), hex("3ad77bb40d7a3660a89ecaf32466ef97"));

    let mut data = plaintext.clone();
    let mut iv = block("000102030405060708090a0b0c0d0e0f");
    cbc::encrypt(&key, &mut iv, &mut data);
    let ciphertext = "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2\
                      73bed6b8e3c1743b7116e69e222295163ff1caa1681fac09120eca307586e1a7";
    assert_eq!(data, hex(ciphertext));
    cbc::decrypt(
        &key,
        &mut block("000102030405060708090a0b0c0d0e0f"),
        &mut data,
    );
    assert_eq!(data, plaintext);

    ctr::apply(&key, block("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"), &mut data);
    let ciphertext = "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff\
                      5ae4df3edbd5d35e5b4f09020db03eab1e031dda2fbe03d1792170a0f3009cee";
    assert_eq!(data, hex(ciphertext));
}

/// SP 800-38B, appendix D: AES-128.
#[test]
fn cmac_of_sp_800_38b() {
    let key = key("2b7e151628aed2a6abf7158809cf4f3c");
    let message = hex(PLAINTEXT);
    for (len, tag) in [
        (0, "bb1d6929e95937287fa37d129b756746"),
        (16, "070a16b46b4d4144f79bdd9dd04a287c"),
        (40, "dfa66747de9ae63030ca32611497c827"),
        (64, "51f0bebf7e3b9d92fc49741779363cfe"),
    ] {
        assert_eq!(mac::cmac(&key, &message[..len]), block(tag));
    }
}

/// D. McGrew and J. Viega's GCM specification, test cases 2, 4 and 6.
#[test]
fn gcm_of_its_specification() {
    let zero = key("00000000000000000000000000000000");
    let mut data = [0; 16];
    let tag = gcm::encrypt(&zero, gcm::j0(&zero, &[0; 12]), &[], &mut data);
    assert_eq!(data, block("0388dace60b6a392f328c2b971b2fe78"));
    assert_eq!(tag, block("ab6e47d42cec13bdf53a67b21257bddf"));

    let key = key("feffe9928665731c6d6a8f9467308308");
    let plaintext = hex(
        "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72\
         1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
    );
    let aad = hex("feedfacedeadbeeffeedfacedeadbeefabaddad2");
    let mut data = plaintext.clone();
    let j0 = gcm::j0(&key, &hex("cafebabefacedbaddecaf888"));
    let tag = gcm::encrypt(&key, j0, &aad, &mut data);
    assert_eq!(data[..16], block("42831ec2217774244b7221b784d0d49c"));
    assert_eq!(tag, block("5bc94fbc3221a5db94fae95ae7121a47"));
    assert_eq!(gcm::decrypt(&key, j0, &aad, &mut data), tag);
    assert_eq!(data, plaintext);

    let long_iv = hex(
        "9313225df88406e555909c5aff5269aa6a7a9538534f7da1e4c303d2a318a728\
         c3c0c95156809539fcf0e2429a6b525416aedbf5a0de6a57a637b39b",
    );
    let tag = gcm::encrypt(&key, gcm::j0(&key, &long_iv), &aad, &mut data);
    assert_eq!(tag, block("619cc5aefffe0bfa462af43c1699d050"));
}

/// IEEE 1619, vectors 1 and 15 (ciphertext stealing).
#[test]
fn xts_of_ieee_1619() {
    let zero = key("00000000000000000000000000000000");
    let mut data = [0; 32];
    xts::encrypt(&zero, &zero, [0; 16], &mut data);
    let ciphertext = "917cf69ebd68b2ec9b9fe9a3eadda692cd43d2f59598ed858c02c2652fbf922e";
    assert_eq!(data.to_vec(), hex(ciphertext));

    let keys = [
        "fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0",
        "bfbebdbcbbbab9b8b7b6b5b4b3b2b1b0",
    ]
    .map(key);
    let tweak = block("9a785634120000000000000000000000");
    let plaintext = hex("000102030405060708090a0b0c0d0e0f10");
    let mut data = plaintext.clone();
    xts::encrypt(&keys[0], &keys[1], tweak, &mut data);
    assert_eq!(data, hex("6c1625db4671522d3d7599601de7ca09ed"));
    xts::decrypt(&keys[0], &keys[1], tweak, &mut data);
    assert_eq!(data, plaintext);
}

/// SP 800-38C, appendix C, examples 1 to 3.
#[test]
fn ccm_of_sp_800_38c() {
    let key = key("404142434445464748494a4b4c4d4e4f");
    let sequence = |first: u8, len: u8| (first..first + len).collect::<Vec<_>>();
    for (nonce, aad, text, ciphertext, tag) in [
        (7, 8, 4, "7162015b", "4dac255d"),
        (
            8,
            16,
            16,
            "d2a1f0e051ea5f62081a7792073d593d",
            "1fc64fbfaccd",
        ),
        (
            12,
            20,
            24,
            "e3b201a9f5b71a7a9b1ceaeccd97e70b6176aad9a4428aa5",
            "484392fbc1b09951",
        ),
    ] {
        let mut data = sequence(0x20, text);
        let (nonce, aad, tag) = (sequence(0x10, nonce), sequence(0, aad), hex(tag));
        let computed = ccm::encrypt(&key, &nonce, tag.len(), &aad, &mut data);
        assert_eq!(data, hex(ciphertext));
        assert_eq!(computed[..tag.len()], tag);
        assert_eq!(
            ccm::decrypt(&key, &nonce, tag.len(), &aad, &mut data),
            computed
        );
        assert_eq!(data, sequence(0x20, text));
    }
}

const PLAINTEXT: &str = "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51\
                         30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710";

fn key(digits: &str) -> EncryptKey {
    EncryptKey::portable(&hex(digits)).unwrap()
}

fn block(digits: &str) -> [u8; 16] {
    hex(digits).try_into().unwrap()
}

fn hex(digits: &str) -> Vec<u8> {
    let pairs = digits.as_bytes().chunks(2);
    pairs
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}
