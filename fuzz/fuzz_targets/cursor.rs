//! Any walk over any segments against flat copies.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    lanelock_testkit::check_cursor(data);
});
