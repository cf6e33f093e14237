//! A set of engines in order of preference; the maker of sessions and queue pairs.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::engine::{Engine, Wiped};
use crate::group::GroupId;
use crate::job::OwnedBuffer;
use crate::queue_pair::QueuePair;
use crate::session::{Choice, Kinds, Session, SessionError};
use crate::transform::Transform;
use crate::validate::Rules;
use crate::wiped::wipe_stack;

/// Engines in order of preference. Cheap to clone; every clone is the same device.
///
/// A session runs on any queue pair of its device.
///
/// ```
/// # use lanelock_core as lanelock;
/// # let device = lanelock_testkit::device();
/// use lanelock::{Buffer, Hash, Op, Transform};
///
/// let session = device.session(Transform::hash(Hash::Sha256))?;
/// let mut queue_pair = device.queue_pair(32);
/// let mut digest = [0; 32];
/// let op = Op::new(&session, Buffer::read_only(b"a message")).tag(&mut digest);
/// assert_eq!(queue_pair.process(&mut [op]).succeeded, 1);
/// # Ok::<(), lanelock::SessionError>(())
/// ```
#[derive(Clone)]
pub struct Device(Arc<Inner>);

struct Inner {
    id: u32,
    engines: Vec<Box<dyn Engine>>,
    kinds: Kinds,
    extensions: Vec<Extension>,
}

/// Collects a device's engines; the first added is preferred.
///
/// ```
/// # use lanelock_core as lanelock;
/// use lanelock::Device;
/// use lanelock_testkit::ToyEngine;
///
/// let device = Device::builder().engine(ToyEngine::new("a")).engine(ToyEngine::new("b")).build();
/// let names: Vec<_> = device.engines().map(|engine| engine.name()).collect();
/// assert_eq!(names, ["a", "b"]);
/// ```
#[derive(Default)]
#[must_use]
pub struct DeviceBuilder {
    engines: Vec<Box<dyn Engine>>,
    extensions: Vec<Extension>,
}

/// What another crate keeps with a device.
type Extension = Box<dyn Any + Send + Sync>;

/// The id of the next device. Ids are never used again: operations of two devices with one id
/// would be taken for operations of one.
static NEXT_ID: AtomicU32 = AtomicU32::new(1);

/// The next id, unless all have been used.
fn next_id(next: &AtomicU32) -> Option<u32> {
    let taken = next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |id| id.checked_add(1));
    taken.ok()
}

impl DeviceBuilder {
    /// Adds an engine after those already added.
    pub fn engine(mut self, engine: impl Engine + 'static) -> Self {
        self.engines.push(Box::new(engine));
        self
    }

    /// Adds an engine whose type is known only at run time.
    pub fn boxed_engine(mut self, engine: Box<dyn Engine>) -> Self {
        self.engines.push(engine);
        self
    }

    /// Stores a value with the device, for the crate that defines its type:
    /// [`Device::extension`] returns it. A later value of the same type replaces an earlier one.
    pub fn extension(mut self, value: impl Any + Send + Sync) -> Self {
        self.extensions.push(Box::new(value));
        self
    }

    /// Builds the device.
    ///
    /// # Panics
    /// If there are more than 65,535 engines, or if the process has already made 2^32 - 2 devices:
    /// make a device once, and clone it.
    #[must_use]
    pub fn build(self) -> Device {
        assert!(
            u16::try_from(self.engines.len()).is_ok(),
            "a device has at most 65,535 engines"
        );
        let id = next_id(&NEXT_ID).expect(
            "this process has made 2^32 - 2 devices and has no id left: make one and clone it",
        );
        Device(Arc::new(Inner {
            id,
            engines: self.engines,
            kinds: Kinds::default(),
            extensions: self.extensions,
        }))
    }
}

impl Device {
    /// Starts a device without engines.
    pub fn builder() -> DeviceBuilder {
        DeviceBuilder::default()
    }

    /// The engines, in order of preference.
    pub fn engines(&self) -> impl Iterator<Item = &dyn Engine> {
        self.0.engines.iter().map(|engine| &**engine)
    }

