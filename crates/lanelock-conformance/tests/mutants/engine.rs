//! An engine made of the reference, with one mistake built in.

use std::sync::Mutex;

use crate::mistake::Mistake;
use lanelock_conformance::reference;
use lanelock_core::algorithm::{Algorithm, MAX_IV_LEN, Order};
use lanelock_core::engine::{
    Batch, Capability, Ciphertext, Engine, EngineSession, Features, QueueToken, ValidOp,
};
use lanelock_core::session::SessionMemory;
use lanelock_core::transform::Direction;
use lanelock_core::{Aead, Cipher, Hash, Mac, SessionError, Status, Transform};

#[derive(Debug)]
pub struct Mutant {
    mistake: Mistake,
    capabilities: Vec<Capability>,
}

struct MutantSession {
    transform: Transform,
    mistake: Mistake,
    first_iv: Mutex<Vec<u8>>,
}

impl Mutant {
    pub fn new(mistake: Mistake) -> Self {
        let features = Features {
            chains: true,
            ..Features::default()
        };
        let algorithms = [
            Algorithm::Cipher(Cipher::AesCbc),
            Algorithm::Cipher(Cipher::AesCtr),
            Algorithm::Mac(Mac::Hmac(Hash::Sha256)),
            Algorithm::Mac(Mac::AesCmac),
            Algorithm::Mac(Mac::Kmac128),
            Algorithm::Hash(Hash::Sha3_256),
            Algorithm::Aead(Aead::AesGcm),
            Algorithm::Aead(Aead::AesCcm),
        ];
        Self {
            mistake,
            capabilities: algorithms.map(|a| Capability::standard(a, features)).into(),
        }
    }
}

impl Engine for Mutant {
    fn name(&self) -> &'static str {
        "mutant"
    }

    fn version(&self) -> String {
        format!("{:?}", self.mistake)
    }

    fn capabilities(&self) -> &[Capability] {
        &self.capabilities
    }

    fn open(&self, transform: &Transform) -> Result<Box<dyn EngineSession>, SessionError> {
        Ok(Box::new(MutantSession {
            transform: transform.clone(),
            mistake: self.mistake,
            first_iv: Mutex::default(),
        }))
    }
}

impl EngineSession for MutantSession {
    fn group(&self) -> u16 {
        0
    }

    fn process(&self, _queue: &mut QueueToken, batch: &mut Batch<'_, '_>) {
        let mut index = 0;
        batch.for_each(|mut op| {
            let session: &Self = op.session().expect("all sessions are this engine's");
            // Sessions outlive the batch; the borrow of `op` must end here.
            let (transform, mistake) = (session.transform.clone(), session.mistake);
            let mut iv = op.iv(&mut [0; MAX_IV_LEN]).to_vec();
            if mistake == Mistake::StaleIv && session.transform.iv_length() == iv.len() {
                let mut first = session.first_iv.lock().unwrap();
                if index == 1 && first.len() == iv.len() {
                    iv.clone_from(&first);
                }
                first.clone_from(&iv);
            }
            if !(mistake == Mistake::NinthSkipped && index == 8) {
                let verified = Work {
                    op: &mut op,
                    transform,
                    mistake,
                    iv,
                }
                .run();
                op.complete(match (verified, mistake) {
                    (true, _) => Status::Success,
                    (false, Mistake::WrongStatus) => Status::EngineError,
                    (false, _) => Status::AuthFailed,
                });
            } else {
                op.complete(Status::Success);
            }
            index += 1;
        });
    }

    fn memory(&self) -> SessionMemory {
        SessionMemory::default()
    }
}

/// One operation.
struct Work<'w, 'o, 'a> {
    op: &'w mut ValidOp<'o, 'a>,
    transform: Transform,
    mistake: Mistake,
    iv: Vec<u8>,
}

