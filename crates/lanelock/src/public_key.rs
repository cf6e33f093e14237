//! Public-key operations: keys, sessions, operations, and the queue that fills lanes with them.

pub use lanelock_core::public_key::{
    Curve, DomainParameters, EncryptionScheme, FlushPolicy, Key, KeyBuffers, KeyError, KeyJob,
    KeyKind, KeyOp, KeyOpError, KeyParts, KeyQueue, KeyQueueStats, KeyReason, KeySession, KeySpec,
    KeyTransform, MessageForm, MlDsa, MlKem, Oaep, Operation, Pss, PublicKey, PublicParts, RsaCrt,
    RsaNumbers, RsaPublic, RsaSecret, Scheme, SecretKey, SecretParts, SignatureForm,
    SignatureScheme, Ticket, Waiting,
};
