//! Containers of every kind are read, and none makes its reader work for long.

use lanelock_core::{Cipher, Transform};
use lanelock_public_key::{KeyDevice, KeyError, SecretKey};
use openssl::pkey::PKey;

use super::device;

const KEY: &[u8] = include_bytes!("containers/key.pem");

/// One value of DER.
fn der(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let value = parts.concat();
    let mut out = vec![tag];
    match value.len() {
        len @ ..128 => out.push(u8::try_from(len).unwrap()),
        len => {
            let len = u32::try_from(len).unwrap().to_be_bytes();
            let digits = &len[len.iter().position(|&byte| byte != 0).unwrap()..];
            out.push(0x80 | u8::try_from(digits.len()).unwrap());
            out.extend_from_slice(digits);
        }
    }
    [out, value].concat()
}

fn sequence(parts: &[&[u8]]) -> Vec<u8> {
    der(0x30, parts)
}

fn octets(value: &[u8]) -> Vec<u8> {
    der(4, &[value])
}

fn integer(number: u64) -> Vec<u8> {
    let bytes = number.to_be_bytes();
    let start = bytes.iter().position(|&byte| byte != 0).unwrap_or(7);
    let sign: &[u8] = if bytes[start] < 0x80 { &[] } else { &[0] };
    der(2, &[sign, &bytes[start..]])
}

const PKCS5: [u8; 8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x05];
const AES_128_CBC: [u8; 9] = [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x01, 0x02];
const SCRYPT: [u8; 9] = [0x2b, 0x06, 0x01, 0x04, 0x01, 0xda, 0x47, 0x04, 0x0b];
const UNASSIGNED: [u8; 3] = [0x2a, 0x03, 0x04];
const DSA: [u8; 7] = [0x2a, 0x86, 0x48, 0xce, 0x38, 0x04, 0x01];
const DH: [u8; 9] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x03, 0x01];

fn object(parts: &[&[u8]]) -> Vec<u8> {
    der(6, parts)
}

/// An encrypted key whose key is derived by `function` with these numbers.
fn pbes2(function: &[u8], numbers: &[u64]) -> Vec<u8> {
    let numbers = numbers.iter().map(|&n| integer(n)).collect::<Vec<_>>();
    let parameters = sequence(&[&octets(&[1; 8]), &numbers.concat()]);
    let function = sequence(&[&object(&[function]), &parameters]);
    let cipher = sequence(&[&object(&[&AES_128_CBC]), &octets(&[2; 16])]);
    let parameters = sequence(&[&function, &cipher]);
    let algorithm = sequence(&[&object(&[&PKCS5, &[13]]), &parameters]);
    sequence(&[&algorithm, &octets(&[3; 64])])
}

/// As [`pbes2`] does, with SHA-1 and DES of version 1.5.
fn pbes1(iterations: u64) -> Vec<u8> {
    let parameters = sequence(&[&octets(&[1; 8]), &integer(iterations)]);
    let algorithm = sequence(&[&object(&[&PKCS5, &[10]]), &parameters]);
    sequence(&[&algorithm, &octets(&[3; 64])])
}

fn pem(label: &str, der: &[u8]) -> Vec<u8> {
    let digits = openssl::base64::encode_block(der);
    let lines = digits.as_bytes().chunks(64);
    let body = lines.map(|line| [line, b"\n"].concat()).collect::<Vec<_>>();
    let [begin, end] = ["BEGIN", "END"].map(|word| format!("-----{word} {label}-----\n"));
    [begin.as_bytes(), &body.concat(), end.as_bytes()].concat()
}

fn refusal(result: Result<SecretKey, KeyError>) -> String {
    match result {
        Err(KeyError::Container { why }) => why,
        other => panic!("{other:?}"),
    }
}

/// The first would take minutes, the others longer: whoever runs them does not end.
#[test]
fn what_takes_too_long_to_open_is_not_tried() {
    let device = device();
    let pbkdf2 = [&PKCS5[..], &[12]].concat();
    let too_long = [
        (pbes2(&pbkdf2, &[(1 << 31) - 1]), "2147483647 iterations"),
        (pbes2(&pbkdf2, &[10_000_001]), "10000001 iterations"),
        (pbes2(&pbkdf2, &[u64::MAX]), "iterations"),
        (pbes1((1 << 31) - 1), "2147483647 iterations"),
        (
            pbes2(&SCRYPT, &[1 << 14, 8, 17]),
            "N = 16384, r = 8, p = 17",
        ),
        (pbes2(&SCRYPT, &[2, 1, 1 << 30]), "p = 1073741824"),
        (pbes2(&SCRYPT, &[1 << 63, 1 << 63, 2]), "scrypt"),
        (pbes2(&UNASSIGNED, &[1]), "1.2.3.4"),
    ];
    for (key, why) in &too_long {
        for container in [
            key.clone(),
            pem("ENCRYPTED PRIVATE KEY", key),
            pem("PRIVATE KEY", key),
        ] {
            let said = refusal(device.read_secret_key(&container, Some(b"open")));
            assert!(said.contains(why), "{said}");
            device.read_secret_key(&container, None).unwrap_err();
            device.read_public_key(&container).unwrap_err();
        }
    }
    // What is just allowed is tried.
    for key in [pbes2(&pbkdf2, &[1000]), pbes2(&SCRYPT, &[1 << 14, 8, 1])] {
        let said = refusal(device.read_secret_key(&key, Some(b"open")));
        assert!(said.contains("cannot be decrypted"), "{said}");
    }
}

