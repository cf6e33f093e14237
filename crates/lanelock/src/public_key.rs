//! Public-key operations: keys, sessions, operations, and the queue that fills lanes with them.
//!
//! A [`KeyTransform`] says what a session does and with which key; [`KeyDevice::key_session`]
//! prepares it. A [`KeyOp`] is one operation on borrowed memory, as [`crate::Op`] is for ciphers
//! and MACs:
//!
//! ```
//! use lanelock::public_key::{
//!     FlushPolicy, KeyDevice, KeyKind, KeyOp, KeyTransform, SecretKey, SignatureScheme,
//! };
//!
//! let device = lanelock::open()?;
//! let key = SecretKey::raw(KeyKind::Ed25519, &[7; 32])?;
//! let signing = device.key_session(&KeyTransform::sign(SignatureScheme::EdDsa, &key))?;
//! let public = device.public_key(&key)?;
//! let verifying = device.key_session(&KeyTransform::verify(SignatureScheme::EdDsa, &public))?;
//!
//! let mut queue = device.key_queue(8, FlushPolicy::default());
//! let mut signature = vec![0; signing.output_len(0)];
//! let outcome = queue.process(&mut [KeyOp::sign(&signing, b"a message", &mut signature)]);
//! assert_eq!(outcome.succeeded, 1);
//! let outcome = queue.process(&mut [KeyOp::verify(&verifying, b"a message", &signature)]);
//! assert_eq!(outcome.succeeded, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A [`KeyJob`] owns its memory ([`KeyBuffers`]) and waits in a [`KeyQueue`] for others of its
//! algorithm: until a batch is full, nothing more can join it, or the [`FlushPolicy`]'s deadline
//! has passed. A [`Ticket`] cancels it, and [`KeyQueueStats`] count it.
//!
//! ```
//! use std::time::Instant;
//!
//! use lanelock::Status;
//! use lanelock::public_key::{Curve, FlushPolicy, KeyBuffers, KeyDevice, KeyJob, KeyKind, KeyTransform};
//!
//! let device = lanelock::open()?;
//! let generating = device.key_session(&KeyTransform::generate(KeyKind::Ec(Curve::P256)))?;
//! let mut queue = device.key_queue(16, FlushPolicy::default());
//! let mut tickets = Vec::new();
//! for number in 0..3 {
//!     let buffers = KeyBuffers {
//!         output: Some(vec![0; 32]),
//!         second: Some(vec![0; 65]),
//!         ..KeyBuffers::default()
//!     };
//!     let job = KeyJob::of(&generating, buffers).user_data(number);
//!     tickets.push(queue.enqueue(job, Instant::now()).expect("a queue of 16"));
//! }
//! let cancelled = queue.cancel(tickets[2]).expect("it waits");
//! assert_eq!(cancelled.data(), 2);
//! queue.flush();
//! let mut done = Vec::new();
//! assert_eq!(queue.dequeue(&mut done, 16), 2);
//! assert!(done.iter().all(|job| job.status() == Status::Success));
//! let stats = queue.stats();
//! assert_eq!((stats.in_lanes + stats.single, stats.cancelled), (2, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Keys come from components, or from PEM and DER ([`KeyDevice::read_secret_key`]):
//!
//! ```
//! use lanelock::public_key::{Curve, KeyDevice, KeyKind, SecretKey};
//!
//! let device = lanelock::open()?;
//! let key = SecretKey::ec(Curve::P384, &[1; 48], None)?;
//! assert_eq!(key.kind(), KeyKind::Ec(Curve::P384));
//! let public = device.public_key(&key)?;
//! assert_eq!(public.kind(), key.kind());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A key or a description that cannot be used is a [`KeyError`]; an operation that fails has a
//! [`KeyOpError`] with its [`KeyReason`]:
//!
//! ```
//! use lanelock::public_key::{
//!     FlushPolicy, KeyDevice, KeyError, KeyKind, KeyOp, KeyParts, KeyReason, KeyTransform, PublicKey,
//!     SecretKey,
//! };
//!
//! let device = lanelock::open()?;
//! let wrong = PublicKey::raw(KeyKind::X25519, &[0; 31]);
//! assert!(matches!(wrong, Err(KeyError::Length { given: 31, .. })));
//!
//! let key = SecretKey::raw(KeyKind::X25519, &[7; 32])?;
//! let session = device.key_session(&KeyTransform::derive(&key))?;
//! let of_small_order = [0; 32];
//! let mut secret = [0; 32];
//! let parts = KeyParts {
//!     input: &of_small_order,
//!     output: &mut secret,
//!     ..KeyParts::default()
//! };
//! let mut burst = [KeyOp::of(&session, parts)];
//! let mut queue = device.key_queue(8, FlushPolicy::default());
//! assert_eq!(queue.process(&mut burst).failed, 1);
//! assert_eq!(burst[0].error().map(|error| error.reason()), Some(KeyReason::ZeroSharedSecret));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use lanelock_public_key::{
    Curve, DomainParameters, EncryptionScheme, FlushPolicy, Key, KeyBuffers, KeyDevice, KeyError,
    KeyJob, KeyKind, KeyOp, KeyOpError, KeyParts, KeyQueue, KeyQueueStats, KeyReason, KeySession,
    KeySpec, KeyTransform, MessageForm, MlDsa, MlKem, Oaep, Operation, Pss, PublicKey, PublicParts,
    RsaCrt, RsaNumbers, RsaPublic, RsaSecret, Scheme, SecretKey, SecretParts, SignatureForm,
    SignatureScheme, Ticket, Waiting,
};