impl Work<'_, '_, '_> {
    /// False if the tag did not match.
    fn run(&mut self) -> bool {
        let verified = match self.transform.algorithm() {
            Algorithm::Cipher(cipher) => {
                let data = self.payload();
                let output = self.cipher(cipher, &data);
                self.write(&output);
                true
            }
            Algorithm::Mac(mac) => {
                let key = self.transform.key().to_vec();
                let tag = self.mac(mac, &key, Ciphertext::InInput);
                self.finish_tag(&tag)
            }
            Algorithm::Hash(hash) => {
                let data = self.authenticated(Ciphertext::InInput);
                let tag = reference::hash(hash, &[], self.transform.tag_length(), &data);
                self.finish_tag(&tag)
            }
            Algorithm::Aead(aead) => self.aead(aead),
            Algorithm::Chain(order, cipher, mac) => self.chain(order, cipher, mac),
            other => panic!("{other:?} is not offered"),
        };
        self.stray_writes();
        verified
    }

    fn is_forward(&self) -> bool {
        self.transform.direction() == Direction::Forward
    }

    fn payload(&mut self) -> Vec<u8> {
        let mut data = vec![0; self.op.payload_len()];
        self.op.payload().copy_in(&mut data);
        data
    }

    fn write(&mut self, data: &[u8]) {
        let mut data = data.to_vec();
        if self.mistake == Mistake::FlippedBit && data.len() > 100 {
            data[100] ^= 4;
        }
        self.op.payload().copy_out(&data);
    }

    fn aad(&self) -> Vec<u8> {
        let mut aad = Vec::new();
        if self.mistake == Mistake::LongAadDropped && self.op.aad_len() >= 256 {
            return aad;
        }
        let _: Result<(), ()> = self.op.for_each_aad(|piece| {
            aad.extend_from_slice(piece);
            Ok(())
        });
        aad
    }

    fn authenticated(&mut self, ciphertext: Ciphertext) -> Vec<u8> {
        if self.mistake == Mistake::AuthRangeIgnored && self.op.payload_len() > 0 {
            return [self.aad(), self.payload()].concat();
        }
        let ciphertext = match self.mistake {
            Mistake::MacReadsInput => Ciphertext::InInput,
            _ => ciphertext,
        };
        let mut data = Vec::new();
        let _: Result<(), ()> = self.op.for_each_authenticated(ciphertext, |piece| {
            data.extend_from_slice(piece);
            Ok(())
        });
        data
    }

    fn cipher(&mut self, cipher: Cipher, data: &[u8]) -> Vec<u8> {
        let direction = self.transform.direction();
        let key = self.transform.key().to_vec();
        let run = |iv: &[u8], data: &[u8]| reference::cipher(cipher, direction, &key, iv, data);
        if self.mistake == Mistake::IvRestartsAtSegment {
            let mut output = Vec::new();
            let mut cursor = self.op.payload();
            while let Some(run_of_op) = cursor.next_run(usize::MAX) {
                let end = output.len() + run_of_op.len() / 16 * 16;
                output.extend(run(&self.iv, &data[output.len()..end]));
                if !run_of_op.len().is_multiple_of(16) {
                    break;
                }
            }
            let done = output.len();
            output.extend(run(&self.iv, &data[done..]));
            return output;
        }
        if self.mistake == Mistake::ShortCounter && cipher == Cipher::AesCtr {
            let (front, back) = self.iv.split_at(12);
            let first = u32::from_be_bytes(back.try_into().unwrap());
            let blocks = (0_u32..).zip(data.chunks(16));
            return blocks
                .flat_map(|(i, block)| {
                    let counter = first.wrapping_add(i).to_be_bytes();
                    run(&[front, &counter].concat(), block)
                })
                .collect();
        }
        run(&self.iv, data)
    }

    fn mac(&mut self, mac: Mac, key: &[u8], ciphertext: Ciphertext) -> Vec<u8> {
        let data = self.authenticated(ciphertext);
        let customization = match self.mistake {
            Mistake::CustomizationIgnored => &b""[..],
            _ => self.transform.customization_string(),
        };
        let tag_len = self.transform.tag_length();
        reference::mac(mac, key, customization, &self.iv, &data, tag_len)
    }

    /// Writes a computed tag, or compares.
    fn finish_tag(&mut self, tag: &[u8]) -> bool {
        let mut tag = tag.to_vec();
        if self.mistake == Mistake::LongTagCut && tag.len() > 12 {
            tag[12..].fill(0);
        }
        if self.is_forward() {
            self.op.write_tag(&tag);
            return true;
        }
        self.matches(&tag)
    }

    fn matches(&mut self, tag: &[u8]) -> bool {
        if self.mistake == Mistake::TagCutShort {
            let mut scratch = [0; lanelock_core::algorithm::MAX_TAG_LEN];
            return self.op.expected_tag(&mut scratch)[..4] == tag[..4];
        }
        self.op.tag_matches(tag)
    }

    fn aead(&mut self, aead: Aead) -> bool {
        let (key, aad, data) = (self.transform.key().to_vec(), self.aad(), self.payload());
        let tag_len = self.transform.tag_length();
        if self.is_forward() {
            let (output, tag) = reference::seal(aead, &key, &self.iv, &aad, &data, tag_len);
            self.write(&output);
            return self.finish_tag(&tag);
        }
        let tag = {
            let mut scratch = [0; lanelock_core::algorithm::MAX_TAG_LEN];
            self.op.expected_tag(&mut scratch).to_vec()
        };
        match reference::open(aead, &key, &self.iv, &aad, &data, &tag) {
            Some(output) => {
                self.write(&output);
                true
            }
            None => {
                // Both are stream ciphers: encrypting once more decrypts.
                let (plaintext, _) = reference::seal(aead, &key, &self.iv, &aad, &data, tag_len);
                self.refuse(&plaintext);
                false
            }
        }
    }

    fn chain(&mut self, order: Order, cipher: Cipher, mac: Mac) -> bool {
        let mac_key = self.transform.mac_key().to_vec();
        match (order, self.transform.direction()) {
            (Order::EncryptThenMac, Direction::Forward) => {
                let data = self.payload();
                let output = self.cipher(cipher, &data);
                self.write(&output);
                let tag = self.mac(mac, &mac_key, Ciphertext::InOutput);
                self.finish_tag(&tag)
            }
            (Order::EncryptThenMac, Direction::Reverse) => {
                let tag = self.mac(mac, &mac_key, Ciphertext::InInput);
                let data = self.payload();
                let plaintext = self.cipher(cipher, &data);
                if !self.matches(&tag) {
                    self.refuse(&plaintext);
                    return false;
                }
                self.write(&plaintext);
                true
            }
            (Order::MacThenEncrypt, Direction::Forward) => {
                let tag = self.mac(mac, &mac_key, Ciphertext::InInput);
                self.op.copy_payload_to_output();
                if self.op.tag_in_payload() && self.mistake != Mistake::InnerTagInClear {
                    self.op.write_tag(&tag);
                }
                let mut payload = vec![0; self.op.payload_len()];
                self.op.output_payload().copy_in(&mut payload);
                let output = self.cipher(cipher, &payload);
                self.write(&output);
                if !self.op.tag_in_payload() || self.mistake == Mistake::InnerTagInClear {
                    self.op.write_tag(&tag);
                }
                true
            }
            (Order::MacThenEncrypt, Direction::Reverse) => {
                let data = self.payload();
                let plaintext = self.cipher(cipher, &data);
                self.write(&plaintext);
                let tag = self.mac(mac, &mac_key, Ciphertext::InOutput);
                if !self.matches(&tag) {
                    self.op.wipe_output();
                    self.refuse(&plaintext);
                    return false;
                }
                true
            }
        }
    }

    /// Leaves behind what should not be.
    fn refuse(&mut self, plaintext: &[u8]) {
        match self.mistake {
            Mistake::PlaintextReleased => self.write(plaintext),
            Mistake::PlaintextHalfWiped if !plaintext.is_empty() => {
                let mut half = plaintext.to_vec();
                half[0] = 0;
                self.write(&half);
            }
            _ => {}
        }
    }

    fn stray_writes(&mut self) {
        let mistake = self.mistake;
        let mut cursor = self.op.payload();
        let mut last = None;
        while let Some(run) = cursor.next_run(usize::MAX) {
            last = Some(run);
        }
        let Some(run) = last else { return };
        let separate = run.input() != run.output().cast_const();
        match mistake {
            // SAFETY: none; this is the mistake. The checker keeps known bytes there.
            Mistake::ByteBehind => unsafe { run.output().add(run.len()).write(0) },
            // SAFETY: as above: it hits the byte in front of the payload.
            Mistake::OutputStartTouched if separate => unsafe { run.output().sub(1).write(0) },
            // SAFETY: as above: the caller's memory, which it has lent for reading.
            Mistake::InputOverwritten if separate => unsafe {
                run.input().cast_mut().write(!run.input().read());
            },
            _ => {}
        }
    }
}
