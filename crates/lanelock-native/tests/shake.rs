//! Digests of extendable functions that lie in the message's own memory, in one piece or across
//! segments: as OpenSSL writes them.

#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use std::io::IoSliceMut;

use lanelock_core::{Buffer, Device, Hash, Op, Session, Status, Transform};
use lanelock_native::{Native, Tier};
use lanelock_openssl::OpenSsl;

/// Bytes of a message's memory.
const MEMORY: usize = 1000;

/// Bytes of it that are hashed, from the start.
const MESSAGE: usize = 300;

/// Hashes one burst, message `i` in segments of `steps[i]` with its digest at `places[i]`, and
/// returns what the memory then holds.
fn run(session: &Session, device: &Device, steps: &[usize], places: &[usize]) -> Vec<Vec<u8>> {
    let mut memory: Vec<Vec<u8>> = (0..steps.len())
        .map(|i| {
            (0..MEMORY)
                .map(|j| (i * 31 + j * 7).to_le_bytes()[0])
                .collect()
        })
        .collect();
    let mut segments: Vec<Vec<_>> = memory
        .iter_mut()
        .zip(steps)
        .map(|(memory, &step)| memory.chunks_mut(step).map(IoSliceMut::new).collect())
        .collect();
    let mut ops: Vec<_> = segments
        .iter_mut()
        .zip(places)
        .map(|(segments, &place)| {
            Op::new(session, Buffer::in_place(&mut segments[..]))
                .auth_range(0..MESSAGE)
                .tag_at(place)
        })
        .collect();
    let _counted_below = device.queue_pair(1).process(&mut ops);
    for op in &ops {
        assert_eq!(op.status(), Status::Success, "{:?}", op.error());
    }
    drop(ops);
    memory
}

#[test]
fn digests_inside_a_messages_memory() {
    let (steps, places) = (
        [
            MEMORY, 61, MEMORY, 1, 299, 150, MEMORY, 301, 13, MEMORY, MEMORY, 500,
        ],
        [300, 300, 310, 450, 499, 500, 300, 300, 301, 333, 500, 450],
    );
    for tier in Tier::available() {
        let device = Device::builder()
            .engine(Native::with_tier(tier).unwrap())
            .engine(OpenSsl::new().unwrap())
            .build();
        for (hash, len, customization) in [
            (Hash::Shake128, 500, &b""[..]),
            (Hash::Shake256, 136, b""),
            (Hash::Shake256, 1, b""),
            (Hash::CShake128, 500, b"a customization string"),
            (Hash::CShake256, 137, b"another"),
            (Hash::CShake256, 64, b""),
        ] {
            let transform = Transform::hash(hash).tag_len(len);
            let transform = transform.customization(customization);
            let session = |engine| device.session_on(engine, transform.clone());
            let Ok(native) = session("native") else {
                assert_eq!(tier, Tier::AesNi);
                continue;
            };
            let openssl = session("openssl").unwrap();
            for count in [1, 2, steps.len()] {
                for from in 0..=steps.len() - count {
                    let range = from..from + count;
                    let [found, expected] = [&native, &openssl].map(|session| {
                        run(
                            session,
                            &device,
                            &steps[range.clone()],
                            &places[range.clone()],
                        )
                    });
                    assert!(found == expected, "{tier:?}, {hash:?}, {count} from {from}");
                }
            }
        }
    }
}
