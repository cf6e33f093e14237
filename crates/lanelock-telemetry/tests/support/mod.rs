//! A device of eight lanes whose signatures are the message.

use lanelock_core::Device;
use lanelock_public_key::engine::ValidKeyOp;
use lanelock_public_key::{
    KeyDevice, KeyDeviceBuilder, KeyJob, KeyKind, KeyReason, KeySession, KeyTransform, Operation,
    SecretKey, SignatureScheme,
};
use lanelock_testkit::KeyLanes;

pub const LANES: usize = 8;

const TOY: KeyLanes = KeyLanes {
    name: "toy",
    lanes: LANES,
    operation: Operation::Sign,
    run,
};

fn run(mut op: ValidKeyOp<'_, '_>) {
    let message = op.input();
    if message == b"fault" {
        return op.fail(KeyReason::Fault);
    }
    op.output()[..message.len()].copy_from_slice(message);
    op.succeed(message.len());
}

/// A device whose queues are observed, and a session of it.
pub fn device() -> (Device, KeySession) {
    let device = Device::builder().engine(TOY.engine());
    let device = device.key_observers(lanelock_telemetry::observer).build();
    let key = SecretKey::raw(KeyKind::Ed25519, &[7; 32]).expect("a key");
    let transform = KeyTransform::sign(SignatureScheme::EdDsa, &key);
    let session = device.key_session(&transform).expect("the toy signs");
    (device, session)
}

/// The name of what the session does.
pub const ALGORITHM: &str = "ed25519-sign";

pub fn job(session: &KeySession, message: &[u8]) -> KeyJob {
    KeyJob::sign(session, message.to_vec(), vec![0; 64])
}
