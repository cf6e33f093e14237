//! An engine that leaks on purpose, and the same one without the leak: what the measurement has to
//! tell apart before its verdicts mean anything.

use std::hint::black_box;

use lanelock::algorithm::{MAX_TAG_LEN, Spec};
use lanelock::engine::{Batch, Capability, Engine, EngineSession, Features, QueueToken};
use lanelock::session::SessionMemory;
use lanelock::{Algorithm, Device, Hash, Mac, SessionError, Status, Transform};

/// Compares tags with zeros, whatever the message: only for the canary's device.
pub(super) struct Canary {
    leaks: bool,
    capabilities: [Capability; 1],
}

impl Canary {
    /// A device with nothing else.
    pub(super) fn device(leaks: bool) -> Device {
        let mac = Algorithm::Mac(Mac::Hmac(Hash::Sha256));
        let capabilities = [Capability::standard(mac, Features::default())];
        let canary = Self {
            leaks,
            capabilities,
        };
        Device::builder().engine(canary).build()
    }

    /// What it claims to be.
    pub(super) fn spec() -> Spec {
        Spec {
            algorithm: Algorithm::Mac(Mac::Hmac(Hash::Sha256)),
            key_len: 32,
            mac_key_len: 0,
        }
    }

    /// Its name in reports.
    pub(super) fn what(leaks: bool) -> &'static str {
        if leaks {
            "a tag comparison that ends early"
        } else {
            "a tag comparison in constant time"
        }
    }
}

/// Whether the comparison stops at the first difference.
struct Comparison {
    ends_early: bool,
}

impl Engine for Canary {
    fn name(&self) -> &'static str {
        "canary"
    }

    fn version(&self) -> String {
        Self::what(self.leaks).to_owned()
    }

    fn capabilities(&self) -> &[Capability] {
        &self.capabilities
    }

    fn open(&self, _: &Transform) -> Result<Box<dyn EngineSession>, SessionError> {
        Ok(Box::new(Comparison {
            ends_early: self.leaks,
        }))
    }
}

impl EngineSession for Comparison {
    fn group(&self) -> u16 {
        0
    }

    fn process(&self, _: &mut QueueToken, batch: &mut Batch<'_, '_>) {
        let zeros = black_box([0; MAX_TAG_LEN]);
        batch.for_each(|mut op| {
            if op.direction() == lanelock::transform::Direction::Forward {
                op.write_tag(&zeros);
                return op.complete(Status::Success);
            }
            let mut scratch = [0; MAX_TAG_LEN];
            let tag = op.expected_tag(&mut scratch);
            let same = if self.ends_early {
                ends_early(tag, &zeros)
            } else {
                op.tag_matches(&zeros)
            };
            op.complete(match same {
                true => Status::Success,
                false => Status::AuthFailed,
            });
        });
    }

    fn memory(&self) -> SessionMemory {
        SessionMemory::default()
    }
}

#[inline(never)]
fn ends_early(a: &[u8], b: &[u8]) -> bool {
    a.iter().zip(b).all(|(a, b)| black_box(*a) == *b)
}
