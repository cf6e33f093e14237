//! AES: modes whose messages come in parts, counters that carry, and lengths around the edges.

mod cbc;
mod ccm;
mod cfb;
mod ctr;
mod gcm;
mod gcm_siv;
mod interleave;
mod mac;
mod ofb;
mod siv;
mod sweep;
mod xts;