    /// A number that no other device of this process has.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.0.id
    }

    /// The value of type `T` that [`DeviceBuilder::extension`] was given.
    #[must_use]
    pub fn extension<T: Any>(&self) -> Option<&T> {
        let mut extensions = self.0.extensions.iter().rev();
        extensions.find_map(|value| value.downcast_ref())
    }

    /// Prepares `transform` on the first engine that offers it. Zeroes the 32 KiB of stack below, where engines
    /// leave copies of keys: a thread with a small stack needs room for them.
    ///
    /// # Errors
    /// [`SessionError::Length`] and [`SessionError::WeakKey`] for a bad description,
    /// [`SessionError::Unsupported`] with every engine's reason if none offers it.
    pub fn session(&self, transform: Transform) -> Result<Session, SessionError> {
        transform.validate()?;
        let mut refused = Vec::new();
        for index in 0..self.0.engines.len() {
            let choice = Choice::FirstThatOffers {
                refused: refused.clone(),
            };
            match self.open(index, &transform, choice) {
                Err(error @ SessionError::Unsupported { .. }) => {
                    refused.push((self.0.engines[index].name(), error));
                }
                settled => return settled,
            }
        }
        let why = match refused.len() {
            0 => "the device has no engine".to_owned(),
            _ => refused
                .iter()
                .map(|(engine, error)| match error {
                    SessionError::Unsupported { why, .. } => format!("{engine}: {why}"),
                    other => format!("{engine}: {other}"),
                })
                .collect::<Vec<_>>()
                .join("; "),
        };
        Err(SessionError::Unsupported {
            what: transform.spec(),
            why,
        })
    }

    /// Prepares `transform` on the engine called `engine`.
    ///
    /// # Errors
    /// As [`Device::session`], and [`SessionError::NoSuchEngine`].
    pub fn session_on(&self, engine: &str, transform: Transform) -> Result<Session, SessionError> {
        transform.validate()?;
        let Some(index) = self.0.engines.iter().position(|e| e.name() == engine) else {
            let known = self.0.engines.iter().map(|e| e.name()).collect();
            return Err(SessionError::NoSuchEngine {
                name: engine.to_owned(),
                known,
            });
        };
        self.open(index, &transform, Choice::Named)
    }

    /// A queue pair for one thread at a time whose [`QueuePair::enqueue`] holds up to `depth`
    /// jobs (at least 1), with vectors as the jobs' buffers. Memory for that many jobs is allocated
    /// now.
    #[must_use]
    pub fn queue_pair(&self, depth: usize) -> QueuePair {
        self.queue_pair_of(depth)
    }

    /// A queue pair whose jobs own buffers of type `B`.
    #[must_use]
    pub fn queue_pair_of<B: OwnedBuffer>(&self, depth: usize) -> QueuePair<B> {
        let names: Vec<_> = self.0.engines.iter().map(|e| e.name()).collect();
        QueuePair::new(self.0.id, &names, depth)
    }

    fn open(
        &self,
        index: usize,
        transform: &Transform,
        choice: Choice,
    ) -> Result<Session, SessionError> {
        let engine = &self.0.engines[index];
        let opened = engine.open(transform);
        wipe_stack();
        let opened = Wiped::boxed(opened?);
        let index = u16::try_from(index).expect("checked when the device was built");
        let group = GroupId::new(self.0.id, index, opened.group());
        let rules = Rules::new(transform, group, opened.fed());
        let kind = self.0.kinds.of(&rules, &**opened);
        Ok(Session::new(
            transform,
            opened,
            engine.name(),
            (rules, kind),
            choice,
        ))
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.engines().map(Engine::name).collect();
        f.debug_struct("Device")
            .field("id", &self.0.id)
            .field("engines", &names)
            .finish()
    }
}

impl fmt::Debug for DeviceBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.engines.iter().map(|engine| engine.name()).collect();
        f.debug_struct("DeviceBuilder")
            .field("engines", &names)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Batch, Capability, EngineSession, QueueToken};
    use crate::session::SessionMemory;
    use crate::shared::KEPT;
    use crate::{Hash, Transform};

    #[test]
    fn ids_end_before_one_is_used_again() {
        let next = AtomicU32::new(u32::MAX - 2);
        assert_eq!(next_id(&next), Some(u32::MAX - 2));
        assert_eq!(next_id(&next), Some(u32::MAX - 1));
        for _ in 0..3 {
            assert_eq!(next_id(&next), None);
        }
    }

    #[test]
    fn the_last_extension_of_a_type_is_found() {
        let device = Device::builder()
            .extension(1_u8)
            .extension("a name")
            .extension(2_u8)
            .build();
        assert_eq!(device.extension(), Some(&2_u8));
        assert_eq!(device.extension(), Some(&"a name"));
        assert_eq!(device.extension::<u16>(), None);
    }

    /// An engine whose sessions are each of a group of their own.
    #[derive(Default)]
    struct EverNew(AtomicU32);

    struct Group(u16);

    impl Engine for EverNew {
        fn name(&self) -> &'static str {
            "ever new"
        }

        fn version(&self) -> String {
            String::new()
        }

        fn capabilities(&self) -> &[Capability] {
            &[]
        }

        fn open(&self, _: &Transform) -> Result<Box<dyn EngineSession>, SessionError> {
            let [.., high, low] = self.0.fetch_add(1, Ordering::Relaxed).to_be_bytes();
            Ok(Box::new(Group(u16::from_be_bytes([high, low]))))
        }
    }

    impl EngineSession for Group {
        fn group(&self) -> u16 {
            self.0
        }

        fn process(&self, _: &mut QueueToken, _: &mut Batch<'_, '_>) {}

        fn memory(&self) -> SessionMemory {
            SessionMemory::default()
        }
    }

    #[test]
    fn ever_new_sessions_leave_nothing_on_their_device() {
        let device = Device::builder().engine(EverNew::default()).build();
        for number in 0..100_000 {
            let tag_len = 1 + number / usize::from(u16::MAX);
            let transform = Transform::hash(Hash::Shake128).tag_len(tag_len);
            device.session(transform).expect("offered");
            assert!(device.0.kinds.len() <= KEPT, "{number}");
        }
    }
}
