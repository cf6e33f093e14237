//! CBC (SP 800-38A, section 6.2).

mod decrypt;
mod encrypt;

pub use decrypt::{DecryptJob, decrypt_each, decrypt_many, decrypt_records};
pub use encrypt::{EncryptJob, encrypt_each, encrypt_many};

#[cfg(test)]
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod tests;
