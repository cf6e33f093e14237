//! Any message whole and in segments: the same bytes, tag and status.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    lanelock_testkit::check_segments(data);
});
