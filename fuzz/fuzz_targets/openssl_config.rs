//! Any configuration with what `lanelock run` adds to it, as libcrypto reads both.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    lanelock_fuzz::openssl_config::run(data);
});
