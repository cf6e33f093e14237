//! Any ELF file, `/proc/PID/maps`, `stat` and list of libraries.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    lanelock_fuzz::programs::run(data);
});
