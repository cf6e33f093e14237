//! Any file of vectors, in text or Wycheproof's JSON.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    lanelock_fuzz::vectors::run(data);
});
