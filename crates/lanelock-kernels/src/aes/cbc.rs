//! CBC (SP 800-38A, section 6.2).

mod encrypt;

pub use encrypt::{EncryptJob, encrypt_many};


#[cfg(test)]
mod tests;
