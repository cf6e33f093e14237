//! Any container of a key: read, written out, read once more, and the same on every engine.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    lanelock_fuzz::keys::run(data);
});