#[test]
fn an_encrypted_key_without_a_passphrase_asks_for_one() {
    let device = device();
    let containers = [
        &include_bytes!("containers/scrypt.pem")[..],
        include_bytes!("containers/pkcs12-3des.pem"),
        include_bytes!("containers/ec-parameters-and-dek-info.pem"),
        &pbes2(&[&PKCS5[..], &[12]].concat(), &[10_000_000]),
    ];
    for container in containers {
        let said = refusal(device.read_secret_key(container, None));
        assert!(said.contains("a passphrase is needed"), "{said}");
        device.read_public_key(container).unwrap_err();
    }
}

#[test]
fn older_and_newer_encryptions_are_opened() {
    let device = device();
    let expected = PKey::private_key_from_pem(KEY).unwrap().raw_private_key();
    let single_des = device.session(Transform::encrypt(Cipher::DesCbc, &[0x31; 8]));
    let containers = [
        (&include_bytes!("containers/scrypt.pem")[..], true),
        (include_bytes!("containers/pkcs12-3des.pem"), true),
        (
            include_bytes!("containers/pbes1-des.pem"),
            single_des.is_ok(),
        ),
        (
            include_bytes!("containers/pbes2-des.pem"),
            single_des.is_ok(),
        ),
    ];
    for (container, served) in containers {
        let read = device.read_secret_key(container, Some(b"open"));
        if !served {
            println!("without single DES: no legacy provider is installed");
            refusal(read);
            continue;
        }
        let read = read.unwrap();
        let lanelock_public_key::SecretParts::Raw(bytes) = read.parts() else {
            panic!("{read:?}")
        };
        assert_eq!(**bytes, *expected.as_ref().unwrap());
        let said = refusal(device.read_secret_key(container, Some(b"shut")));
        assert!(said.contains("cannot be decrypted"), "{said}");
    }
    let ec = include_bytes!("containers/ec-parameters-and-dek-info.pem");
    device.read_secret_key(ec, Some(b"open")).unwrap();
    refusal(device.read_secret_key(ec, Some(b"shut")));
}

#[test]
fn what_surrounds_a_key_is_passed_over() {
    let device = device();
    let text = [b"0000 notes\n", KEY, b"more\n"].concat();
    device.read_secret_key(&text, None).unwrap();
    let key = PKey::private_key_from_pem(KEY).unwrap();
    let public = key.public_key_to_pem().unwrap();
    let both = [KEY, &public].concat();
    device.read_secret_key(&both, None).unwrap();
    device.read_public_key(&both).unwrap();
    let with_line_end = [key.private_key_to_pkcs8().unwrap(), b"\n".to_vec()].concat();
    device.read_secret_key(&with_line_end, None).unwrap();
    let said = refusal(device.read_secret_key(&public, None));
    assert!(
        said.contains("no secret key found, only PUBLIC KEY"),
        "{said}"
    );
}

/// libcrypto computes g to the secret exponent as it reads these.
#[test]
fn groups_that_take_too_long_to_calculate_in_are_refused() {
    let device = device();
    let number = |len: usize| der(2, &[&[0x7f], &vec![0xff; len - 1]]);
    for (algorithm, parts) in [(&DSA[..], 3), (&DH[..], 2)] {
        for (group, exponent) in [(1251, 20), (256, 1251), (15_000, 15_000)] {
            let group = vec![number(group); parts].concat();
            let algorithm = sequence(&[&object(&[algorithm]), &sequence(&[&group])]);
            let key = sequence(&[&integer(0), &algorithm, &octets(&number(exponent))]);
            let said = refusal(device.read_secret_key(&key, None));
            assert!(said.contains("at most 1250"), "{said}");
        }
    }
}

#[test]
fn containers_have_a_size() {
    let device = device();
    let said = refusal(device.read_secret_key(&vec![b'\n'; (1 << 20) + 1], None));
    assert!(said.contains("1048577 bytes; at most 1048576"), "{said}");
    let key = sequence(&[&integer(0), &octets(&vec![1; 1 << 16])]);
    let said = refusal(device.read_secret_key(&key, None));
    assert!(said.contains("at most 65536"), "{said}");
}
