//! Any scenario of bursts on any engine and tier, against the reference.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    lanelock_fuzz::kernels::run(data);
});
